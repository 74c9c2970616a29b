package access

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
)

// missingTexts returns a line for each missing rule: the file, the role, the rule, the namespaces
// and the numbers of the requests.
func missingTexts(r *Result) []string {
	var texts []string
	for _, m := range r.Missing {
		text := m.File + ": " + m.Role + ": " + describeRule(&m.Rule) + " in " + strings.Join(m.Namespaces, ",")
		for _, request := range m.Requests {
			text += ", " + request.String()
		}
		texts = append(texts, strings.ReplaceAll(text, " of manager/v0.0.0 as system:admin", ""))
	}
	return texts
}

func unusedTexts(r *Result) []string {
	var texts []string
	for i := range r.Unused {
		texts = append(texts, r.Unused[i].String())
	}
	return texts
}

func TestCheckNothingIsMissing(t *testing.T) {
	result := check(t, operator(), configRBAC(t), CheckOptions{Client: "manager"})
	require.Empty(t, result.Missing)
	require.Equal(t, "ServiceAccount system/controller-manager", result.Subject)
	require.Equal(t, 12, result.Accesses)
	require.Equal(t, []string{
		"leader_election_role.yaml: Role leader-election-role: get, list, watch, create, update, patch, delete of configmaps",
		"leader_election_role.yaml: Role leader-election-role: list, watch, patch, delete of leases.coordination.k8s.io",
		"leader_election_role.yaml: Role leader-election-role: create of events",
		"metrics_auth_role.yaml: ClusterRole metrics-auth-role: create of tokenreviews.authentication.k8s.io",
		"metrics_auth_role.yaml: ClusterRole metrics-auth-role: create of subjectaccessreviews.authorization.k8s.io",
		"role.yaml: ClusterRole manager-role: get, list, watch, update, patch, delete of deployments.apps",
		"role.yaml: ClusterRole manager-role: get, create, patch, delete of widgets.example.com",
		"role.yaml: ClusterRole manager-role: get, update of widgets.example.com/status",
	}, unusedTexts(result))
}

// TestCheckNamesTheMissingVerb removes one verb of one rule at a time.
func TestCheckNamesTheMissingVerb(t *testing.T) {
	for name, test := range map[string]struct{ file, old, new, want string }{
		"finalizers": {
			"role.yaml", "  - widgets/finalizers\n  verbs:\n  - update\n", "  - widgets/finalizers\n  verbs:\n  - get\n",
			"role.yaml: ClusterRole manager-role: update of widgets.example.com/finalizers in a, #5 update widgets.example.com/finalizers a/w",
		},
		"events": {
			"leader_election_role.yaml", "  - create\n  - patch\n", "  - create\n",
			"leader_election_role.yaml: Role leader-election-role: patch of events in system, #12 patch events system/e",
		},
		"leases": {
			"leader_election_role.yaml", "  - leases\n  verbs:\n  - get\n  - list\n  - watch\n  - create\n  - update\n", "  - leases\n  verbs:\n  - get\n",
			"leader_election_role.yaml: Role leader-election-role: create, update of leases.coordination.k8s.io in system, " +
				"#9 create leases.coordination.k8s.io system/*, #10 update leases.coordination.k8s.io system/id",
		},
		"list and watch": {
			"role.yaml", "  - widgets\n  verbs:\n  - create\n  - delete\n  - get\n  - list\n  - patch\n  - update\n  - watch\n", "  - widgets\n  verbs:\n  - update\n",
			"role.yaml: ClusterRole manager-role: list, watch of widgets.example.com in , #2 list widgets.example.com, #3 watch widgets.example.com",
		},
		"the group": {
			"role.yaml", "  - apps\n", "  - extensions\n",
			"role.yaml: ClusterRole manager-role: create of deployments.apps in a, #7 create deployments.apps a/*",
		},
	} {
		t.Run(name, func(t *testing.T) {
			text, err := readText(configRBAC(t), test.file)
			require.NoError(t, err)
			require.Contains(t, text, test.old)
			fsys := with(t, configRBAC(t), map[string]string{test.file: strings.Replace(text, test.old, test.new, 1)})
			require.Equal(t, []string{test.want}, missingTexts(check(t, operator(), fsys, CheckOptions{Client: "manager"})))
		})
	}
}

