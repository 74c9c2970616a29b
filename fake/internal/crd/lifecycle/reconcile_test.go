package lifecycle

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// newCRD returns a canonical definition.
func newCRD(t *testing.T, plural, kind, group string) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	crd := &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: plural + "." + group},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: group, Scope: apiextensionsv1.ClusterScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: plural, Kind: kind},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: "v1", Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object"}},
			}},
		},
	}
	require.NoError(t, Canonicalize(crd))
	PrepareForCreate(crd)
	return crd
}

// TestReconcileIsIdempotent checks that the last state does not change any more, and that the
// argument is not changed.
func TestReconcileIsIdempotent(t *testing.T) {
	given := newCRD(t, "foos", "Foo", "a.k8s.io")
	given.Annotations = map[string]string{apiextensionsv1.KubeAPIApprovedAnnotation: "https://example.com/1"}
	before := given.DeepCopy()
	now := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	states := reconcileCRD(given, nil, now)
	require.Len(t, states, 3)
	require.Empty(t, cmp.Diff(before, given))
	last := states[2]
	for _, c := range last.Status.Conditions {
		require.Equal(t, now.Truncate(time.Second), c.LastTransitionTime.Time)
	}
	require.Empty(t, reconcileCRD(last, []*apiextensionsv1.CustomResourceDefinition{last}, now.Add(time.Hour)))
}

// TestInvalidCABundle checks that a definition that cannot be established does not change again,
// and is established when the caBundle becomes valid.
func TestInvalidCABundle(t *testing.T) {
	crd := newCRD(t, "foos", "Foo", "example.com")
	url := "https://localhost/x"
	crd.Spec.Conversion = &apiextensionsv1.CustomResourceConversion{Strategy: apiextensionsv1.WebhookConverter, Webhook: &apiextensionsv1.WebhookConversion{
		ClientConfig: &apiextensionsv1.WebhookClientConfig{URL: &url, CABundle: []byte("none")}, ConversionReviewVersions: []string{"v1"},
	}}
	states := reconcileCRD(crd, nil, time.Now())
	require.Len(t, states, 2)
	require.False(t, isEstablished(states[1]))
	require.Empty(t, reconcileCRD(states[1], nil, time.Now()))
	states[1].Spec.Conversion.Webhook.ClientConfig.CABundle = nil
	states = reconcileCRD(states[1], nil, time.Now())
	require.Len(t, states, 1)
	require.True(t, isEstablished(states[0]))
}

// TestConditionTransitionTime checks that lastTransitionTime changes only with the status.
func TestConditionTransitionTime(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	crd := MarkTerminating(newCRD(t, "foos", "Foo", "example.com"), now)
	at := func(crd *apiextensionsv1.CustomResourceDefinition) time.Time {
		return apihelpers.FindCRDCondition(crd, apiextensionsv1.Terminating).LastTransitionTime.Time
	}
	require.Equal(t, now, at(StartFinalizing(crd, now.Add(time.Minute))))
	require.Equal(t, now.Add(time.Minute), at(FinishFinalizing(crd, now.Add(time.Minute))))
}

func TestApproval(t *testing.T) {
	for annotation, want := range map[string]string{
		"":                        "MissingAnnotation",
		"yes":                     "InvalidAnnotation",
		"unapproved for now":      "UnapprovedAnnotation",
		"https://example.com/kep": "ApprovedAnnotation",
	} {
		crd := newCRD(t, "foos", "Foo", "kubernetes.io")
		crd.Annotations = map[string]string{apiextensionsv1.KubeAPIApprovedAnnotation: annotation}
		first := reconcileCRD(crd, nil, time.Now())[0]
		got := apihelpers.FindCRDCondition(first, apiextensionsv1.KubernetesAPIApprovalPolicyConformant)
		require.Equal(t, want, got.Reason)
		require.Equal(t, want == "ApprovedAnnotation", got.Status == apiextensionsv1.ConditionTrue)
	}
}

