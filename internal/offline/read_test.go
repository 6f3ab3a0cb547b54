package offline_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/knee-bench/knee/internal/offline"
	"github.com/knee-bench/knee/internal/record"
)

func TestRead_malformed_fails(t *testing.T) {
	const header = "variant,clients,docs_per_second,status,iowait_percent,error_rate,rejections\n"
	for name, tt := range map[string]struct {
		csv    string
		line   int
		column string
		want   string
	}{
		"nothing":                     {"", 1, "variant", "empty"},
		"blank lines alone":           {"\n\r\n", 1, "variant", "empty"},
		"a header alone":              {"variant,clients\n", 1, "", "the file has a header and no rows"},
		"a header and blank lines":    {"\nvariant,clients\n\n , \n", 2, "", "the file has a header and no rows"},
		"lines that end in CR":        {"variant,clients,docs_per_second\ra,8,100\ra,16,100\r", 1, "", "end each line with LF or CRLF, not with CR alone"},
		"one column and CR":           {"variant\ra\r", 1, "variant", "end each line with LF or CRLF, not with CR alone"},
		"no variant":                  {"clients,docs_per_second\n8,100\n", 1, "variant", `it has "clients", "docs_per_second"`},
		"semicolons":                  {"variant;clients\na;8\n", 1, "variant", "semicolons"},
		"a column twice":              {"variant,clients,variant\na,8,b\n", 1, "variant", "2 times (columns 1 and 3)"},
		"too few fields":              {header + "a,8,100\n", 2, "status", "the line has 3 fields, the header 7"},
		"too many fields":             {header + "a,8,100,ok,,,,\n", 2, "8", "the line has 8 fields, the header 7"},
		"no variant on a line":        {header + ",8,100,,,,\n", 2, "variant", "empty"},
		"no clients on a line":        {header + "a,8,100,,,,\na,,100,,,,\n", 3, "clients", "empty"},
		"zero clients":                {header + "a,0,100,,,,\n", 2, "clients", "the count must be at least 1"},
		"half a client":               {header + "a,8.5,100,,,,\n", 2, "clients", `"8.5" is not a whole number`},
		"clients that are no number":  {header + "a,eight,100,,,,\n", 2, "clients", `"eight" is not a number`},
		"too many clients":            {header + "a,3000000000,100,,,,\n", 2, "clients", "above"},
		"NaN":                         {header + "a,8,NaN,,,,\n", 2, "docs_per_second", "leave the field empty"},
		"infinite":                    {header + "a,8,+Inf,,,,\n", 2, "docs_per_second", "leave the field empty"},
		"too large for a number":      {header + "a,8,1e999,,,,\n", 2, "docs_per_second", "too large"},
		"more than any load":          {header + "a,8,1e200,,,,\n", 2, "docs_per_second", "must be at most 1e15"},
		"less than any load":          {header + "a,8,1e-200,,,,\n", 2, "docs_per_second", "must be at least 0.001, or 0 if there is no measurement"},
		"negative":                    {header + "a,8,-1,,,,\n", 2, "docs_per_second", "negative"},
		"hexadecimal":                 {header + "a,8,0x10p2,,,,\n", 2, "docs_per_second", "is not a number"},
		"thousands separators":        {header + `a,8,"336,527",,,,` + "\n", 2, "docs_per_second", "thousands separators"},
		"thousands of another place":  {header + `a,8,"336.527,5",,,,` + "\n", 2, "docs_per_second", "thousands separators"},
		"thousands by apostrophes":    {header + "a,8,1'336'527,,,,\n", 2, "docs_per_second", "thousands separators"},
		"decimal comma":               {header + `a,8,100,,"6,5",,` + "\n", 2, "iowait_percent", "decimal comma"},
		"percent sign":                {header + "a,8,100,,6%,,\n", 2, "iowait_percent", "percent sign"},
		"more than all cores":         {header + "a,8,100,,101,,\n", 2, "iowait_percent", "percent of all cores"},
		"error rate in percent":       {header + "a,8,100,,,2,\n", 2, "error_rate", "a share of the requests, from 0 to 1, not percent"},
		"negative rejections":         {header + "a,8,100,,,,-1\n", 2, "rejections", "negative"},
		"more rejections than int64":  {header + "a,8,100,,,,9223372036854775808\n", 2, "rejections", "is above the maximum, 9223372036854775807"},
		"a negative repetition":       {"variant,clients,repetition\na,8,-1\n", 2, "repetition", "negative"},
		"a placement that hides":      {"variant,clients,placement\na,8,n\x1b[2J\n", 2, "placement", "cannot be printed"},
		"a quote on an earlier line":  {header + "a,8,100,,,,\na,\"16,100,,,,\na,32,100,,,,\n", 3, "", "a quote in the row that begins here is not balanced"},
		"unknown status":              {header + "a,8,100,fine,,,\n", 2, "status", `"fine" is not a valid status`},
		"unknown phase":               {"variant,clients,phase\na,8,Sweeep\n", 2, "phase", "is not a valid phase"},
		"a quote within a field":      {header + "a\"b,8,100,,,,\n", 2, "2", "not a valid CSV"},
		"a quote that does not end":   {header + "a,8,\"100,,,,\n", 2, "14", "not a valid CSV"},
		"a variant that hides":        {header + "a\x1b[2J,8,100,,,,\n", 2, "variant", "cannot be printed"},
		"a variant that is not UTF-8": {header + "a\xff,8,100,,,,\n", 2, "variant", "not UTF-8"},
		"a line after a long field":   {"variant,clients,note\na,8,\"x\ny\nz\"\na,q,\n", 5, "clients", "not a number"},
		"a sweep without clients":     {"variant,phase,docs_per_second\na,Final,100\na,Sweep,100\n", 3, "clients", "missing"},
	} {
		rows, _, err := offline.Read("", strings.NewReader(tt.csv))
		var m *offline.Malformed
		if !errors.As(err, &m) {
			t.Errorf("%s: rows %v, error %v; want a malformed line", name, rows, err)
			continue
		}
		if m.Line != tt.line || m.Column != tt.column || !strings.Contains(m.Message, tt.want) {
			t.Errorf("%s: %v; want line %d, column %s and %q", name, m, tt.line, tt.column, tt.want)
		}
	}
	_, _, err := offline.Read("mine.csv", strings.NewReader("variant,clients\na,b\n"))
	if want := `mine.csv: line 2, column clients: "b" is not a number`; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// TestRead_formsOfOneTable_sameRows checks that Read accepts the different forms in which spreadsheets and scripts write the same
// table.
func TestRead_formsOfOneTable_sameRows(t *testing.T) {
	want, _, err := offline.Read("", strings.NewReader("variant,topology,clients,docs_per_second,iowait_percent\na,t,8,100,6\nb,t,16,200.5,\n"))
	if err != nil || len(want) != 2 || *want[1].DocsPerSecond != 200.5 || want[1].IOWait != nil || want[0].Phase != record.Sweep {
		t.Fatalf("rows %+v, error %v", want, err)
	}
	for name, csv := range map[string]string{
		"byte order mark":         "\ufeffvariant,topology,clients,docs_per_second,iowait_percent\na,t,8,100,6\nb,t,16,200.5,\n",
		"CRLF":                    "variant,topology,clients,docs_per_second,iowait_percent\r\na,t,8,100,6\r\nb,t,16,200.5,\r\n",
		"quotes":                  "\"variant\",\"topology\",\"clients\",docs_per_second,iowait_percent\n\"a\",\"t\",\"8\",\"100\",6\nb,t,16,200.5,\"\"\n",
		"another order":           "iowait_percent,docs_per_second,clients,topology,variant\n6,100,8,t,a\n,200.5,16,t,b\n",
		"columns of its own":      "variant,note,topology,clients,docs_per_second,iowait_percent,note,\na,\"x, y\",t,8,100,6,,\nb,,t,16,200.5,,-1,NaN\n",
		"blanks around":           " variant , topology,clients ,docs_per_second,iowait_percent\n a , t, 8 ,100 ,6\n b ,t,16,200.5, \n",
		"capitals":                "Variant,Topology,Clients,Docs_Per_Second,IOWait_Percent\na,t,8,100,6\nb,t,16,200.5,\n",
		"other forms of a number": "variant,topology,clients,docs_per_second,iowait_percent\na,t,8.0,1e2,6.\nb,t,+16,2005e-1,\n",
		"names of Knee's own":     "variant,topology,clients,docs_per_second,cpu_iowait_percent\na,t,8,100,6\nb,t,16,200.5,\n",
		"no newline at the end":   "variant,topology,clients,docs_per_second,iowait_percent\na,t,8,100,6\nb,t,16,200.5,",
	} {
		got, _, err := offline.Read("", strings.NewReader(csv))
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s:\n got %+v, error %v\nwant %+v", name, got, err, want)
		}
	}
	blank, _, err := offline.Read("", strings.NewReader("\n \nvariant,clients\n\na,8\n,\n \nb,8\n\n"))
	if err != nil || len(blank) != 2 || blank[0].Line != 5 || blank[1].Line != 8 {
		t.Errorf("blank lines: %+v, error %v; want rows on lines 5 and 8", blank, err)
	}
}