const policyHead = "apiVersion: rbac.authorization.k8s.io/v1\nkind: "

// bound returns a ClusterRole with rules, bound by a ClusterRoleBinding to user ann.
func bound(rules string) string {
	return policyHead + "ClusterRole\nmetadata: {name: r}\nrules: " + rules + "\n---\n" +
		policyHead + "ClusterRoleBinding\nmetadata: {name: b}\nroleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: r}\n" +
		"subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: ann}]\n"
}

// boundRole is like bound, with a Role and a RoleBinding in namespaces.
func boundRole(roleNamespace, bindingNamespace, rules string) string {
	text := strings.NewReplacer(
		"ClusterRole\n", "Role\n", "ClusterRoleBinding\n", "RoleBinding\n", "kind: ClusterRole,", "kind: Role,",
		"{name: r}", `{name: r, namespace: "`+roleNamespace+`"}`, "{name: b}", `{name: b, namespace: "`+bindingNamespace+`"}`,
	).Replace(bound(rules))
	return text
}

// ann returns a report of accesses of user ann.
func ann(accesses ...Access) Report {
	for i := range accesses {
		accesses[i].User, accesses[i].First = "ann", uint64(i+1)
	}
	return Report{Accesses: accesses}
}

func pods(verb, namespace string, names ...string) Access {
	return Access{Verb: verb, Resource: "pods", Namespace: namespace, Names: names}
}