// TestNonStructural has a definition that only older servers accepted.
func TestNonStructural(t *testing.T) {
	crd := newCRD(t, "foos", "Foo", "example.com")
	crd.Spec.PreserveUnknownFields = true
	crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties = map[string]apiextensionsv1.JSONSchemaProps{"a": {}}
	states := reconcileCRD(crd, nil, time.Now())
	require.Len(t, states, 3) // names, structure, established
	got := apihelpers.FindCRDCondition(states[1], apiextensionsv1.NonStructuralSchema)
	require.Equal(t, "Violations", got.Reason)
	require.Equal(t, "[spec.preserveUnknownFields: Invalid value: true: must be false, "+
		"spec.versions[0].schema.openAPIV3Schema.properties[a].type: Required value: must not be empty for specified object fields]", got.Message)

	crd = states[2].DeepCopy()
	require.Empty(t, reconcileCRD(crd, nil, time.Now()))
	crd.Spec.PreserveUnknownFields = false
	crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties = nil
	states = reconcileCRD(crd, nil, time.Now())
	require.Len(t, states, 1)
	require.Nil(t, apihelpers.FindCRDCondition(states[0], apiextensionsv1.NonStructuralSchema))

	crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Items = &apiextensionsv1.JSONSchemaPropsOrArray{JSONSchemas: []apiextensionsv1.JSONSchemaProps{{Type: "string"}}}
	got = apihelpers.FindCRDCondition(reconcileCRD(crd, nil, time.Now())[0], apiextensionsv1.NonStructuralSchema)
	require.Equal(t, apiextensionsv1.ConditionUnknown, got.Status)
	require.Equal(t, "StructuralError", got.Reason)
	require.Contains(t, got.Message, "failed to check validation schema for version v1: ")
}

// TestNameConflicts requests names that another definition of the group has.
func TestNameConflicts(t *testing.T) {
	first := newCRD(t, "foos", "Foo", "example.com")
	first.Spec.Names.ShortNames = []string{"f", "ff"}
	first = reconcileCRD(first, nil, time.Now())[1]
	for name, test := range map[string]struct {
		setName         func(*apiextensionsv1.CustomResourceDefinitionNames)
		reason, message string
	}{
		"singular is a short name": {func(n *apiextensionsv1.CustomResourceDefinitionNames) { n.Singular = "f" }, "SingularConflict", `"f" is already in use`},
		"plural is a singular":     {func(n *apiextensionsv1.CustomResourceDefinitionNames) { n.Plural = "foo" }, "PluralConflict", `"foo" is already in use`},
		"short names": {func(n *apiextensionsv1.CustomResourceDefinitionNames) { n.ShortNames = []string{"b", "f", "ff"} },
			"ShortNamesConflict", `["f" is already in use, "ff" is already in use]`},
		"kind is a list kind": {func(n *apiextensionsv1.CustomResourceDefinitionNames) { n.Kind = "FooList" }, "KindConflict", `"FooList" is already in use`},
		"list kind is a kind": {func(n *apiextensionsv1.CustomResourceDefinitionNames) { n.ListKind = "Foo" }, "ListKindConflict", `"Foo" is already in use`},
	} {
		t.Run(name, func(t *testing.T) {
			second := newCRD(t, "bars", "Bar", "example.com")
			test.setName(&second.Spec.Names)
			states := reconcileCRD(second, []*apiextensionsv1.CustomResourceDefinition{first}, time.Now())
			require.Len(t, states, 1)
			got := apihelpers.FindCRDCondition(states[0], apiextensionsv1.NamesAccepted)
			require.Equal(t, []string{"False", test.reason, test.message}, []string{string(got.Status), got.Reason, got.Message})
			require.False(t, ServesRequests(states[0]))

			second.Spec.Group = "other.example.com"
			require.Len(t, reconcileCRD(second, []*apiextensionsv1.CustomResourceDefinition{first}, time.Now()), 2, "names of another group do not conflict")
		})
	}
}

// TestFreedNamesGoToFirstByName checks that names that become free go to the first definition in
// the order of names.
func TestFreedNamesGoToFirstByName(t *testing.T) {
	var waiting []*apiextensionsv1.CustomResourceDefinition
	for _, plural := range []string{"cs", "as", "bs"} {
		waiting = append(waiting, newCRD(t, plural, "Foo", "example.com"))
	}
	written := Reconcile(waiting, "gone.example.com", time.Now())
	require.Equal(t, []string{"as.example.com", "as.example.com", "bs.example.com", "cs.example.com"}, namesOf(written))
	require.True(t, isEstablished(written[1]))
	require.False(t, isEstablished(written[2]))
	require.Empty(t, Reconcile(waiting, "gone.another.example.com", time.Now()))
}

// namesOf returns the names of definitions.
func namesOf(all []*apiextensionsv1.CustomResourceDefinition) (names []string) {
	for _, crd := range all {
		names = append(names, crd.Name)
	}
	return names
}
