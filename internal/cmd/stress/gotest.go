package stress

import (
	"bufio"
	"encoding/json"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Status is the result of a package, or of a command that is not go test.
type Status string

const (
	OK          Status = "ok"
	Failed      Status = "failed"
	BuildFailed Status = "build failed"
	NoTests     Status = "no tests"
)

// Package is the result of the tests of a package in one run.
type Package struct {
	Name   string `json:"name"` // the import path, or the command
	Status Status `json:"status"`
	// Test is the first test that failed, and Spec the first spec of Ginkgo; "" if it is not known.
	Test string `json:"test,omitempty"`
	Spec string `json:"spec,omitempty"`
	// Output is that of the package, if it failed.
	Output string `json:"output,omitempty"`
}

// IsGoTest reports whether a command line is one of go test, and returns it with the arguments
// -json and -count=1, unless it has them.
func IsGoTest(args []string) (with []string, is bool) {
	i := slices.Index(args, "test")
	if name := strings.TrimSuffix(filepath.Base(args[0]), ".exe"); name != "go" || i < 1 || i != 1 && !strings.HasPrefix(args[1], "-C") {
		return args, false
	}
	var added []string
	for _, flag := range []string{"json", "count"} {
		if !slices.ContainsFunc(args[i+1:], func(arg string) bool { return isFlag(arg, flag) }) {
			added = append(added, map[string]string{"json": "-json", "count": "-count=1"}[flag])
		}
	}
	return slices.Insert(slices.Clone(args), i+1, added...), true
}

// isFlag reports whether an argument is a flag of go test, with or without a value.
func isFlag(arg, name string) bool {
	arg, _, _ = strings.Cut(arg, "=")
	return arg == "-"+name || arg == "--"+name
}

// event is a line of go test -json; see go doc test2json.
type event struct {
	Action, Package, ImportPath, Test, Output, FailedBuild string
}

// maxOutput is the maximum size of the output that is kept for a package, in bytes. Of more output
// the end is kept.
const maxOutput = 1 << 20

// packageState is a package whose tests run.
type packageState struct {
	Package
	output []byte
}

// ParseGoTest reads the output of go test -json to its end. Lines that are not JSON are written to
// other. The packages are in the order of their names.
func ParseGoTest(from io.Reader, other io.Writer) ([]Package, error) {
	packages, builds := map[string]*packageState{}, map[string]*packageState{}
	of := func(all map[string]*packageState, name string) *packageState {
		if all[name] == nil {
			all[name] = &packageState{Package: Package{Name: name, Status: Failed}} // until it passes
		}
		return all[name]
	}
	reader := bufio.NewReader(from)
	for {
		line, err := reader.ReadString('\n')
		var e event
		if trimmed := strings.TrimSpace(line); strings.HasPrefix(trimmed, "{") && json.Unmarshal([]byte(trimmed), &e) == nil && e.Action != "" {
			switch {
			case e.Action == "build-output":
				of(builds, e.ImportPath).add(e.Output)
			case e.Package != "":
				of(packages, e.Package).apply(e, builds[e.FailedBuild])
			}
		} else if line != "" {
			if _, err := io.WriteString(other, line); err != nil {
				return nil, err
			}
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
	}
	var all []Package
	for _, p := range packages {
		all = append(all, p.result())
	}
	slices.SortFunc(all, func(a, b Package) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}

func (p *packageState) add(output string) {
	p.output = append(p.output, output...)
	if len(p.output) > 2*maxOutput {
		p.output = slices.Clone(p.output[len(p.output)-maxOutput:])
	}
}

// apply applies an event. build is the build that failed, if any.
func (p *packageState) apply(e event, build *packageState) {
	switch e.Action {
	case "output":
		p.add(e.Output)
	case "pass", "skip":
		if e.Test == "" {
			p.Status = map[string]Status{"pass": OK, "skip": NoTests}[e.Action]
		}
	case "fail":
		switch {
		case e.Test != "" && p.Test == "":
			p.Test = e.Test // subtests end before the tests that have them
		case e.Test == "":
			p.Status = Failed
		}
		if e.FailedBuild != "" {
			p.Status = BuildFailed
			if build != nil {
				p.add(string(build.output))
			}
		}
	}
}

var (
	// colors matches the escape sequences that Ginkgo prints.
	colors = regexp.MustCompile("\x1b\\[[0-9;]*m")
	// failedSpec matches the line of a failed spec in the summary of Ginkgo.
	failedSpec = regexp.MustCompile(`(?m)^\s*\[(?:FAIL|PANICKED!|TIMEDOUT|INTERRUPTED)\] (.+?)\s*$`)
	// panicked matches the beginning of a panic, such as that of a test that takes too long.
	panicked = regexp.MustCompile(`(?m)^panic: (.+)$`)
	running  = regexp.MustCompile(`(?m)^\s+(Test\w+\S*) \(`)
)

// result returns the package with what its output says about a failure.
func (p *packageState) result() Package {
	r := p.Package
	if r.Status != Failed && r.Status != BuildFailed {
		return r
	}
	r.Output = colors.ReplaceAllString(string(p.output), "")
	if match := failedSpec.FindStringSubmatch(r.Output); match != nil {
		r.Spec = match[1]
	}
	if match := panicked.FindStringSubmatchIndex(r.Output); match != nil && r.Test == "" {
		if test := running.FindStringSubmatch(r.Output[match[1]:]); test != nil {
			r.Test = test[1]
		}
	}
	return r
}

// ReadEnd reads from to its end, and returns the last part of it.
func ReadEnd(from io.Reader) ([]byte, error) {
	var p packageState
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		p.add(string(buffer[:n]))
		if err == io.EOF {
			return p.output, nil
		}
		if err != nil {
			return nil, err
		}
	}
}