func TestCheckRules(t *testing.T) {
	many := pods("get", "ns", "a", "b")
	many.MoreNames = true
	path := Access{Verb: "get", Path: "/metrics"}
	log := Access{Verb: "get", Resource: "pods", Subresource: "log", Namespace: "ns", Names: []string{"a"}}
	for name, test := range map[string]struct {
		manifests string
		accesses  []Access
		missing   []string
		unused    []string
	}{
		"a name that is not granted": {
			bound(`[{apiGroups: [""], resources: [pods], verbs: [get], resourceNames: [a, c]}]`), []Access{pods("get", "ns", "a", "b")},
			[]string{"rbac.yaml: ClusterRole r: get of pods named b in ns, get pods ns/b as ann"},
			[]string{"rbac.yaml: ClusterRole r: get of pods named c"},
		},
		"more names than a report has": {
			bound(`[{apiGroups: [""], resources: [pods], verbs: [get], resourceNames: [a, b]}]`), []Access{many},
			[]string{"rbac.yaml: ClusterRole r: get of pods in ns, #1 get pods ns/a as ann"}, nil,
		},
		"a list is not for names": {
			bound(`[{apiGroups: [""], resources: [pods], verbs: [list], resourceNames: [a]}]`), []Access{pods("list", "ns", "")},
			[]string{"rbac.yaml: ClusterRole r: list of pods in ns, #1 list pods ns/* as ann"},
			[]string{"rbac.yaml: ClusterRole r: list of pods named a"},
		},
		"a list that a field selector restricts": {
			bound(`[{apiGroups: [""], resources: [pods], verbs: [list], resourceNames: [a]}]`), []Access{pods("list", "ns", "a")}, nil, nil,
		},
		"a subresource is not its resource": {
			bound(`[{apiGroups: [""], resources: [pods], verbs: [get]}]`), []Access{log},
			[]string{"rbac.yaml: ClusterRole r: get of pods/log in ns, #1 get pods/log ns/a as ann"},
			[]string{"rbac.yaml: ClusterRole r: get of pods"},
		},
		"a Role in another namespace": {
			boundRole("m", "m", `[{apiGroups: [""], resources: [pods], verbs: [get]}]`), []Access{pods("get", "ns", "a")},
			[]string{": Role: get of pods in ns, #1 get pods ns/a as ann"},
			[]string{"rbac.yaml: Role m/r: get of pods"},
		},
		"a Role for all namespaces": {
			boundRole("ns", "ns", `[{apiGroups: [""], resources: [pods], verbs: [get, list]}]`), []Access{pods("get", "ns", "a"), pods("list", "", "")},
			[]string{": ClusterRole: list of pods in , #2 list pods as ann"},
			[]string{"rbac.yaml: Role ns/r: list of pods"},
		},
		"a Role without a namespace": {
			boundRole("", "", `[{apiGroups: [""], resources: [pods], verbs: [get]}]`), []Access{pods("get", "ns", "a"), pods("get", "m", "a")}, nil, nil,
		},
		"a binding in the namespace of the Role": {
			boundRole("ns", "", `[{apiGroups: [""], resources: [pods], verbs: [get]}]`), []Access{pods("get", "ns", "a"), pods("get", "m", "a")},
			[]string{": Role: get of pods in m, #2 get pods m/a as ann"}, nil,
		},
		"a Role does not have what is in no namespace": {
			boundRole("", "", `[{apiGroups: [""], resources: [nodes], verbs: [get]}]`), []Access{{Verb: "get", Resource: "nodes", Names: []string{"a"}}},
			[]string{": ClusterRole: get of nodes in , #1 get nodes a as ann"},
			[]string{"rbac.yaml: Role r: get of nodes"},
		},
		"a Namespace by a Role in it": {
			boundRole("ns", "ns", `[{apiGroups: [""], resources: [namespaces], verbs: [get]}]`),
			[]Access{{Verb: "get", Resource: "namespaces", Namespace: "ns", Names: []string{"ns"}}}, nil, nil,
		},
		"a ClusterRole in one namespace": {
			strings.NewReplacer("ClusterRoleBinding\nmetadata: {name: b}", "RoleBinding\nmetadata: {name: b, namespace: ns}").Replace(bound(`[{apiGroups: [""], resources: [pods], verbs: [get]}]`)),
			[]Access{pods("get", "ns", "a"), pods("get", "m", "a")},
			[]string{": Role: get of pods in m, #2 get pods m/a as ann"}, nil,
		},
		"paths": {
			bound(`[{nonResourceURLs: [/met*, /logs], verbs: [get]}]`), []Access{path, {Verb: "put", Path: "/metrics"}},
			[]string{"rbac.yaml: ClusterRole r: put of /metrics in , #2 put /metrics as ann"},
			[]string{"rbac.yaml: ClusterRole r: get of /logs"},
		},
		"wildcards that something else would do for": {
			bound(`[{apiGroups: ["*"], resources: [pods, services], verbs: ["*"]}]`), []Access{pods("get", "ns", "a"), pods("list", "", "")}, nil,
			[]string{
				"rbac.yaml: ClusterRole r: * of pods.*: used are get, list of pods",
				"rbac.yaml: ClusterRole r: * of services.*",
			},
		},
		"a wildcard for subresources": {
			bound(`[{apiGroups: [""], resources: ["*/log"], verbs: [get]}]`), []Access{log}, nil, nil,
		},
		"a watch uses list": {
			bound(`[{apiGroups: [""], resources: [pods], verbs: [get, list, watch]}]`), []Access{pods("watch", "", "")}, nil,
			[]string{"rbac.yaml: ClusterRole r: get of pods"},
		},
		"finalizers of owners": {
			bound(`[{apiGroups: [""], resources: [pods, pods/finalizers, pods/status], verbs: [update]}]`), []Access{pods("update", "ns", "a")}, nil,
			[]string{"rbac.yaml: ClusterRole r: update of pods/status"},
		},
		"what everyone may do": {
			bound(`[{apiGroups: [""], resources: [pods], verbs: [get]}]`),
			[]Access{
				pods("get", "ns", "a"), {Verb: "get", Path: "/openapi/v3"},
				{Verb: "create", APIGroup: "authorization.k8s.io", Resource: "selfsubjectrulesreviews", Names: []string{""}},
			}, nil, nil,
		},
		"requests that differ by namespace": {
			bound(`[{apiGroups: [""], resources: [services], verbs: [get]}]`), []Access{pods("get", "ns", "a"), pods("list", "m", ""), pods("get", "m", "b")},
			[]string{"rbac.yaml: ClusterRole r: get, list of pods in m,ns, #1 get pods ns/a as ann, #2 list pods m/* as ann, #3 get pods m/b as ann"},
			[]string{"rbac.yaml: ClusterRole r: get of services"},
		},
		"resources with the same verbs": {
			bound(`[{apiGroups: [""], resources: [services], verbs: [get]}]`),
			[]Access{pods("get", "ns", "a"), {Verb: "get", Resource: "services", Namespace: "ns", Names: []string{"s"}}, {Verb: "get", Resource: "configmaps", Namespace: "ns", Names: []string{"c"}}},
			[]string{"rbac.yaml: ClusterRole r: get of configmaps, pods in ns, #1 get pods ns/a as ann, #3 get configmaps ns/c as ann"}, nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			result := check(t, ann(test.accesses...), file(test.manifests), CheckOptions{Client: "ann"})
			require.Equal(t, test.missing, missingTexts(result))
			require.Equal(t, test.unused, unusedTexts(result))
		})
	}
}

