package conformance

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"time"

	"example.com/fakeapi/internal/printable"
)

// The elements of JUnit reports according to the schemas of Jenkins and Ant, in the order of the
// Ant schema, which is stricter.
type (
	junitReport struct {
		XMLName xml.Name     `xml:"testsuites"`
		Suites  []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Package    string          `xml:"package,attr"`
		ID         int             `xml:"id,attr"`
		Name       string          `xml:"name,attr"`
		Timestamp  string          `xml:"timestamp,attr"`
		Hostname   string          `xml:"hostname,attr"`
		Tests      int             `xml:"tests,attr"`
		Failures   int             `xml:"failures,attr"`
		Errors     int             `xml:"errors,attr"`
		Skipped    int             `xml:"skipped,attr"`
		Time       string          `xml:"time,attr"`
		Properties []junitProperty `xml:"properties>property"`
		Cases      []junitCase     `xml:"testcase"`
		Out        string          `xml:"system-out"`
		Err        string          `xml:"system-err"`
	}
	junitProperty struct {
		Name  string `xml:"name,attr"`
		Value string `xml:"value,attr"`
	}
	junitCase struct {
		Name    string        `xml:"name,attr"`
		Class   string        `xml:"classname,attr"`
		Time    string        `xml:"time,attr"`
		Skipped *junitSkip    `xml:"skipped"`
		Error   *junitProblem `xml:"error"`
		Failure *junitProblem `xml:"failure"`
	}
	junitSkip struct {
		Message string `xml:"message,attr"`
	}
	junitProblem struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr"`
		Text    string `xml:",chardata"`
	}
)

// WriteJUnit writes the report as JUnit XML, which build servers read. It has a suite for each
// group of rules, and a test for each case. A skipped test has its reason. The type of a failure is
// the level of the rule. Objects that could not be cleaned up are errors; those of the run are in
// the suite "clean-up". It returns errors of w.
func (r Report) WriteJUnit(w io.Writer) error {
	var out junitReport
	for _, s := range r.sections() {
		out.Suites = append(out.Suites, r.junitSuite(len(out.Suites), s))
	}
	if err := leftovers("the run", r.Leftovers); err != nil {
		suite := r.junitSuite(len(out.Suites), section{group: group{name: "clean-up"}})
		suite.Name, suite.Tests, suite.Errors = "clean-up", 1, 1
		suite.Cases = []junitCase{{Name: "the run", Class: "conformance.clean-up", Time: seconds(0), Error: &junitProblem{"leftovers", "leftovers", printable.Text(err.Error())}}}
		out.Suites = append(out.Suites, suite)
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	encoder := xml.NewEncoder(w)
	encoder.Indent("", "  ")
	if err := encoder.Encode(out); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func (r Report) junitSuite(id int, of section) junitSuite {
	suite := junitSuite{
		Package: "conformance", ID: id, Name: of.name + " " + of.title, Hostname: "localhost",
		Timestamp:  r.Started.UTC().Format("2006-01-02T15:04:05"), // the schema has no time zone
		Properties: []junitProperty{{"server", printable.Line(r.Server)}, {"run", r.RunID}},
		Tests:      len(of.results), Failures: of.count(Failed), Skipped: of.count(Skipped),
	}
	var took time.Duration
	for _, one := range of.results {
		took += one.Duration
		c := one.junit()
		if c.Error != nil {
			suite.Errors++
		}
		suite.Cases = append(suite.Cases, c)
	}
	suite.Time = seconds(took)
	return suite
}

// junit returns the test of a result. The Ant schema allows one problem for a test: the leftovers
// of a failed case are part of its failure, and those of a skipped case replace the reason.
func (r Result) junit() junitCase {
	c := junitCase{Name: r.Case.ID + " " + r.Case.Title, Class: "conformance." + r.Case.Group(), Time: seconds(r.Duration)}
	left := leftovers(r.Case.ID, r.Leftovers)
	switch {
	case r.Outcome == Failed:
		c.Failure = &junitProblem{r.Case.Title, r.Case.Level.String(), printable.Text(r.err().Error())}
	case left != nil && r.Outcome == Skipped:
		c.Error = &junitProblem{"leftovers", "leftovers", printable.Text(errors.Join(left, errors.New("skipped: "+r.Reason)).Error())}
	case left != nil:
		c.Error = &junitProblem{"leftovers", "leftovers", printable.Text(left.Error())}
	case r.Outcome == Skipped:
		c.Skipped = &junitSkip{printable.Text(r.Reason)}
	}
	return c
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.3f", d.Seconds()) }
