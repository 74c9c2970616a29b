package access

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
)

// written returns the manifests of a report.
func written(t *testing.T, r Report, name, namespace string) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, r.WriteManifests(&b, name, namespace))
	return b.String()
}

// ruleTexts returns a line for each role of manifests and each of its rules.
func ruleTexts(t *testing.T, text string) []string {
	t.Helper()
	var texts []string
	for _, r := range read(t, file(text)).roles {
		for i := range r.rules {
			texts = append(texts, r.String()+": "+describeRule(&r.rules[i]))
		}
	}
	return texts
}

func TestWriteManifests(t *testing.T) {
	secret := Access{Verb: "get", Resource: "secrets", Namespace: "a", Names: []string{"s", "t"}}
	text := written(t, operator(secret), "controller", "system")
	want, err := os.ReadFile("testdata/written.yaml")
	require.NoError(t, err)
	require.Equal(t, string(want), text)
	require.Equal(t, text, written(t, operator(secret), "controller", "system"))
}

func TestWriteManifestsRules(t *testing.T) {
	spread := func(verb string, namespaces ...string) (accesses []Access) {
		for _, namespace := range namespaces {
			accesses = append(accesses, pods(verb, namespace, "p"))
		}
		return accesses
	}
	lease := func(verb string, names ...string) Access {
		return Access{Verb: verb, APIGroup: "coordination.k8s.io", Resource: "leases", Namespace: "a", Names: names}
	}
	grant := func(verb, resource string, names ...string) Access {
		return Access{
			Verb: verb, APIGroup: rbacv1.GroupName, Resource: resource, Namespace: "a", Names: names,
			Grants: []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"get", "list"}}},
		}
	}
	for name, test := range map[string]struct {
		accesses []Access
		want     []string
	}{
		"nothing":                 {nil, nil},
		"what everyone may do":    {[]Access{{Verb: "get", Path: "/api"}, {Verb: "create", APIGroup: "authentication.k8s.io", Resource: "selfsubjectreviews"}}, nil},
		"a path":                  {[]Access{{Verb: "get", Path: "/metrics"}}, []string{"ClusterRole c: get of /metrics"}},
		"a few names":             {[]Access{lease("get", "a", "b", "c"), lease("create", "")}, []string{"Role a/c: get of leases.coordination.k8s.io named a, b, c", "Role a/c: create of leases.coordination.k8s.io"}},
		"many names":              {[]Access{lease("get", "a", "b", "c", "d")}, []string{"Role a/c: get of leases.coordination.k8s.io"}},
		"the names of a list":     {[]Access{lease("list", "a")}, []string{"Role a/c: list of leases.coordination.k8s.io"}},
		"names that it lists":     {[]Access{pods("get", "a", "p"), pods("watch", "a", "")}, []string{"Role a/c: get, list, watch of pods"}},
		"names that it lists all": {[]Access{pods("get", "a", "p"), pods("list", "", "")}, []string{"ClusterRole c: list of pods", "Role a/c: get of pods"}},
		"of Events":               {[]Access{{Verb: "patch", Resource: "events", Namespace: "a", Names: []string{"e"}}}, []string{"Role a/c: patch of events"}},
		"a subresource":           {[]Access{pods("list", "a", ""), {Verb: "update", Resource: "pods", Subresource: "status", Namespace: "a", Names: []string{"p"}}}, []string{"Role a/c: list of pods", "Role a/c: update of pods/status"}},
		"three namespaces":        {spread("get", "a", "b", "d"), []string{"Role a/c: get of pods named p", "Role b/c: get of pods named p", "Role d/c: get of pods named p"}},
		"four namespaces":         {spread("get", "a", "b", "d", "e"), []string{"ClusterRole c: get of pods named p"}},
		"a Namespace":             {[]Access{{Verb: "get", Resource: "namespaces", Namespace: "a", Names: []string{"a"}}}, []string{"ClusterRole c: get of namespaces named a"}},
		"all and one namespace":   {[]Access{pods("create", "a", ""), pods("list", "", ""), pods("list", "a", "")}, []string{"ClusterRole c: list of pods", "Role a/c: create of pods"}},
		"the same verbs": {
			[]Access{pods("get", "a", "x"), {Verb: "get", Resource: "services", Namespace: "a", Names: []string{"x"}}, {Verb: "get", Resource: "secrets", Namespace: "a", Names: []string{"y"}}},
			[]string{"Role a/c: get of pods, services named x", "Role a/c: get of secrets named y"},
		},
		"grants that it has": {[]Access{grant("escalate", "roles", "r"), pods("get", "a", "x"), pods("list", "a", "")}, []string{"Role a/c: get, list of pods"}},
		"grants of a role":   {[]Access{grant("escalate", "roles", "r"), pods("list", "a", "")}, []string{"Role a/c: get, list of pods"}},
		"grants of a binding": {
			[]Access{grant("bind", "clusterroles", "r")}, []string{"Role a/c: bind of clusterroles.rbac.authorization.k8s.io named r"},
		},
		"grants of many bindings": {
			[]Access{grant("bind", "roles", "a", "b", "d", "e")}, []string{"Role a/c: bind of roles.rbac.authorization.k8s.io"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			text := written(t, ann(test.accesses...), "c", "")
			require.Equal(t, test.want, ruleTexts(t, text))
			result := check(t, ann(test.accesses...), file(text), CheckOptions{})
			require.Empty(t, result.Missing)
			require.Empty(t, result.Unused)
		})
	}
}

