package arch

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// importRule states what a package, or all packages below a directory, may import. Imports of
// tests are not restricted.
type importRule struct {
	path string // relative to the module; "/..." at the end matches all packages below
	// module lists the packages of this module that it may import, in the form of path.
	module []string
	// external lists the modules that it may import; nil allows all in DEPENDENCIES.md.
	external []string
	// tests allows the modules that otherwise only tests import.
	tests bool
	// never lists the packages that it must not depend on, directly or indirectly.
	never []string
}

// importRules has a rule for every package of the module.
var importRules = []importRule{
	{path: "cmd/...", module: []string{"fake", "fake/access", "scenario", "scenario/...", "conformance", "faults", "internal/originguard", "internal/printable", "internal/cmd/..."}},
	{path: "scenario", module: []string{"fake", "faults"}},
	{path: "scenario/clients", module: []string{"scenario"}, external: []string{"k8s.io/api", "k8s.io/apimachinery", "k8s.io/client-go"}},
	{path: "scenario/perturb", module: []string{"fake", "faults", "scenario"}, external: []string{"k8s.io/apimachinery", "k8s.io/client-go"}},
	{path: "scenario/perturb/internal/operators", module: []string{"fake", "scenario"}, external: []string{"k8s.io/api", "k8s.io/apimachinery", "k8s.io/client-go"}},
	{path: "conformance", module: []string{"internal/printable"}, external: []string{"k8s.io/apimachinery"}},
	{path: "fake", module: []string{"memstore", "faults", "internal/requestinfo", "internal/responsewriter", "internal/originguard", "internal/printable", "fake/access", "fake/internal/..."}},
	{path: "fake/access", module: []string{"internal/printable", "fake/internal/manifests", "fake/internal/rbac", "fake/internal/rbac/bootstrappolicy"}},
	{path: "fake/internal/managedfields/fastpath", external: []string{"k8s.io/api", "k8s.io/apimachinery", "sigs.k8s.io/structured-merge-diff/v6"}},
	{path: "fake/internal/accesslog", module: []string{"internal/requestinfo", "fake/access", "fake/internal/authn"}},
	{path: "fake/internal/...", module: []string{"memstore", "faults", "internal/requestinfo", "internal/responsewriter", "internal/frames", "fake/internal/..."}},
	{path: "faults", module: []string{"internal/requestinfo", "internal/responsewriter", "internal/frames"}, external: []string{"k8s.io/apimachinery", "github.com/munnerz/goautoneg", "golang.org/x/net", "google.golang.org/protobuf"}},
	{
		path:     "memstore",
		external: []string{"github.com/hashicorp/go-memdb", "github.com/google/btree"},
		never:    []string{"net/http", "k8s.io", "sigs.k8s.io"},
	},
	{path: "internal/requestinfo", external: []string{"k8s.io/apimachinery"}},
	{path: "internal/responsewriter", external: []string{}},
	{path: "internal/frames", external: []string{"k8s.io/apimachinery"}},
	{path: "internal/originguard", external: []string{}},
	{path: "internal/printable", external: []string{}},
	{path: "internal/cmd/environment", module: []string{"fake", "fake/access", "faults"}, external: []string{}},
	{path: "internal/cmd/stress", module: []string{"faults", "internal/printable"}, external: []string{}},
	{path: "internal/cmd/subprocess", external: []string{"golang.org/x/sys"}},
	{path: "internal/cmd/load", module: []string{"internal/printable"}, external: []string{}}, // plain HTTP: the cost of a client library is not measured
	{path: "internal/cmd/httpdiff", module: []string{"internal/frames"}, external: []string{"k8s.io/apimachinery", "k8s.io/apiextensions-apiserver", "k8s.io/client-go", "sigs.k8s.io/yaml"}},
	{path: "internal/cmd/golden/recordings", external: []string{}},
	{path: "internal/cmd/golden", module: []string{"internal/cmd/httpdiff"}, external: []string{"k8s.io/apimachinery"}},
	{path: "internal/cmd/compare", module: []string{"conformance", "internal/cmd/httpdiff", "internal/frames", "internal/printable", "internal/cmd/golden"}},
	{path: "internal/cmd/differential", module: []string{"internal/cmd/httpdiff", "internal/printable"}},
	{path: "internal/cmd/controlplane", module: []string{"internal/originguard"}, external: []string{"golang.org/x/sys", "k8s.io/klog/v2"}},
	{path: "internal/cmd/kubeapiserver", module: []string{"fake", "internal/cmd/controlplane"}},
	{path: "internal/cmd/etcd", module: []string{"fake", "internal/cmd/controlplane", "internal/cmd/environment", "internal/cmd/kubeapiserver", "internal/originguard"}},
	{path: "internal/dev/figures", module: []string{"internal/cmd/load"}, external: []string{}},
	{path: "internal/dev/languages", external: []string{}},
	{path: "internal/dev/arch", external: []string{}},
	{path: "internal/dev/fuzz", external: []string{}},
	{path: "internal/dev/freeport", tests: true},
	{path: "internal/dev/builtintypes/manifests", external: []string{}},
	{path: "internal/dev/builtintypes", external: []string{"github.com/google/uuid", "sigs.k8s.io/yaml"}},
	{path: "internal/dev/rbaccases", external: []string{"sigs.k8s.io/yaml"}},
	{path: "internal/dev/verify/harness", tests: true},
	{path: "internal/dev/verify/watchguarantees", module: []string{"fake", "internal/dev/verify/harness"}, tests: true},
	{path: "internal/dev/verify/linearizability", module: []string{"internal/dev/verify/harness"}, tests: true},
	{path: "internal/dev/verify/convergence", module: []string{"fake", "internal/dev/verify/harness"}, tests: true},
	{path: "internal/dev/verify/garbagecollection", module: []string{"fake"}, tests: true},
	{
		path: "internal/dev/verify/soak",
		module: []string{
			"fake", "internal/dev/verify/harness", "internal/dev/verify/linearizability", "internal/dev/verify/watchguarantees",
		},
		tests: true,
	},
}

