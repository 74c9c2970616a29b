package kubectl_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

// missingDefault matches what kubectl prints of fields that a server sets, if they are not set, and
// the texts of errors in kubectl itself.
var missingDefault = regexp.MustCompile(`<never>|%!|nil pointer|panic|runtime error|<invalid|\s\(map\[`)

// nilAllowed lists the lines with the text nil that kubectl prints of objects of a real server,
// too: times and references that are optional.
var nilAllowed = regexp.MustCompile(`^(Event Time|(Deprecated )?(First|Last) Timestamp|SecretRef|To Port): +(<nil>|nil)`)

func requireDefaults(t *testing.T, text string) {
	t.Helper()
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		require.NotRegexp(t, missingDefault, line)
		if strings.Contains(line, "nil>") || strings.HasSuffix(line, " nil") {
			require.Regexp(t, nilAllowed, line)
		}
	}
}

// newTypesUser returns a user of a server with the objects of all built-in types.
func newTypesUser(t *testing.T) *user {
	u := newUser(t)
	r := u.try("create", "-f", types)
	require.Equal(t, 0, r.code, r.err)
	return u
}

// succeed is like do for commands that may print warnings of deprecated types.
func (u *user) succeed(args ...string) string {
	u.t.Helper()
	r := u.try(args...)
	require.Equal(u.t, 0, r.code, "kubectl %v: %s", args, r.err)
	for line := range strings.Lines(r.err) {
		require.Regexp(u.t, "^(Warning: .*: deprecated in |Warning: .* is deprecated|No resources found)", line, "kubectl %v", args)
	}
	return r.out
}

// typesVersions returns the name and resourceVersion of all objects of the manifests.
func (u *user) typesVersions() []string {
	u.t.Helper()
	return strings.Fields(u.succeed("get", "-f", types, "-o",
		`jsonpath={range .items[*]}{.kind}/{.metadata.name}={.metadata.resourceVersion} {end}`))
}

// The manifests have an object of each type that can be created and listed.
func TestTypesAreComplete(t *testing.T) {
	u := newUser(t)
	all := make(map[string]bool)
	files, err := os.ReadDir(types)
	require.NoError(t, err)
	for _, f := range files {
		text, err := os.ReadFile(types + "/" + f.Name())
		require.NoError(t, err)
		for _, document := range strings.Split(string(text), "\n---\n") {
			var object struct{ APIVersion, Kind string }
			require.NoError(t, yaml.Unmarshal([]byte(document), &object))
			all[object.APIVersion+" "+object.Kind] = true
		}
	}
	for _, row := range columns(u.do("api-resources", "--verbs=create,list", "--no-headers"), 6) {
		require.True(t, all[row[len(row)-3]+" "+row[len(row)-1]], "no object of %v in %s", row, types)
	}
}

func TestDescribeAllTypes(t *testing.T) {
	u := newTypesUser(t)
	for _, args := range [][]string{{"describe"}, {"get", "-o", "wide"}, {"get", "-o", "yaml"}} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			out := u.succeed(append(args, "-f", types)...)
			require.Greater(t, strings.Count(out, "\n"), len(u.typesVersions()))
			requireDefaults(t, out)
		})
	}
	out := collapseSpaces(u.succeed("describe", "-f", types))
	for _, want := range []string{
		"\nReplicas: 1 desired | 0 updated | 0 total | 0 available | 0 unavailable\nStrategyType: RollingUpdate\n",
		"\nRollingUpdateStrategy: 25% max unavailable, 50% max surge\n",
		"\nReadiness: http-get http://:80/ delay=0s timeout=1s period=10s successThreshold=1 failureThreshold=3\n",
		"\nParallelism: 1\nCompletions: 1\nCompletion Mode: NonIndexed\nSuspend: false\nBackoff Limit: 6\n",
		"\nSuccessful Job History Limit: 3\nFailed Job History Limit: 1\n",
		"\nPartition: 0\n",
		"\nresource cpu on pods (as a percentage of request): <unknown> / 80%\nMin replicas: 1\n",
		"\nType: LoadBalancer\nIP Family Policy: SingleStack\nIP Families: IPv4\n",
		"\nPolicy Types: Ingress, Egress\n",
		"\nReclaimPolicy: Delete\nVolumeBindingMode: Immediate\n",
		"\nTokenExpirationSeconds: 3600\n",
	} {
		require.Contains(t, out, want)
	}
}

// What the server has of its own can be described, too.
func TestDescribeSystemObjects(t *testing.T) {
	u := newUser(t)
	out := u.succeed("describe", "-A", "namespaces,services,endpoints,endpointslices,configmaps,leases,servicecidrs,"+
		"ipaddresses,priorityclasses,flowschemas,prioritylevelconfigurations")
	requireDefaults(t, out)
	for _, want := range []string{"kubernetes", "system-node-critical", "exempt", "extension-apiserver-authentication"} {
		require.Regexp(t, `(?m)^Name: +`+want+`$`, out)
	}
	require.Contains(t, collapseSpaces(out), "\nIP: 10.96.0.1\nIPs: 10.96.0.1\nPort: https 443/TCP\n")
}

// An object that is read and sent back is not changed.
func TestTypesSentBackAreUnchanged(t *testing.T) {
	u := newTypesUser(t)
	before := u.typesVersions()
	r := u.tryWith(u.succeed("get", "-f", types, "-o", "yaml"), "replace", "-f", "-")
	require.Equal(t, 0, r.code, r.err)
	require.Equal(t, before, u.typesVersions())
}

// A repeated apply changes no object of any type. A diff, which takes as long as an apply, shows no
// change of those with the most defaults.
func TestApplyAllTypesTwice(t *testing.T) {
	u := newUser(t).withDiffTool()
	u.succeed("apply", "-f", types)
	before := u.typesVersions()
	u.succeed("apply", "-f", types)
	require.Equal(t, before, u.typesVersions())
	require.Empty(t, u.succeed("diff", "-f", types+"/workloads.yaml", "-f", types+"/services.yaml"))
}

// A repeated server-side apply changes no object. Some manifests have a name only, and so the first
// apply owns no field: managedFields stay empty. As a real server does, the second apply then
// records the fields that the server has set as those of the manager before-first-apply.
func TestServerSideApplyAllTypesTwice(t *testing.T) {
	u := newUser(t)
	versions := func() []string {
		u.succeed("apply", "--server-side", "-f", types)
		return u.typesVersions()
	}
	first, second := versions(), versions()
	var changed []string
	for i := range second {
		name, _, _ := strings.Cut(second[i], "=")
		if second[i] != first[i] && name != "ValidatingAdmissionPolicy/short" { // a controller writes its status
			changed = append(changed, name)
		}
	}
	require.Equal(t, []string{"Namespace/short", "Node/short", "Secret/short", "CSIDriver/csi.example.com"}, changed)
	require.Equal(t, second, versions())
}
