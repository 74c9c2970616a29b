package kubectl_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	fakeapi "example.com/fakeapi/fake"
)

const minimal = "testdata/minimal.yaml"

// missing matches what kubectl prints for a field that a real server always sets, and what it
// prints if it crashes.
var missing = regexp.MustCompile(`<never>|%!|panic|nil pointer|<nil>|: *<unknown> replicas|runtime error`)

// kubectl describes objects of all types as they are stored, and the objects of the server.
func TestDescribeEveryType(t *testing.T) {
	u := newUser(t, fakeapi.WithAdmissionPlugins("ServiceAccount"), fakeapi.WithYAML("apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: default}\n"))
	u.try("apply", "-f", minimal) // Endpoints are answered with a warning
	var types []string
	for _, name := range strings.Fields(u.do("api-resources", "--verbs=list,get", "-o", "name")) {
		if name != "events.events.k8s.io" {
			types = append(types, name)
		}
	}
	described := 0
	for _, name := range types {
		r := u.try("describe", name, "-A")
		require.Zero(t, r.code, "%s: %s", name, r.err)
		require.NotRegexp(t, missing, r.out+r.err, name)
		if strings.Contains(r.out, "Name:") {
			described++
		}
	}
	require.GreaterOrEqual(t, described, 45)
	require.Contains(t, collapseSpaces(u.do("describe", "service", "kubernetes")), "\nIP: 10.96.0.1\n")
}

// Applying the same manifest again changes nothing, by either way, and there is no difference to
// show.
func TestApplyEveryTypeAgain(t *testing.T) {
	u := newUser(t)
	u.env = append(u.env, "PATH="+os.Getenv("PATH")) // for diff
	for _, flags := range [][]string{{}, {"--server-side", "--force-conflicts"}} {
		apply := append([]string{"apply", "-f", minimal}, flags...)
		require.Zero(t, u.try(apply...).code)
		before := u.srv.ResourceVersion()
		r := u.try(apply...)
		require.Zero(t, r.code, r.err)
		require.NotContains(t, r.out, "created")
		require.Equal(t, before, u.srv.ResourceVersion(), "%v", apply)
		r = u.try(append([]string{"diff", "-f", minimal}, flags...)...)
		require.Zero(t, r.code, "%s%s", r.out, r.err)
		require.Empty(t, r.out)
	}
}
