package access

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

func TestReadManifests(t *testing.T) {
	m := read(t, os.DirFS("testdata/config"))
	var names []string
	for _, r := range m.roles {
		names = append(names, r.file+": "+r.String())
	}
	require.Equal(t, []string{
		"rbac/leader_election_role.yaml: Role leader-election-role",
		"rbac/metrics_auth_role.yaml: ClusterRole metrics-auth-role",
		"rbac/metrics_reader_role.yaml: ClusterRole metrics-reader",
		"rbac/role.yaml: ClusterRole manager-role",
		"rbac/widget_editor_role.yaml: ClusterRole widget-editor-role",
		"rbac/widget_viewer_role.yaml: ClusterRole widget-viewer-role",
	}, names)
	require.Len(t, m.bindings, 3)
	require.Equal(t, []account{{"system", "controller-manager"}}, m.accounts)
}

func TestReadManifestsForms(t *testing.T) {
	for name, fsys := range map[string]fs.FS{
		"documents": file(`
# a comment
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: a, namespace: ns}
rules: [{apiGroups: [""], resources: [pods], verbs: [get]}]
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: a}
---
- op: add
---
text
---
{apiVersion: v1, kind: [not, a, kind]}
---
{apiVersion: example.com/v1, kind: RoleList, items: [{metadata: {name: b}}]}
---
{apiVersion: example.com/v1, kind: ClusterServiceVersion, spec: 1}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: Other}
---
no: object
---
apiVersion: apps/v1
kind: Deployment
spec: {template: [of, another, type]}
`),
		"List": file(`
apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: ServiceAccount
  metadata: {name: a}
- apiVersion: rbac.authorization.k8s.io/v1
  kind: Role
  metadata: {name: a, namespace: ns}
  rules: [{apiGroups: [""], resources: [pods], verbs: [get]}]
`),
		"lists of one kind, JSON": fstest.MapFS{
			"deep/er/a.json": {Data: []byte(`{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"RoleList","items":[{"metadata":{"name":"a","namespace":"ns"},"rules":[{"apiGroups":[""],"resources":["pods"],"verbs":["get"]}]}]}`)},
			"b.yml":          {Data: []byte(`{"apiVersion":"v1","kind":"ServiceAccountList","items":[null,{"metadata":{"name":"a"}},{"apiVersion":"v1","kind":"Pod"}]}`)},
			".hidden.yaml":   {Data: []byte("}")},
			"notes.txt":      {Data: []byte("}")},
		},
		"the same twice": with(t, nil, map[string]string{
			"a.yaml": "apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {name: a, namespace: ns}\nrules: [{apiGroups: [\"\"], resources: [pods], verbs: [get]}]",
			"b.yaml": "apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {name: a, namespace: ns, labels: {some: label}}\nrules: [{apiGroups: [\"\"], resources: [pods], verbs: [get]}]\n---\n{apiVersion: v1, kind: ServiceAccount, metadata: {name: a}}",
		}),
	} {
		t.Run(name, func(t *testing.T) {
			m := read(t, fsys)
			require.Len(t, m.roles, 1)
			require.Equal(t, "Role ns/a", m.roles[0].String())
			require.Equal(t, "get of pods", describeRule(&m.roles[0].rules[0]))
			require.Equal(t, []account{{"", "a"}}, m.accounts)
		})
	}
}

func TestReadManifestsOfAnOperator(t *testing.T) {
	m := read(t, file(`
apiVersion: operators.coreos.com/v1alpha1
kind: ClusterServiceVersion
metadata: {name: widgets.v1.0.0}
spec:
  install:
    strategy: deployment
    spec:
      deployments: [{name: manager}]
      permissions:
      - serviceAccountName: manager
        rules: [{apiGroups: [""], resources: [pods], verbs: [get]}]
      clusterPermissions:
      - serviceAccountName: manager
        rules: [{apiGroups: [""], resources: [nodes], verbs: [get]}]
      - serviceAccountName: other
        rules: [{apiGroups: [""], resources: [nodes], verbs: [list]}]
`))
	report := ann(pods("get", "ns", "p"), Access{Verb: "get", Resource: "nodes", Names: []string{"a"}}, Access{Verb: "list", Resource: "nodes"})
	result, err := Check(report, m, CheckOptions{Subject: "manager"})
	require.NoError(t, err)
	require.Equal(t, []string{"rbac.yaml: ClusterRole widgets.v1.0.0-0: list of nodes in , #3 list nodes as ann"}, missingTexts(result))
	require.Empty(t, result.Unused)
}

func TestReadManifestsTakesBracesInAnnotations(t *testing.T) {
	m := read(t, file(`
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: a, annotations: {template: "{{ .Name }}"}}
`))
	require.Len(t, m.roles, 1)
}

