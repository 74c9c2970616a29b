package conformance

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"time"
)

// The elements of JUnit's reports, as the schemas of Jenkins and Ant have them, in the order of the latter, which is the stricter one.
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

// WriteJUnit writes the report as JUnit's XML, which build servers read: a suite for each group of rules, in it a test for each case. What
// was skipped has its reason. A failure has the level of the rule as its type. What could not be cleaned up is an error, that of the whole run
// in a suite of its own, "clean-up". The errors are those of w.
func (r Report) WriteJUnit(w io.Writer) error {
	var out junitReport
	for _, s := range r.sections() {
		out.Suites = append(out.Suites, r.junitSuite(len(out.Suites), s))
	}
	if err := leftovers("the run", r.Leftovers); err != nil {
		suite := r.junitSuite(len(out.Suites), section{group: group{name: "clean-up"}})
		suite.Name, suite.Tests, suite.Errors = "clean-up", 1, 1
		suite.Cases = []junitCase{{Name: "the run", Class: "conformance.clean-up", Time: seconds(0), Error: &junitProblem{"leftovers", "leftovers", err.Error()}}}
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
		Timestamp:  r.Started.UTC().Format("2006-01-02T15:04:05"), // the schema has no zone
		Properties: []junitProperty{{"server", r.Server}, {"run", r.RunID}},
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

// junit gives the test of a result. It has one problem at most, as the schema of Ant wants it: what a failed or a skipped case left behind
// stands with the failure, or takes the place of the reason.
func (r Result) junit() junitCase {
	c := junitCase{Name: r.Case.ID + " " + r.Case.Title, Class: "conformance." + r.Case.Group(), Time: seconds(r.Duration)}
	left := leftovers(r.Case.ID, r.Leftovers)
	switch {
	case r.Outcome == Failed:
		c.Failure = &junitProblem{r.Case.Title, r.Case.Level.String(), r.err().Error()}
	case left != nil && r.Outcome == Skipped:
		c.Error = &junitProblem{"leftovers", "leftovers", errors.Join(left, errors.New("skipped: "+r.Reason)).Error()}
	case left != nil:
		c.Error = &junitProblem{"leftovers", "leftovers", left.Error()}
	case r.Outcome == Skipped:
		c.Skipped = &junitSkip{r.Reason}
	}
	return c
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.3f", d.Seconds()) }
