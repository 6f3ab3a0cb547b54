package claims

import "fmt"

var (
	instanceTopologies = []string{"6n12p", "6n48p", "12n96p"}
	instanceNames      = []string{"or1", "im4gn", "r6g"}
)

func checkInstanceTypes(c *checker) {
	perJob := c.count("bulks") * c.count("bulk.documents")
	documents := map[string]float64{"75": perJob * c.count("jobs.high"), "40": perJob * c.count("jobs.low")}
	c.agrees("documents.high", exactly(documents["75"]), "jobs x bulks x documents of a bulk")
	c.agrees("documents.low", exactly(documents["40"]), "jobs x bulks x documents of a bulk")
	c.agrees("bulk.size", c.of("document").by(c.count("bulk.documents")/1024), "documents of a bulk x their mean size; exactly 1.6 KiB make 6.25")
	c.agrees("im4gn.share", exactly(c.count("im4gn.ram")/c.count("or1.ram")), "RAM of im4gn over or1")
	c.agrees("im4gn.share", exactly(c.count("im4gn.ram")/c.count("r6g.ram")), "RAM of im4gn over r6g")
	c.agrees("rollover.policy", exactly(c.count("rollover.text")), "the text's limit; OpenSearch's gb are GiB")
	for _, topology := range instanceTopologies {
		for _, jobs := range []string{"75", "40"} {
			for _, name := range instanceNames {
				checkInstanceRow(c, topology+"."+jobs+"."+name, documents[jobs])
			}
		}
	}
	checkInstanceText(c)
	checkInstanceHeadline(c)
}

func checkInstanceRow(c *checker, row string, documents float64) {
	minutes, kdocs := c.of(row+".minutes"), c.of(row+".kdocs_per_second")
	c.agrees(row+".kdocs_per_second", exactly(documents/60e3).over(minutes), "documents over minutes")
	c.agrees(row+".mib_per_second", kdocs.by(1000.0/1024).times(c.of("document")), "kdoc/s x mean size of a document")
	c.agrees(row+".minutes", exactly(documents/60e3).over(kdocs), "documents over kdoc/s")
	c.rising(row+".cpu_low_percent", row+".cpu_high_percent")
}

func checkInstanceText(c *checker) {
	highestCPU := func(row string) float64 { return c.count(row + ".cpu_high_percent") }
	kdocs := func(row string) float64 { return c.count(row + ".kdocs_per_second") }
	c.holds("target.cpu", highestCPU("6n12p.75.or1") < c.count("target.cpu"), "up to "+c.text("6n12p.75.or1.cpu_high_percent"), Contradicts,
		"the table's range for or1 with 75 jobs ends at 80, which is not below 80")
	for _, name := range []string{"or1", "r6g"} {
		high := "12n96p.75." + name + ".cpu_high_percent"
		c.holds("c3.cpu", c.count(high) < c.count("c3.cpu"), name+" up to "+c.text(high), Agrees, "75 jobs")
	}
	c.agrees("c3.im4gn.cpu", exactly(highestCPU("12n96p.75.im4gn")), "upper end of the range")
	for _, name := range []string{"im4gn", "r6g"} {
		row := "6n12p.75." + name
		c.holds(row+".rejections", c.text(row+".rejections") == "yes" && highestCPU(row) > highestCPU("6n12p.75.or1"), "up to "+c.text(row+".cpu_high_percent")+" %", Agrees,
			"rejections are said of the types with the highest CPU")
		c.holds("6n48p.75."+name+".kdocs_per_second", kdocs("6n48p.75."+name) <= kdocs("6n12p.75."+name), "at most "+c.text("6n12p.75."+name+".kdocs_per_second"), Agrees,
			"no better with 48 primaries than with 12")
	}
	for _, name := range instanceNames {
		high := "6n12p.75." + name + ".kdocs_per_second"
		c.holds("6n12p.40."+name+".kdocs_per_second", kdocs("6n12p.40."+name) < c.count(high), "below "+c.text(high), Agrees, "said to be lower with 40 jobs than with 75")
	}
	c.agrees("12n96p.40.im4gn.kdocs_per_second", exactly(kdocs("12n96p.40.or1")), "said to be equal to or1 with 40 jobs")
	same := "6n12p.75.or1.mib_per_second"
	c.contradicts(same, exactly(c.count("12n96p.75.r6g.mib_per_second")), "24 min and 156 kdoc/s, as r6g of configuration 3 with 75 jobs, but 1 MiB/s less: "+
		"one of the two is cut off instead of rounded")
	for _, jobs := range []string{"75", "40"} {
		few, more := "6n12p."+jobs+".or1", "6n48p."+jobs+".or1"
		ratio := kdocs(more) / kdocs(few)
		c.holds("more_shards.ratio", ratio < c.count("more_shards.ratio"), fmt.Sprintf("%.2f", ratio), Contradicts,
			"more primaries are said to lower the throughput of or1: with "+jobs+" jobs on 6 nodes it rises from 12 primaries to 48")
	}
	c.contradicts("replicas.tried", exactly(c.count("replicas")), "the number of replicas is said to have been varied, and more replicas to cost or1 hardly any CPU: "+
		"the protocol and every table have 1 replica")
}

func checkInstanceHeadline(c *checker) {
	rows := map[string]string{"or1": "6n48p.75.or1", "im4gn": "12n96p.75.im4gn", "r6g": "12n96p.75.r6g"}
	for _, name := range instanceNames {
		c.agrees("headline."+name, exactly(1000*c.count(rows[name]+".kdocs_per_second")), "the table's kdoc/s")
	}
	or1, im4gn, r6g := c.count("headline.or1"), c.count("headline.im4gn"), c.count("headline.r6g")
	c.holds("headline.im4gn", or1/im4gn > 0.95, fmt.Sprintf("or1 / im4gn is %.3f", or1/im4gn), Agrees, "the study says that or1 and im4gn are almost equal: here within 5 %")
	c.holds("headline.r6g", or1 > r6g, fmt.Sprintf("or1 / r6g is %.3f", or1/r6g), Agrees, "the study says that or1 is better than r6g on twice as many nodes")

	or1Row, r6gRow := "12n96p.75.or1", "12n96p.75.r6g"
	c.agrees("c3.faster", exactly(100*(c.count(or1Row+".kdocs_per_second")/c.count(r6gRow+".kdocs_per_second")-1)), "kdoc/s of or1 over r6g")
	c.agrees("c3.faster", exactly(100*(c.count(r6gRow+".minutes")/c.count(or1Row+".minutes")-1)), "minutes of r6g over or1")
	less := func(end string) float64 {
		return 100 * (1 - c.count(or1Row+".cpu_"+end+"_percent")/c.count(r6gRow+".cpu_"+end+"_percent"))
	}
	c.agrees("c3.less_cpu", span{less("high"), less("low")}, "between the upper ends and the lower ends of the two ranges")
	middle := func(row string) float64 {
		return (c.count(row+".cpu_low_percent") + c.count(row+".cpu_high_percent")) / 2
	}
	c.contradicts("c3.less_cpu", exactly(100*(1-middle(or1Row)/middle(r6gRow))), "middles of the two ranges, 50 % against 69 %")
}