func TestWriteManifestsClients(t *testing.T) {
	robot := pods("get", "ns", "p")
	robot.User, robot.UserAgent = "system:serviceaccount:ns:robot", "Kube Ctl/v1"
	again := robot
	again.UserAgent = "other (linux)"
	admin := pods("list", "ns", "")
	admin.User, admin.UserAgent = "system:admin", "other/v2"

	text := written(t, Report{Accesses: []Access{robot}}, "", "")
	require.Equal(t, []string{"Role ns/kube: get of pods named p"}, ruleTexts(t, text))
	require.Equal(t, []account{{"ns", "robot"}}, read(t, file(text)).accounts)
	require.Equal(t, []account{{"default", "c"}}, read(t, file(written(t, Report{Accesses: []Access{robot}}, "c", ""))).accounts)

	text = written(t, Report{Accesses: []Access{robot, again, admin}}, "c", "own")
	require.Equal(t, []string{"Role ns/c-kube: get of pods named p", "Role ns/c-other: list of pods", "Role ns/c-other-2: get of pods named p"}, ruleTexts(t, text))
	require.Equal(t, []account{{"ns", "robot"}, {"own", "c-other"}}, read(t, file(text)).accounts)
	require.Contains(t, text, "# What other as system:admin needs.\n---\n")

	discovery := Access{User: "system:serviceaccount:ns:robot", UserAgent: "third", Verb: "get", Path: "/api"}
	text = written(t, Report{Accesses: []Access{robot, discovery}}, "", "")
	require.Contains(t, text, "# third as system:serviceaccount:ns:robot needs no role.\n")
}

func TestWriteManifestsErrors(t *testing.T) {
	require.ErrorContains(t, Report{}.WriteManifests(&bytes.Buffer{}, "A b", ""), `access: WriteManifests: the name "A b": a lowercase RFC 1123 subdomain must`)
	require.ErrorContains(t, Report{}.WriteManifests(&bytes.Buffer{}, "", "a/b"), `access: WriteManifests: the name "a/b": `)
	require.ErrorContains(t, Report{}.WriteManifests(&bytes.Buffer{}, strings.Repeat("a", 150), ""), "must be no more than 127 ")
	for n := range 3 {
		require.ErrorIs(t, operator().WriteManifests(&failingWriter{n}, "a", ""), errWrite)
	}
}

var errWrite = errors.New("cannot write")