// TestCheckGranting compares writes of roles and bindings, which need the permission or what they
// grant.
func TestCheckGranting(t *testing.T) {
	escalate := Access{
		Verb: "escalate", APIGroup: rbacv1.GroupName, Resource: "roles", Namespace: "ns", Names: []string{"r"},
		Grants: []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"pods", "services"}, Verbs: []string{"get"}}},
	}
	bind := escalate
	bind.Verb, bind.Resource = "bind", "clusterroles"
	for name, test := range map[string]struct {
		manifests string
		access    Access
		missing   []string
		or        []rbacv1.PolicyRule
		unused    []string
	}{
		"the permission": {
			bound(`[{apiGroups: [rbac.authorization.k8s.io], resources: [roles], verbs: [escalate]}]`), escalate, nil, nil, nil,
		},
		"the rules": {
			bound(`[{apiGroups: [""], resources: [pods, services, secrets], verbs: [get]}]`), escalate, nil, nil,
			[]string{"rbac.yaml: ClusterRole r: get of secrets"},
		},
		"some of the rules": {
			bound(`[{apiGroups: [""], resources: [pods], verbs: [get]}]`), escalate,
			[]string{"rbac.yaml: ClusterRole r: escalate of roles.rbac.authorization.k8s.io named r in ns, #1 escalate roles.rbac.authorization.k8s.io ns/r as ann"},
			[]rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"services"}, Verbs: []string{"get"}}}, nil,
		},
		"the rules in another namespace": {
			boundRole("m", "m", `[{apiGroups: [""], resources: [pods, services], verbs: [get]}]`), escalate,
			[]string{": Role: escalate of roles.rbac.authorization.k8s.io named r in ns, #1 escalate roles.rbac.authorization.k8s.io ns/r as ann"},
			nil, []string{"rbac.yaml: Role m/r: get of pods, services"},
		},
		"bind another role": {
			bound(`[{apiGroups: [rbac.authorization.k8s.io], resources: [clusterroles], verbs: [bind], resourceNames: [view]}]`), bind,
			[]string{"rbac.yaml: ClusterRole r: bind of clusterroles.rbac.authorization.k8s.io named r in ns, #1 bind clusterroles.rbac.authorization.k8s.io ns/r as ann"},
			nil, []string{"rbac.yaml: ClusterRole r: bind of clusterroles.rbac.authorization.k8s.io named view"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			result := check(t, ann(test.access), file(test.manifests), CheckOptions{})
			require.Equal(t, test.missing, missingTexts(result))
			require.Equal(t, test.unused, unusedTexts(result))
			if len(test.or) > 0 {
				require.Equal(t, test.or, result.Missing[0].Or)
				require.Contains(t, result.String(), "or the rules that are granted, which would allow it as well:\n\n- apiGroups:\n  - \"\"\n  resources:\n  - services\n  verbs:\n  - get\n")
			}
		})
	}
}

