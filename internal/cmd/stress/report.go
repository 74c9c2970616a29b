package stress

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"example.com/fakeapi/internal/printable"
)

// Report is the result of all runs of a command. The first is the one without faults.
type Report struct {
	Command []string `json:"command"`
	Seed    uint64   `json:"seed"`
	Runs    []Run    `json:"runs"`
}

// Run is the result of a command with a set of faults.
type Run struct {
	Set      string        `json:"set"`
	Rules    string        `json:"rules,omitempty"`
	Duration time.Duration `json:"duration"`
	Packages []Package     `json:"packages"`
	// Environment are the variables that repeat the run.
	Environment []string `json:"environment"`
	// Pages are the timeline pages of the servers of the run.
	Pages []string `json:"pages,omitempty"`
}

// of returns the result of a package, or one that has failed if the run has none.
func (r Run) of(name string) Package {
	for _, p := range r.Packages {
		if p.Name == name {
			return p
		}
	}
	return Package{Name: name, Status: Failed}
}

// baseline returns the run without faults.
func (r Report) baseline() Run {
	i := slices.IndexFunc(r.Runs, func(run Run) bool { return run.Set == None })
	if i < 0 {
		return Run{}
	}
	return r.Runs[i]
}

// isGood reports whether a package has not failed.
func (p Package) isGood() bool { return p.Status == OK || p.Status == NoTests }

// FailsWithoutFaults returns the packages that fail without faults.
func (r Report) FailsWithoutFaults() (names []string) {
	for _, p := range r.baseline().Packages {
		if !p.isGood() {
			names = append(names, p.Name)
		}
	}
	return names
}

// CanContinue reports whether a package passes without faults and has tests, so that runs with
// faults can find something.
func (r Report) CanContinue() bool {
	return slices.ContainsFunc(r.baseline().Packages, func(p Package) bool { return p.Status == OK })
}

// Failure is a package that fails with faults, and passes without.
type Failure struct {
	Run     Run
	Package Package
}

// Failures returns the packages that fail with faults, and pass without.
func (r Report) Failures() (all []Failure) {
	for _, run := range r.Runs {
		for _, p := range r.baseline().Packages {
			if result := run.of(p.Name); p.isGood() && !result.isGood() {
				all = append(all, Failure{run, result})
			}
		}
	}
	return all
}

// WriteText writes a table with a row for each package and a column for each set, and then each
// failure with the command that repeats it.
func (r Report) WriteText(w io.Writer) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprint(table, "PACKAGE") // an error is returned by Flush
	for _, run := range r.Runs {
		_, _ = fmt.Fprintf(table, "\t%s", strings.ToUpper(run.Set))
	}
	_, _ = fmt.Fprintln(table)
	for _, p := range r.baseline().Packages {
		_, _ = fmt.Fprint(table, p.Name)
		for _, run := range r.Runs {
			_, _ = fmt.Fprintf(table, "\t%s", run.of(p.Name).cell())
		}
		_, _ = fmt.Fprintln(table)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	var b strings.Builder
	if names := r.FailsWithoutFaults(); len(names) > 0 {
		fmt.Fprintf(&b, "\nFails without faults, so that nothing follows from the runs with faults: %s\n", strings.Join(names, ", "))
		for _, p := range r.baseline().Packages {
			if !p.isGood() {
				b.WriteString(p.tail())
			}
		}
	}
	for _, f := range r.Failures() {
		f.write(&b, r.Command)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// cell returns the text of a package in the table.
func (p Package) cell() string {
	switch {
	case p.Status == BuildFailed:
		return "FAIL (" + string(p.Status) + ")"
	case p.Status == Failed && p.Test != "":
		return "FAIL " + p.Test
	case p.Status == Failed:
		return "FAIL"
	}
	return string(p.Status)
}

// write writes a failure and how to repeat it.
func (f Failure) write(b *strings.Builder, command []string) {
	fmt.Fprintf(b, "\n%s: %s: %s\n", f.Run.Set, f.Package.Name, cmp.Or(f.Package.Spec, f.Package.Test, string(f.Package.Status)))
	b.WriteString(f.Package.tail())
	fmt.Fprintf(b, "    repeat: %s\n", f.repeat(command))
	for _, page := range f.Run.pagesOf(f.Package.Name) {
		fmt.Fprintf(b, "    timeline: %s\n", page)
	}
}

// repeat returns the command line that repeats a failure: that of the package, if it is known, and
// of its first test that failed.
func (f Failure) repeat(command []string) string {
	words := slices.Clone(f.Run.Environment)
	if with, is := IsGoTest(command); is && f.Package.Name != "" {
		with = with[:slices.Index(with, "test")]
		words = append(words, quoted(with)...)
		words = append(words, "test", "-count=1")
		if test, _, _ := strings.Cut(f.Package.Test, "/"); test != "" {
			words = append(words, "-run", "'^"+test+"$'")
		}
		return strings.Join(append(words, f.Package.Name), " ")
	}
	return strings.Join(append(words, quoted(command)...), " ")
}

// pagesOf returns the timeline pages of the servers of a package's tests, or if there are none
// those of all.
func (r Run) pagesOf(name string) []string {
	base := name[strings.LastIndexByte(name, '/')+1:] + ".test-"
	of := slices.DeleteFunc(slices.Clone(r.Pages), func(page string) bool {
		return !strings.HasPrefix(page[strings.LastIndexAny(page, `/\`)+1:], base)
	})
	if len(of) == 0 {
		return r.Pages
	}
	return of
}

// maxTail is the number of lines of output that are printed for a failure.
const maxTail = 20

// maxTailLine is the number of bytes of a line of output that are printed.
const maxTailLine = 300

// tail returns the last lines of the output, indented.
func (p Package) tail() string {
	lines := strings.Split(strings.TrimRight(p.Output, "\n"), "\n")
	if p.Output == "" {
		return ""
	}
	if at := slices.IndexFunc(lines, func(line string) bool { return strings.Contains(line, "--- FAIL: "+p.Test) }); at >= 0 && p.Test != "" {
		lines = lines[max(0, at-maxTail/2):]
		lines = lines[:min(len(lines), maxTail)]
	}
	lines = lines[max(0, len(lines)-maxTail):]
	for i, line := range lines {
		if len(line) > maxTailLine {
			lines[i] = strings.ToValidUTF8(line[:maxTailLine], "") + "..."
		}
	}
	return "    | " + strings.Join(lines, "\n    | ") + "\n"
}

// WriteJSON writes the report as JSON.
func (r Report) WriteJSON(w io.Writer) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(r)
}

// quoted quotes words for a shell where necessary.
func quoted(words []string) (all []string) {
	for _, word := range words {
		all = append(all, printable.ShellWord(word))
	}
	return all
}
