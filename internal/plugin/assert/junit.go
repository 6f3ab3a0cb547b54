package assert

import (
	"encoding/xml"
	"time"
)

// The elements of JUnit XML that a report has. They follow the schema of Jenkins' xUnit plugin (junit-10.xsd), which is what most tools
// read.
type (
	junitSuites struct {
		XMLName  xml.Name   `xml:"testsuites"`
		Name     string     `xml:"name,attr"`
		Tests    int        `xml:"tests,attr"`
		Failures int        `xml:"failures,attr"`
		Errors   int        `xml:"errors,attr"`
		Suite    junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name       string          `xml:"name,attr"`
		Tests      int             `xml:"tests,attr"`
		Failures   int             `xml:"failures,attr"`
		Errors     int             `xml:"errors,attr"`
		Skipped    int             `xml:"skipped,attr"`
		Timestamp  string          `xml:"timestamp,attr,omitempty"`
		Time       float64         `xml:"time,attr"` // in seconds
		Properties []junitProperty `xml:"properties>property"`
		Cases      []junitCase     `xml:"testcase"`
		Output     string          `xml:"system-out,omitempty"`
	}
	junitProperty struct {
		Name  string `xml:"name,attr"`
		Value string `xml:"value,attr"`
	}
	junitCase struct {
		Class   string       `xml:"classname,attr"`
		Name    string       `xml:"name,attr"`
		Time    float64      `xml:"time,attr"`
		Skipped *junitReason `xml:"skipped"`
		Error   *junitReason `xml:"error"`
		Failure *junitReason `xml:"failure"`
		Output  string       `xml:"system-out,omitempty"`
	}
	junitReason struct {
		Type    string `xml:"type,attr"`
		Message string `xml:"message,attr"`
	}
)

// JUnit returns a report as JUnit XML with a testcase for each comparison. A Regression is a failure. NotMeasured and Inconclusive are
// errors. An Inconclusive comparison is skipped if inconclusive comparisons are allowed.
func JUnit(r Report, allowInconclusive bool) ([]byte, error) {
	suite := junitSuite{
		Name: r.Namespace + "/" + r.Campaign, Tests: len(r.Comparisons),
		Properties: []junitProperty{{"maxRegressionPercent", format(r.MaxRegressionPercent)}, {"lowestRatio", format(r.LowestRatio)}},
	}
	if r.startedAt != nil && r.completedAt != nil {
		suite.Timestamp = r.startedAt.UTC().Format("2006-01-02T15:04:05") // the schema allows no time zone
		suite.Time = r.completedAt.Sub(r.startedAt.Time).Truncate(time.Second).Seconds()
	}
	if r.Doubt != nil {
		suite.Output = "Conclusive is not True: " + r.Doubt.Reason + ": " + r.Doubt.Message
	}
	for _, c := range r.Comparisons {
		made := junitCase{Class: r.Namespace + "." + r.Campaign, Name: c.name()}
		f := figures(c)
		made.Output = "ratio " + f[1] + ", interval " + f[2] + ", confidence " + f[3]
		why := &junitReason{Type: string(c.Result), Message: c.Why}
		switch {
		case c.Result == Regression:
			made.Failure = why
			suite.Failures++
		case c.Result == Inconclusive && allowInconclusive:
			made.Skipped = why
			suite.Skipped++
		case c.Result != Passed:
			made.Error = why
			suite.Errors++
		}
		suite.Cases = append(suite.Cases, made)
	}
	text, err := xml.MarshalIndent(junitSuites{
		Name: "kubectl knee assert", Tests: suite.Tests, Failures: suite.Failures, Errors: suite.Errors, Suite: suite,
	}, "", "  ")
	return append([]byte(xml.Header), append(text, '\n')...), err
}