// testModules lists the modules that only tests import.
var testModules = []string{"github.com/stretchr/testify", "github.com/google/go-cmp", "github.com/anishathalye/porcupine"}

// matchesPath reports whether pattern, with or without "/...", matches a package.
func matchesPath(pattern, name string) bool {
	if base, ok := strings.CutSuffix(pattern, "/..."); ok {
		return strings.HasPrefix(name, base+"/")
	}
	return pattern == name
}

// ruleFor returns the first rule that matches a package.
func ruleFor(name string) (importRule, bool) {
	for _, r := range importRules {
		if matchesPath(r.path, name) {
			return r, true
		}
	}
	return importRule{}, false
}

// wrongImports returns the imports of a package that its rule does not allow. packages has the
// imported packages.
func wrongImports(p goPackage, packages map[string]goPackage) (violations []string) {
	name := strings.TrimPrefix(p.ImportPath, module+"/")
	r, ok := ruleFor(name)
	if !ok {
		return []string{fmt.Sprintf("%s: no rule in importRules", name)}
	}
	add := func(format string, args ...any) {
		violations = append(violations, name+": "+fmt.Sprintf(format, args...))
	}
	for _, imported := range p.Imports {
		if local, ok := strings.CutPrefix(imported, module+"/"); ok {
			if !slices.ContainsFunc(r.module, func(pattern string) bool { return matchesPath(pattern, local) }) {
				add("imports %s, which its rule does not allow", local)
			}
			continue
		}
		from := packages[imported].Module
		if from == nil { // the standard library
			continue
		}
		if slices.Contains(testModules, from.Path) {
			if r.tests {
				continue
			}
			add("imports %s outside of a test", imported)
		} else if r.external != nil && !slices.Contains(r.external, from.Path) {
			add("imports %s; besides the standard library it may import %q", imported, r.external)
		}
	}
	for _, dependency := range p.Deps {
		if slices.ContainsFunc(r.never, func(base string) bool { return isBelow(dependency, base) }) {
			add("depends on %s", dependency)
		}
	}
	return violations
}

func TestImports(t *testing.T) {
	packages := loadPackages(t)
	for _, name := range slices.Sorted(maps.Keys(packages)) {
		if p := packages[name]; p.inModule() {
			reportAll(t, wrongImports(p, packages))
		}
	}
}

func TestImportRules(t *testing.T) {
	packages := map[string]goPackage{}
	for name, from := range map[string]string{
		"k8s.io/apimachinery/pkg/fields":      "k8s.io/apimachinery",
		"k8s.io/client-go/rest":               "k8s.io/client-go",
		"github.com/stretchr/testify/require": "github.com/stretchr/testify",
	} {
		p := goPackage{ImportPath: name}
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
		{"internal/originguard", "strings", false},
		{"internal/originguard", "k8s.io/apimachinery/pkg/fields", true},
		{"fake", "github.com/stretchr/testify/require", true},
		{"internal/dev/verify/soak", "github.com/stretchr/testify/require", false},
		{"internal/dev/verify/soak", module + "/fake", false},
		{"internal/dev/verify/soak", module + "/fake/internal/handlers", true},
		{"somewhere/new", "strings", true},
	} {
		got := wrongImports(goPackage{ImportPath: module + "/" + test.from, Imports: []string{test.to}}, packages)
		require.Equal(t, test.bad, len(got) == 1, "%s -> %s: %v", test.from, test.to, got)
	}
	got := wrongImports(goPackage{ImportPath: module + "/memstore", Deps: []string{"net/http", "net/url", "k8s.io/api/core/v1"}}, packages)
	require.Len(t, got, 2, "indirect dependencies count")
}