func TestReadManifestsErrors(t *testing.T) {
	role := func(more string) string {
		return "apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\n" + more
	}
	for name, test := range map[string]struct{ text, want string }{
		"syntax":                {"a: b\n---\na: [", "rbac.yaml: document 2: "},
		"unknown field":         {role("metadata: {name: a}\nrules: [{resouces: [pods]}]"), `rbac.yaml: document 1: Role: unknown field "rules[0].resouces"`},
		"wrong type":            {role("metadata: {name: a}\nrules: pods"), "rbac.yaml: document 1: Role: "},
		"aggregated Role":       {role("metadata: {name: a}\naggregationRule: {}"), `unknown field "aggregationRule"`},
		"no name":               {role("rules: []"), "rbac.yaml: document 1: Role: metadata.name: Required value"},
		"no name of a binding":  {"apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\n", "RoleBinding: metadata.name: Required value"},
		"in a list":             {"apiVersion: v1\nkind: List\nitems: [{apiVersion: v1, kind: Pod}, {apiVersion: rbac.authorization.k8s.io/v1, kind: Role}]", "rbac.yaml: document 1: items[1]: Role: metadata.name"},
		"item of another type":  {"apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleList\nitems: [1]", "rbac.yaml: document 1: items[0]: "},
		"old version":           {strings.Replace(role("metadata: {name: a}"), "/v1", "/v1beta1", 1), "the version rbac.authorization.k8s.io/v1beta1 is not served since Kubernetes v1.22"},
		"template that parses":  {role(`metadata: {name: "{{ .Release.Name }}"}`), "render the template first"},
		"template that doesn't": {"metadata:\n  name: {{ include \"x\" . }}\n", "render the template first"},
		"template in a binding": {"apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata: {name: a}\nsubjects: [{kind: ServiceAccount, name: '{{ .Values.name }}'}]", "render the template first"},
		"two that differ":       {role("metadata: {name: a}\n---\n" + role("metadata: {name: a}\nrules: [{verbs: [get]}]")), "rbac.yaml: document 2: Role: a differs from that in rbac.yaml"},
		"two bindings": {
			"apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata: {name: a, namespace: ns}\n---\napiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata: {name: a, namespace: ns}\nroleRef: {kind: Role, name: x}",
			"RoleBinding: ns/a differs from that in rbac.yaml",
		},
		"permissions":     {"apiVersion: operators.coreos.com/v1alpha1\nkind: ClusterServiceVersion\nspec: 1", "rbac.yaml: document 1: ClusterServiceVersion: "},
		"service account": {"apiVersion: v1\nkind: ServiceAccount\nmetadata: 1", "rbac.yaml: document 1: ServiceAccount: "},
	} {
		t.Run(name, func(t *testing.T) {
			m, err := ReadManifests(file(test.text))
			require.Nil(t, m)
			require.ErrorContains(t, err, test.want)
			require.ErrorContains(t, err, "access: manifests: rbac.yaml")
		})
	}

	_, err := ReadManifests(nil)
	require.Error(t, err)
	_, err = ReadManifests(os.DirFS("testdata/missing"))
	require.True(t, errors.Is(err, fs.ErrNotExist), err)
}

func TestReadManifestsNamesTheFileSystem(t *testing.T) {
	_, err := ReadManifests(named{file("a: [")})
	require.ErrorContains(t, err, "access: manifests: the manifests of a test: rbac.yaml: document 1: ")
}

func TestReadManifestsNamesTheDirectory(t *testing.T) {
	_, err := ReadManifests(os.DirFS("testdata/config/absent"))
	require.EqualError(t, err, "access: manifests: stat testdata/config/absent: no such file or directory")
	require.ErrorIs(t, err, fs.ErrNotExist)
}

type named struct{ fs.FS }

func (named) String() string { return "the manifests of a test" }

// FuzzReadManifests checks that manifests are read or are an error, and that what is read can be
// compared.
func FuzzReadManifests(f *testing.F) {
	for _, name := range []string{"role.yaml", "role_binding.yaml", "leader_election_role.yaml", "service_account.yaml", "kustomization.yaml"} {
		text, err := os.ReadFile("testdata/config/rbac/" + name)
		require.NoError(f, err)
		f.Add(text)
	}
	f.Add([]byte("apiVersion: v1\nkind: List\nitems: [{apiVersion: v1, kind: List, items: [1]}]"))
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := ReadManifests(fstest.MapFS{"a.yaml": {Data: text}})
		if err != nil {
			require.ErrorContains(t, err, "a.yaml")
			return
		}
		result, err := Check(operator(), m, CheckOptions{Client: "manager"})
		if err == nil {
			require.NotEmpty(t, result.String())
		}
	})
}