// failingWriter fails after a number of writes.
type failingWriter struct{ writes int }

func (w *failingWriter) Write(p []byte) (int, error) {
	if w.writes == 0 {
		return 0, errWrite
	}
	w.writes--
	return len(p), nil
}

// randomReport returns a report of some clients, with accesses that overlap.
func randomReport(r *rand.Rand) Report {
	pick := func(of ...string) string { return of[r.IntN(len(of))] }
	var report Report
	users := []string{"system:admin", "system:serviceaccount:ns:robot", "ann"}[:1+r.IntN(3)]
	for n := range 1 + r.IntN(40) {
		a := Access{
			User: pick(users...), UserAgent: pick("manager/v1", "manager/v2", "kubectl/v1"), First: uint64(n),
			Verb:     pick("get", "list", "watch", "create", "update", "patch", "delete", "deletecollection", "use"),
			APIGroup: pick("", "apps", "example.com"), Resource: pick("pods", "deployments", "widgets", "namespaces", "events"),
			Subresource: pick("", "", "status", "scale"), Namespace: pick("", "a", "b", "c", "d", "e"),
		}
		switch {
		case r.IntN(10) == 0:
			a = Access{User: a.User, UserAgent: a.UserAgent, Verb: "get", Path: pick("/metrics", "/healthz", "/logs/x", "/apis")}
		case a.Verb == "create" || r.IntN(8) == 0:
			a.Names = []string{""}
		case r.IntN(8) > 0:
			for range 1 + r.IntN(5) {
				a.Names = append(a.Names, pick("x", "y", "z", "v", "w"))
			}
			slices.Sort(a.Names)
			a.Names, a.MoreNames = slices.Compact(a.Names), r.IntN(6) == 0
		}
		if a.Path == "" && r.IntN(12) == 0 {
			a.Verb, a.APIGroup, a.Subresource = "escalate", rbacv1.GroupName, ""
			a.Resource = "clusterroles"
			if a.Namespace != "" {
				a.Resource = "roles"
			}
			if r.IntN(2) == 0 {
				a.Verb = "bind"
			}
			a.Grants = []rbacv1.PolicyRule{{
				Verbs: []string{pick("get", "list", "*"), pick("update", "use")}, APIGroups: []string{pick("", "apps", "*")}, Resources: []string{pick("pods", "deployments", "*")},
			}}
			if r.IntN(2) == 0 {
				a.Grants[0].ResourceNames = []string{pick("x", "y")}
			}
		}
		report.Accesses = append(report.Accesses, a)
	}
	return report
}

// TestWriteManifestsCoverTheReport checks of random reports that what is written lacks nothing that
// a client needs and has nothing that it does not use.
func TestWriteManifestsCoverTheReport(t *testing.T) {
	for seed := range uint64(100) {
		report := randomReport(rand.New(rand.NewPCG(seed, 1)))
		message := fmt.Sprintf("seed %d", seed)
		text := written(t, report, "c", "own")
		require.Equal(t, text, written(t, report, "c", "own"), message)
		all := read(t, file(text))
		for _, set := range newRoleSets(report, "c", "own") {
			var of Report
			for _, a := range report.Accesses {
				if strings.TrimSpace(product(a.UserAgent)+" as "+a.User) == set.client {
					of.Accesses = append(of.Accesses, a)
				}
			}
			require.NotEmpty(t, of.Accesses, message)
			m := &Manifests{roles: all.roles}
			for _, b := range all.bindings { // of one client, because a service account can have several
				if b.name == set.name {
					m.bindings = append(m.bindings, b)
				}
			}
			if len(m.bindings) == 0 {
				require.Empty(t, neededRules(of.Accesses), message)
				continue
			}
			result, err := Check(of, m, CheckOptions{Subject: qualifiedName(set.account.namespace, set.account.name)})
			require.NoError(t, err, message)
			require.Empty(t, missingTexts(result), message)
			require.Empty(t, unusedTexts(result), message)
		}
	}
}
