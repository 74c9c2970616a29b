package bootstrappolicy_test

import (
	"embed"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"example.com/fakeapi/fake/internal/rbac/bootstrappolicy"
)

// testdata has the files that tests read. They are embedded, because go test reuses the result of a
// test in another checkout only if the test opens no files of the module.
//
//go:embed testdata
var testdata embed.FS

// facts is the content of testdata/facts.yaml.
type facts struct {
	ClusterRoles        []roleFact               `json:"clusterRoles"`
	ClusterRoleBindings []bindingFact            `json:"clusterRoleBindings"`
	Roles               map[string][]roleFact    `json:"roles"`
	RoleBindings        map[string][]bindingFact `json:"roleBindings"`
}

type roleFact struct {
	Name       string              `json:"name"`
	Labels     map[string]string   `json:"labels"`
	Aggregates []map[string]string `json:"aggregates"`
	Rules      []rbacv1.PolicyRule `json:"rules"`
}

type bindingFact struct {
	Name     string   `json:"name"`
	RoleRef  string   `json:"roleRef"`
	Subjects []string `json:"subjects"`
}

func readFacts(t *testing.T) (f facts) {
	data, err := testdata.ReadFile("testdata/facts.yaml")
	require.NoError(t, err)
	require.NoError(t, yaml.UnmarshalStrict(data, &f))
	return f
}

func objectRule(groups, resources, verbs string, names ...string) rbacv1.PolicyRule {
	return rbacv1.PolicyRule{
		APIGroups: strings.Split(groups, " "), Resources: strings.Fields(resources), Verbs: strings.Fields(verbs), ResourceNames: names,
	}
}

const dra, certificates = "resource.k8s.io", "certificates.k8s.io"

// added returns the rules of ClusterRoles that the facts lack: those of features that are on by
// default since v1.35, v1.36 or v1.37.
func added() map[string][]rbacv1.PolicyRule {
	events := objectRule(" events.k8s.io", "events", "create patch update")
	return map[string][]rbacv1.PolicyRule{
		"system:node": {
			objectRule(certificates, "clustertrustbundles", "get list watch"),
			objectRule(certificates, "podcertificaterequests", "create get list watch"),
		},
		"system:kube-scheduler": {
			objectRule(dra, "resourceclaims/binding", "patch update"),
			objectRule(dra, "devicetaintrules", "get list watch"),
			objectRule(dra, "resourceclaims", "create delete"),
		},
		"system:cluster-trust-bundle-discovery":       {objectRule(certificates, "clustertrustbundles", "get list watch")},
		"system:controller:resource-claim-controller": {objectRule(dra, "resourceclaims/binding", "patch update")},
		"system:controller:device-taint-eviction-controller": {
			objectRule("", "pods", "delete get list watch"),
			objectRule("", "pods/status", "patch update"),
			objectRule(dra, "resourceclaims", "get list watch"),
			objectRule(dra, "resourceslices", "get list watch"),
			objectRule(dra, "deviceclasses", "get list watch"),
			objectRule(dra, "devicetaintrules", "get list watch"),
			objectRule(dra, "devicetaintrules/status", "patch update"),
			events,
		},
		"system:controller:kube-apiserver-serving-clustertrustbundle-publisher": {
			objectRule(certificates, "signers", "attest", "kubernetes.io/kube-apiserver-serving"),
			objectRule(certificates, "clustertrustbundles", "create delete list update watch"),
			events,
		},
		"system:controller:podcertificaterequestcleaner": {
			objectRule(certificates, "podcertificaterequests", "delete get list watch"),
		},
		"system:controller:storage-version-migrator-controller": {
			objectRule("*", "*", "list patch"),
			objectRule("apiextensions.k8s.io", "customresourcedefinitions", "get"),
			objectRule("apiextensions.k8s.io", "customresourcedefinitions/status", "patch"),
			objectRule("storagemigration.k8s.io", "storageversionmigrations/status", "update"),
		},
	}
}

// ruleSet orders rules, so that two lists can be compared as sets.
var ruleSet = cmp.Options{
	cmpopts.EquateEmpty(),
	cmpopts.SortSlices(func(a, b rbacv1.PolicyRule) bool { return a.String() < b.String() }),
}

func checkRole(t *testing.T, want roleFact, extra []rbacv1.PolicyRule, meta metav1.ObjectMeta, aggregation *rbacv1.AggregationRule, rules []rbacv1.PolicyRule) {
	t.Helper()
	require.Empty(t, cmp.Diff(slices.Concat(want.Rules, extra), rules, ruleSet), want.Name)
	var aggregates []map[string]string
	if aggregation != nil {
		for _, s := range aggregation.ClusterRoleSelectors {
			require.Empty(t, s.MatchExpressions)
			aggregates = append(aggregates, s.MatchLabels)
		}
	}
	require.Equal(t, want.Aggregates, aggregates, want.Name)
	checkMetadata(t, want.Labels, meta)
}

func checkMetadata(t *testing.T, labels map[string]string, meta metav1.ObjectMeta) {
	t.Helper()
	want := map[string]string{"kubernetes.io/bootstrapping": "rbac-defaults"}
	maps.Copy(want, labels)
	require.Equal(t, want, meta.Labels, meta.Name)
	require.Equal(t, map[string]string{"rbac.authorization.kubernetes.io/autoupdate": "true"}, meta.Annotations, meta.Name)
}