func TestCheckAggregation(t *testing.T) {
	manifests := policyHead + `ClusterRole
metadata: {name: all}
aggregationRule: {clusterRoleSelectors: [{matchLabels: {of: all}}]}
rules: [{apiGroups: [""], resources: [secrets], verbs: [get]}]
---
` + policyHead + `ClusterRole
metadata: {name: part, labels: {of: all, rbac.authorization.k8s.io/aggregate-to-view: "true"}}
rules: [{apiGroups: [""], resources: [pods], verbs: [get]}, {apiGroups: [example.com], resources: [widgets], verbs: [get]}]
---
` + policyHead + `ClusterRole
metadata: {name: loop, labels: {of: all}}
aggregationRule: {clusterRoleSelectors: [{matchLabels: {of: all}}]}
---
`
	binding := func(role string) string {
		return policyHead + "ClusterRoleBinding\nmetadata: {name: b}\nroleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: " + role + "}\n" +
			"subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: ann}]\n"
	}
	secrets := Access{Verb: "get", Resource: "secrets", Namespace: "ns", Names: []string{"s"}}
	widgets := Access{Verb: "get", APIGroup: "example.com", Resource: "widgets", Namespace: "ns", Names: []string{"w"}}

	result := check(t, ann(pods("get", "ns", "a"), secrets), file(manifests+binding("all")), CheckOptions{})
	require.Equal(t, []string{"rbac.yaml: ClusterRole part: get of secrets in ns, #2 get secrets ns/s as ann"}, missingTexts(result))
	require.Equal(t, []string{"rbac.yaml: ClusterRole part: get of widgets.example.com"}, unusedTexts(result))

	result = check(t, ann(pods("list", "ns", ""), widgets), file(manifests+binding("view")), CheckOptions{})
	require.Empty(t, result.Missing, "view has its own rules, and those of a role that aggregates to it")
	require.Equal(t, []string{"rbac.yaml: ClusterRole part: get of pods"}, unusedTexts(result))

	result = check(t, ann(secrets), file(bound("[]")+"---\n"+strings.Replace(binding("view"), "{name: b}", "{name: c}", 1)), CheckOptions{})
	require.Equal(t, []string{"rbac.yaml: ClusterRole r: get of secrets in ns, #1 get secrets ns/s as ann"}, missingTexts(result))
	require.Equal(t, []string{"rbac.yaml: ClusterRoleBinding c: ClusterRole view"}, unusedTexts(result))

	result = check(t, ann(secrets), file(binding("cluster-admin")), CheckOptions{})
	require.Empty(t, result.Missing)
	require.Equal(t, []string{"rbac.yaml: ClusterRole cluster-admin: * of *.*: used are get of secrets"}, unusedTexts(result))
}

