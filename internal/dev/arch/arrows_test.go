package arch

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// room is a package, or a folder of packages, and what it may import.
type room struct {
	path string // in the module; "/..." at the end stands for all below
	// ours are the rooms that it may import, written like path.
	ours []string
	// outside are the modules that it may import; nil means all in the README.
	outside []string
	// never are packages that it must not reach by any way, or by prefix.
	never []string
}

// rooms is the map of the house. A new package needs a line here, and a place on
// the map. Tests are free to import more: the server's tests run the conformance
// suite, and the suite's tests run against the server.
var rooms = []room{
	{path: "cmd/...", ours: []string{"fake", "scenario", "scenario/clients", "conformance", "faults", "internal/guard", "internal/cmd/load", "internal/cmd/compare", "internal/cmd/golden"}},
	{path: "scenario", ours: []string{"fake", "faults"}},
	{path: "scenario/clients", ours: []string{"scenario"}, outside: []string{"k8s.io/api", "k8s.io/apimachinery", "k8s.io/client-go"}},
	{path: "conformance", outside: []string{"k8s.io/apimachinery"}},
	{path: "fake", ours: []string{"memstore", "faults", "internal/requestinfo", "internal/guard", "fake/internal/..."}},
	{path: "fake/internal/...", ours: []string{"memstore", "faults", "internal/requestinfo", "internal/frames", "fake/internal/..."}},
	{path: "faults", ours: []string{"internal/requestinfo", "internal/frames"}, outside: []string{"k8s.io/apimachinery", "github.com/munnerz/goautoneg"}},
	{
		path:    "memstore",
		outside: []string{"github.com/hashicorp/go-memdb", "github.com/google/btree"},
		never:   []string{"net/http", "k8s.io", "sigs.k8s.io"},
	},
	{path: "internal/requestinfo", outside: []string{}},
	{path: "internal/frames", outside: []string{"k8s.io/apimachinery"}},
	{path: "internal/guard", outside: []string{}},
	{path: "internal/cmd/load", outside: []string{}}, // speaks plain HTTP: what a client library costs is not the server's
	{path: "internal/dev/figures", ours: []string{"internal/cmd/load"}, outside: []string{}},
	{path: "internal/dev/arch", outside: []string{}},
	{path: "internal/mutants", outside: []string{}}, // for tests: no room may import it
	{path: "internal/cmd/httpdiff", outside: []string{"k8s.io/apimachinery"}},
	{path: "internal/cmd/compare", ours: []string{"conformance", "internal/cmd/httpdiff", "internal/frames", "internal/cmd/golden"}},
	{path: "internal/cmd/golden", ours: []string{"internal/cmd/httpdiff"}, outside: []string{"k8s.io/apimachinery"}},
}

// onlyForTests are modules that nothing but a test imports.
var onlyForTests = []string{"github.com/stretchr/testify", "github.com/google/go-cmp", "github.com/anishathalye/porcupine"}

// covers reports whether a pattern, with or without "/...", means a package.
func covers(pattern, name string) bool {
	if base, all := strings.CutSuffix(pattern, "/..."); all {
		return strings.HasPrefix(name, base+"/")
	}
	return pattern == name
}

// roomOf finds where a package belongs.
func roomOf(name string) (room, bool) {
	for _, r := range rooms {
		if covers(r.path, name) {
			return r, true
		}
	}
	return room{}, false
}

// wrongArrows complains about the imports of one package. The map holds what
// go list says of the others.
func wrongArrows(p listed, packages map[string]listed) (complaints []string) {
	name := strings.TrimPrefix(p.ImportPath, module+"/")
	r, known := roomOf(name)
	if !known {
		return []string{fmt.Sprintf("%s: not on the map: give it a line in rooms, and a place in the design", name)}
	}
	complain := func(format string, args ...any) {
		complaints = append(complaints, name+": "+fmt.Sprintf(format, args...))
	}
	for _, imported := range p.Imports {
		if ours, ok := strings.CutPrefix(imported, module+"/"); ok {
			if !slices.ContainsFunc(r.ours, func(pattern string) bool { return covers(pattern, ours) }) {
				complain("imports %s, against the arrows", ours)
			}
			continue
		}
		from := packages[imported].Module
		if from == nil { // the standard library
			continue
		}
		if slices.Contains(onlyForTests, from.Path) {
			complain("imports %s outside of a test", imported)
		} else if r.outside != nil && !slices.Contains(r.outside, from.Path) {
			complain("imports %s; besides the standard library it may use %q", imported, r.outside)
		}
	}
	for _, reached := range p.Deps {
		if slices.ContainsFunc(r.never, func(base string) bool { return below(reached, base) }) {
			complain("reaches %s, which it must know nothing of", reached)
		}
	}
	return complaints
}

func TestArrows(t *testing.T) {
	packages := thePackages(t)
	for _, name := range slices.Sorted(maps.Keys(packages)) {
		if p := packages[name]; p.ours() {
			report(t, wrongArrows(p, packages))
		}
	}
}

func TestArrowsRule(t *testing.T) {
	packages := map[string]listed{}
	for name, from := range map[string]string{
		"k8s.io/apimachinery/pkg/fields":      "k8s.io/apimachinery",
		"k8s.io/client-go/rest":               "k8s.io/client-go",
		"github.com/stretchr/testify/require": "github.com/stretchr/testify",
	} {
		p := listed{ImportPath: name}
		p.Module = &struct {
			Path string
			Main bool
		}{Path: from}
		packages[name] = p
	}
	for _, test := range []struct {
		from, to string
		bad      bool
	}{
		{"cmd/fakeapi", module + "/fake", false},
		{"cmd/fakeapi", module + "/memstore", true},
		{"scenario", module + "/fake/internal/handlers", true},
		{"conformance", module + "/internal/requestinfo", true},
		{"conformance", "net/http", false},
		{"conformance", "k8s.io/apimachinery/pkg/fields", false},
		{"conformance", "k8s.io/client-go/rest", true},
		{"fake", module + "/fake/internal/handlers", false},
		{"fake", module + "/scenario", true},
		{"fake", "k8s.io/client-go/rest", false},
		{"fake/internal/handlers", module + "/fake", true},
		{"fake/internal/handlers", module + "/fake/internal/codec", false},
		{"faults", module + "/internal/requestinfo", false},
		{"faults", module + "/fake", true},
		{"faults", "k8s.io/client-go/rest", true},
		{"memstore", module + "/internal/requestinfo", true},
		{"internal/requestinfo", "strings", false},
		{"internal/requestinfo", "k8s.io/apimachinery/pkg/fields", true},
		{"fake", "github.com/stretchr/testify/require", true},
		{"somewhere/new", "strings", true},
	} {
		got := wrongArrows(listed{ImportPath: module + "/" + test.from, Imports: []string{test.to}}, packages)
		require.Equal(t, test.bad, len(got) == 1, "%s -> %s: %v", test.from, test.to, got)
	}
	got := wrongArrows(listed{ImportPath: module + "/memstore", Deps: []string{"net/http", "net/url", "k8s.io/api/core/v1"}}, packages)
	require.Len(t, got, 2, "what is reached by a detour counts")
}