func TestClusterRoles(t *testing.T) {
	rest := added()
	all := map[string]roleFact{}
	for _, f := range readFacts(t).ClusterRoles {
		all[f.Name] = f
	}
	for _, r := range bootstrappolicy.ClusterRoles() {
		f, isKnown := all[r.Name]
		require.True(t, isKnown || rest[r.Name] != nil, r.Name)
		if !isKnown {
			f.Name = r.Name
		}
		checkRole(t, f, rest[r.Name], r.ObjectMeta, r.AggregationRule, r.Rules)
		delete(all, r.Name)
		delete(rest, r.Name)
	}
	require.Empty(t, all)
	require.Empty(t, rest)
}

func TestNamespaceRoles(t *testing.T) {
	all := readFacts(t).Roles
	count := 0
	for _, r := range bootstrappolicy.NamespaceRoles() {
		i := slices.IndexFunc(all[r.Namespace], func(f roleFact) bool { return f.Name == r.Name })
		require.GreaterOrEqual(t, i, 0, "%s/%s", r.Namespace, r.Name)
		checkRole(t, all[r.Namespace][i], nil, r.ObjectMeta, nil, r.Rules)
		count++
	}
	require.Equal(t, len(all["kube-system"])+len(all["kube-public"]), count)
}

// newBindingFact returns a binding in the form of the facts. It fails if the binding lacks
// defaults.
func newBindingFact(t *testing.T, meta metav1.ObjectMeta, ref rbacv1.RoleRef, subjects []rbacv1.Subject) bindingFact {
	t.Helper()
	checkMetadata(t, nil, meta)
	require.Equal(t, rbacv1.GroupName, ref.APIGroup)
	f := bindingFact{Name: meta.Name, RoleRef: ref.Kind + " " + ref.Name, Subjects: []string{}}
	for _, s := range subjects {
		if s.Kind == rbacv1.ServiceAccountKind {
			require.Empty(t, s.APIGroup)
			f.Subjects = append(f.Subjects, s.Kind+" "+s.Namespace+"/"+s.Name)
			continue
		}
		require.Equal(t, rbacv1.GroupName, s.APIGroup)
		f.Subjects = append(f.Subjects, s.Kind+" "+s.Name)
	}
	return f
}

func TestClusterRoleBindings(t *testing.T) {
	want := readFacts(t).ClusterRoleBindings
	for _, controller := range []string{
		"device-taint-eviction-controller", "kube-apiserver-serving-clustertrustbundle-publisher",
		"podcertificaterequestcleaner", "storage-version-migrator-controller",
	} {
		name := "system:controller:" + controller
		want = append(want, bindingFact{name, "ClusterRole " + name, []string{"ServiceAccount kube-system/" + controller}})
	}
	const discovery = "system:cluster-trust-bundle-discovery"
	want = append(want, bindingFact{discovery, "ClusterRole " + discovery, []string{"Group system:serviceaccounts"}})
	var got []bindingFact
	for _, b := range bootstrappolicy.ClusterRoleBindings() {
		got = append(got, newBindingFact(t, b.ObjectMeta, b.RoleRef, b.Subjects))
	}
	byName := cmpopts.SortSlices(func(a, b bindingFact) bool { return a.Name < b.Name })
	require.Empty(t, cmp.Diff(want, got, byName))
}

func TestNamespaceRoleBindings(t *testing.T) {
	got := map[string][]bindingFact{}
	for _, b := range bootstrappolicy.NamespaceRoleBindings() {
		got[b.Namespace] = append(got[b.Namespace], newBindingFact(t, b.ObjectMeta, b.RoleRef, b.Subjects))
	}
	byName := cmpopts.SortSlices(func(a, b bindingFact) bool { return a.Name < b.Name })
	require.Empty(t, cmp.Diff(readFacts(t).RoleBindings, got, byName))
}

// Every binding has its role, and every object a name of its own.
func TestPolicyIsComplete(t *testing.T) {
	p := bootstrappolicy.Shared()
	roles := map[string]bool{}
	for _, r := range p.ClusterRoles {
		require.False(t, roles[r.Name], r.Name)
		roles[r.Name] = true
		for _, rule := range r.Rules {
			for _, list := range [][]string{rule.Verbs, rule.APIGroups, rule.Resources, rule.ResourceNames, rule.NonResourceURLs} {
				require.True(t, slices.IsSorted(list), "%s: %v", r.Name, list)
			}
		}
	}
	for _, b := range p.ClusterRoleBindings {
		require.True(t, roles[b.RoleRef.Name], b.Name)
	}
	for _, r := range p.Roles {
		key := r.Namespace + "/" + r.Name
		require.False(t, roles[key], key)
		roles[key] = true
	}
	for _, b := range p.RoleBindings {
		require.True(t, roles[b.Namespace+"/"+b.RoleRef.Name], b.Name)
	}
	for aggregated, name := range bootstrappolicy.ClusterRolesToAggregate() {
		require.True(t, roles[aggregated] && roles[name], name)
	}
	for source, b := range bootstrappolicy.ClusterRoleBindingsToSplit() {
		require.True(t, roles[source] && roles[b.Name], b.Name)
	}
}