func TestCheckSubject(t *testing.T) {
	rules := `[{apiGroups: [""], resources: [pods], verbs: [get]}]`
	to := func(subjects string) string {
		return strings.Replace(bound(rules), "{apiGroup: rbac.authorization.k8s.io, kind: User, name: ann}", subjects, 1)
	}
	const two = "{kind: ServiceAccount, namespace: ns, name: a}, {kind: User, name: bob}"
	for name, test := range map[string]struct {
		manifests string
		opts      CheckOptions
		want, err string
	}{
		"the only one":                    {to("{kind: ServiceAccount, namespace: ns, name: a}"), CheckOptions{Client: "manager"}, "ServiceAccount ns/a", ""},
		"the only one, without namespace": {to("{kind: ServiceAccount, name: a}, {kind: ServiceAccount, namespace: ns, name: a}"), CheckOptions{}, "ServiceAccount ns/a", ""},
		"a group":                         {to("{kind: Group, name: team}"), CheckOptions{}, "Group team", ""},
		"the client":                      {to(two), CheckOptions{Client: "bob"}, "User bob", ""},
		"the client, by namespace":        {to(two), CheckOptions{Client: "ns/a"}, "ServiceAccount ns/a", ""},
		"the client, by user name":        {to("{kind: ServiceAccount, name: a}, {kind: User, name: bob}"), CheckOptions{Client: "system:serviceaccount:ns:a"}, "ServiceAccount a", ""},
		"another client, by namespace":    {to(two), CheckOptions{Client: "other/a"}, "", "which subject is the client?"},
		"a service account of the manifests": {
			to(two) + "---\n{apiVersion: v1, kind: ServiceAccount, metadata: {name: a, namespace: ns}}", CheckOptions{Client: "manager"}, "ServiceAccount ns/a", "",
		},
		"no bindings":             {policyHead + "ClusterRole\nmetadata: {name: r}\nrules: " + rules, CheckOptions{}, "all roles", ""},
		"several":                 {to(two), CheckOptions{Client: "manager"}, "", "which subject is the client? The manifests bind roles to ServiceAccount ns/a, User bob"},
		"bindings without any":    {to(""), CheckOptions{}, "", "the bindings of the manifests have no subjects"},
		"by name":                 {to(two), CheckOptions{Subject: "a"}, "ServiceAccount ns/a", ""},
		"by namespace":            {to(two), CheckOptions{Subject: "ns/a"}, "ServiceAccount ns/a", ""},
		"by user name":            {to(two), CheckOptions{Subject: "system:serviceaccount:ns:a"}, "ServiceAccount ns/a", ""},
		"a user that is one":      {to("{kind: User, name: \"system:serviceaccount:ns:a\"}, {kind: User, name: bob}"), CheckOptions{Subject: "ns/a"}, "ServiceAccount ns/a", ""},
		"by group of all":         {to("{kind: Group, name: \"system:serviceaccounts:ns\"}"), CheckOptions{Subject: "ns/other"}, "ServiceAccount ns/other", ""},
		"by group of the report":  {to("{kind: Group, name: team}, {kind: User, name: bob}"), CheckOptions{Subject: "cleo"}, "User cleo", ""},
		"unknown":                 {to(two), CheckOptions{Subject: "ns/b"}, "", "the manifests bind no role to ServiceAccount ns/b, but to ServiceAccount ns/a, User bob"},
		"unknown user":            {to(two), CheckOptions{Subject: "eve"}, "", "the manifests bind no role to User eve, but to"},
		"unknown, and no binding": {"", CheckOptions{Subject: "eve"}, "", "the manifests bind no role to User eve or any other subject"},
	} {
		t.Run(name, func(t *testing.T) {
			r := ann(pods("get", "ns", "a"))
			r.Accesses[0].User, r.Accesses[0].Groups, r.Accesses[0].UserAgent = "cleo", []string{"team"}, "manager/1"
			opts := test.opts
			if opts.Client != "" {
				r.Accesses[0].UserAgent = opts.Client
			}
			result, err := Check(r, read(t, file(test.manifests)), opts)
			if test.err != "" {
				require.ErrorContains(t, err, test.err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, test.want, result.Subject)
			require.Empty(t, result.Missing)
			require.Empty(t, result.Unused)
		})
	}
	_, err := Check(Report{}, nil, CheckOptions{})
	require.Error(t, err)
}

func TestCheckNamespace(t *testing.T) {
	manifests := file(boundRole("", "", `[{apiGroups: [""], resources: [pods], verbs: [get]}]`))
	r := ann(pods("get", "ns", "a"), pods("get", "m", "a"))

	result := check(t, r, manifests, CheckOptions{})
	require.Empty(t, result.Missing)
	require.Equal(t, []string{"rbac.yaml: Role r has no namespace, and allows requests in several: m, ns"}, result.Notes)
	require.Contains(t, result.String(), "Note:\n\nrbac.yaml: Role r has no namespace")

	result = check(t, r, manifests, CheckOptions{Namespace: "ns"})
	require.Equal(t, []string{": Role: get of pods in m, #2 get pods m/a as ann"}, missingTexts(result))
	require.Contains(t, result.String(), "add to a new Role in namespace m, with a RoleBinding:\n")
	require.Empty(t, result.Notes)
}

func TestCheckMissingRole(t *testing.T) {
	manifests := file(strings.Replace(bound("[]"), "kind: ClusterRole, name: r", "kind: ClusterRole, name: other", 1))
	result := check(t, ann(pods("get", "ns", "a"), pods("get", "m", "a"), pods("get", "o", "a"), pods("get", "p", "a")), manifests, CheckOptions{})
	require.Equal(t, []string{"rbac.yaml: ClusterRoleBinding b refers to ClusterRole other, which does not exist"}, result.Notes)
	require.Len(t, result.Missing, 1, "more than three namespaces have no roles of their own")
	require.Equal(t, "ClusterRole", result.Missing[0].Role)
	require.Contains(t, result.String(), "add to a new ClusterRole, with a binding:\n")
}

// Manifests of another directory have no roles.
func TestCheckWithoutRoles(t *testing.T) {
	result := check(t, ann(pods("get", "ns", "a")), file(""), CheckOptions{})
	require.Equal(t, []string{": Role: get of pods in ns, #1 get pods ns/a as ann"}, missingTexts(result))
	require.Equal(t, []string{"the manifests have no Role and no ClusterRole"}, result.Notes)
}

func TestCheckLocate(t *testing.T) {
	opts := CheckOptions{Locate: func(r Request) (uint64, string) {
		if r.Name == "b" {
			return 7, "GET /api/v1/namespaces/ns/pods/b"
		}
		return 0, ""
	}}
	manifests := file(bound(`[{apiGroups: [""], resources: [pods], verbs: [get], resourceNames: [a]}]`))
	result := check(t, ann(pods("get", "ns", "a", "b"), pods("update", "ns", "c")), manifests, opts)
	require.Equal(t, []string{
		"rbac.yaml: ClusterRole r: update of pods in ns, #2 update pods ns/c as ann",
		"rbac.yaml: ClusterRole r: get of pods named b in ns, #7 GET /api/v1/namespaces/ns/pods/b (get) as ann",
	}, missingTexts(result))
}

func TestResultText(t *testing.T) {
	result := check(t, ann(pods("get", "ns", "a")), file(bound(`[{apiGroups: [""], resources: [pods], verbs: [get]}]`)), CheckOptions{})
	require.Equal(t, "Nothing is missing or unused, for User ann.\n", result.String())

	result = check(t, ann(pods("get", "a", "x"), pods("get", "b", "x"), pods("get", "c", "x"), pods("get", "d", "x"), pods("get", "e", "x"), pods("get", "f", "x")),
		file(bound("[]")), CheckOptions{})
	require.Contains(t, result.String(), "first needed by #1 get pods a/x as ann\nthen by #2 get pods b/x as ann\nthen by #3 get pods c/x as ann\nthen by #4 get pods d/x as ann\nand by 2 more\n")

	secrets := Access{Verb: "get", Resource: "secrets", Namespace: "a", Names: []string{"s"}}
	result = check(t, operator(secrets), configRBAC(t), CheckOptions{Client: "manager"})
	require.True(t, strings.HasPrefix(result.String(), `Missing, for ServiceAccount system/controller-manager:

role.yaml: add to ClusterRole manager-role:

- apiGroups:
  - ""
  resources:
  - secrets
  verbs:
  - get

or, if controller-gen generates the file:

// +kubebuilder:rbac:groups="",resources=secrets,verbs=get

first needed by #13 get secrets a/s of manager/v0.0.0 as system:admin

Not used, of ServiceAccount system/controller-manager:

leader_election_role.yaml: Role leader-election-role: `), result.String())
}