// TestRead_aliasBesideName_isIgnored checks a file that has both a column with the documented name and a column with its alias.
// The documented name is used, and the alias is ignored.
func TestRead_aliasBesideName_isIgnored(t *testing.T) {
	rows, _, err := offline.Read("", strings.NewReader("variant,clients,cpu_iowait_percent,iowait_percent\na,8,nonsense,5\n"))
	if err != nil || *rows[0].IOWait != 5 {
		t.Errorf("rows %+v, error %v", rows, err)
	}
}

// TestRead_repetitionsAndPlacements checks that repetitions may start at 0 and that placements may be words.
func TestRead_repetitionsAndPlacements(t *testing.T) {
	rows, _, err := offline.Read("", strings.NewReader("variant,clients,repetition,placement\na,8,0,0\na,8,1,node-a\na,8,2.0,01.0\na,8,,\n"))
	if err != nil {
		t.Fatal(err)
	}
	type place struct {
		repetition int32
		placement  string
	}
	var got []place
	for _, r := range rows {
		got = append(got, place{r.Repetition, r.Placement})
	}
	if want := []place{{0, "0"}, {1, "node-a"}, {2, "1"}, {0, "1"}}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		"variant,clients,docs_per_second\na,8,100\n", "variant\na\n", "", "\ufeffvariant,clients\r\n\"a\",8\r\n",
		"variant,clients,docs_per_second,phase,status,repetition,attempt,placement\na,8,1e3,Final,gated,1,2,1\nb,9,,Warmup,,,,\n",
		"variant,clients,docs_per_second\na,8,\"1,000\"\n", "variant,clients\n\"a\nb\",1\n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, csv string) {
		rows, has, err := offline.Read("f", strings.NewReader(csv))
		if err != nil {
			var m *offline.Malformed
			if !errors.As(err, &m) || m.Line < 1 || m.Line > strings.Count(csv, "\n")+1 || m.Message == "" ||
				m.Column == "" && !strings.Contains(m.Message, "no rows") && !strings.Contains(m.Message, "is not balanced") {
				t.Fatalf("%q: %v names no line, no column or nothing wrong", csv, err)
			}
			if rows != nil {
				t.Fatalf("%q: rows beside %v", csv, err)
			}
			return
		}
		for _, r := range rows {
			if r.Variant == "" || r.Phase == record.Sweep && r.Clients < 1 || r.DocsPerSecond != nil && !(*r.DocsPerSecond >= 0) {
				t.Fatalf("%q: row %+v", csv, r)
			}
		}
		o := offline.Defaults()
		if len(rows) > 0 {
			o.Baseline = rows[0].Variant
		}
		result, err := offline.Analyze(rows[:min(len(rows), 50)], has, o)
		if err != nil {
			return
		}
		marshal(t, result) // fails if a figure is NaN or infinite
	})
}
