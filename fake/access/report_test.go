package access_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"

	"example.com/fakeapi/fake/access"
)

// The client is a user, a service account, or the beginning of a user agent.
func TestOf(t *testing.T) {
	const ann, operator = "ann", "system:serviceaccount:shop:operator"
	for _, test := range []struct {
		client, user, agent string
		want                bool
	}{
		{"", ann, "", true},
		{"ann", ann, "kubectl", true},
		{"an", ann, "", false},
		{"operator", operator, "", true},
		{"shop/operator", operator, "", true},
		{operator, operator, "", true},
		{"shop:operator", operator, "", false},
		{"other/operator", operator, "", false},
		{"shop", operator, "", false},
		{"manager", ann, "manager", true},
		{"manager", ann, "manager/v1 (linux/amd64)", true},
		{"manager", ann, "manager (linux/amd64)", true},
		{"manager/v1", ann, "manager/v1/leader-election", true},
		{"manager", ann, "manager-2/v1", false},
		{"manager", ann, "a manager", false},
		{"v1", ann, "manager/v1", false},
	} {
		one := access.Access{User: test.user, UserAgent: test.agent, Verb: "get", Path: "/api"}
		want := access.Report{Accesses: []access.Access{}, Dropped: 3}
		if test.want {
			want.Accesses = append(want.Accesses, one)
		}
		got := access.Report{Accesses: []access.Access{one}, Dropped: 3}.Of(test.client)
		require.Empty(t, cmp.Diff(want, got), "%+v", test)
	}
}

// aReport is a report with all fields.
func aReport() access.Report {
	const agent = "manager/v1 (linux/amd64)"
	return access.Report{
		Accesses: []access.Access{
			{User: "ann", Verb: "get", Path: "/api\x1b[2J", Allowed: 1},
			{User: "bob", UserAgent: agent, Verb: "get", Path: "/version", Allowed: 2, First: 4},
			{User: "bob", UserAgent: agent, Verb: "create", Resource: "pods", Namespace: "shop", Names: []string{""}, Allowed: 1, First: 5, Reason: "by x"},
			{User: "bob", UserAgent: agent, Verb: "get", Resource: "pods", Namespace: "shop", Names: []string{"a", "b"}, Allowed: 1, First: 9, Reason: "by x"},
			{User: "bob", UserAgent: agent, Verb: "list", Resource: "pods", Namespace: "shop", Names: []string{""}, Allowed: 1, First: 2, Reason: "by x"},
			{User: "bob", UserAgent: agent, Verb: "update", Resource: "pods", Namespace: "shop", Names: []string{"a", "b"}, Allowed: 1, First: 3, Reason: "by x"},
			{User: "bob", UserAgent: agent, Verb: "watch", Resource: "pods", Namespace: "shop", Names: []string{"", "a"}, Allowed: 1, First: 6, Reason: "by x"},
			{User: "bob", UserAgent: agent, Verb: "update", Resource: "pods", Subresource: "status", Names: []string{"a"}, Allowed: 1, Denied: 4, First: 7, FirstDenied: 8},
			{User: "bob", UserAgent: agent, Verb: "approve", APIGroup: "certificates.k8s.io", Resource: "signers", Names: []string{"1", "2", "3", "4"}, MoreNames: true, Denied: 1, First: 10, FirstDenied: 10},
			{User: "bob", UserAgent: agent, Verb: "patch", APIGroup: "certificates.k8s.io", Resource: "signers", Names: []string{"1", "2", "3", "4"}, Allowed: 1, First: 11},
			{
				User: "bob", UserAgent: agent, Groups: []string{"team"}, Verb: "bind", APIGroup: "rbac.authorization.k8s.io", Resource: "clusterroles",
				Names: []string{"view"}, Allowed: 1, First: 12,
				Grants: []rbacv1.PolicyRule{{Verbs: []string{"get"}, NonResourceURLs: []string{"/"}}, {Verbs: []string{"list"}}},
			},
		},
		Dropped: 7,
	}
}

// Rows have the verbs of the same names. Denied ones are first.
func TestString(t *testing.T) {
	require.Equal(t, strings.TrimPrefix(`
user ann
  RESOURCE     NAMESPACE  NAMES  VERBS  ALLOWED  DENIED  FIRST
  /api\x1b[2J  -          -      get    1        0       -

user bob, user agent manager/v1 (linux/amd64)
  RESOURCE                                NAMESPACE  NAMES         VERBS           ALLOWED  DENIED  FIRST  REASON
! pods/status                             -          a             update          1        4       #8     -
! signers.certificates.k8s.io             -          over 4 names  approve         0        1       #10    -
  /version                                -          -             get             2        0       #4     -
  pods                                    shop       -             list,create     2        0       #2     by x
  pods                                    shop       a,b           get,update      2        0       #3     by x
  pods                                    shop       -,a           watch           1        0       #6     by x
  signers.certificates.k8s.io             -          4 names       patch           1        0       #11    -
  clusterroles.rbac.authorization.k8s.io  -          view          bind (2 rules)  1        0       #12    -

7 requests are not in this report, because its size is limited.
`, "\n"), aReport().String())
	require.Empty(t, access.Report{}.String())
}

func TestJSON(t *testing.T) {
	data, err := json.Marshal(aReport())
	require.NoError(t, err)
	var read access.Report
	require.NoError(t, json.Unmarshal(data, &read))
	require.Empty(t, cmp.Diff(aReport(), read))

	data, err = json.Marshal(access.Report{Accesses: aReport().Accesses[len(aReport().Accesses)-1:]})
	require.NoError(t, err)
	require.JSONEq(t, `{"accesses": [{
		"user": "bob", "groups": ["team"], "userAgent": "manager/v1 (linux/amd64)", "verb": "bind",
		"apiGroup": "rbac.authorization.k8s.io", "resource": "clusterroles", "names": ["view"], "allowed": 1, "first": 12,
		"grants": [{"verbs": ["get"], "nonResourceURLs": ["/"]}, {"verbs": ["list"]}]
	}]}`, string(data))
}
