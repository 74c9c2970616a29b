package rest

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/fake/internal/resource/builtin"
	"example.com/fakeapi/fake/internal/resource/validate/validatetest"
)

// TestValidateMetadataUpdate checks how often a cause is listed: a label is checked as that of a
// new object and as that of an updated one, a finalizer without a domain by the type alone.
func TestValidateMetadataUpdate(t *testing.T) {
	tests := map[string]struct {
		group, plural     string
		subresource       string
		obj, old          runtime.Object
		labels, finalizer int
	}{
		"both, once":        {"", "secrets", "", &corev1.Secret{}, &corev1.Secret{}, 4, 2},
		"a Pod":             {"", "pods", "", &corev1.Pod{}, &corev1.Pod{}, 4, 2},
		"a Namespace":       {"", "namespaces", "", &corev1.Namespace{}, &corev1.Namespace{}, 4, 2},
		"its status":        {"", "namespaces", "status", &corev1.Namespace{}, &corev1.Namespace{}, 3, 1},
		"as recorded":       {"", "configmaps", "", &corev1.ConfigMap{}, &corev1.ConfigMap{}, 3, 1},
		"as updated":        {"", "podtemplates", "", &corev1.PodTemplate{}, &corev1.PodTemplate{}, 3, 1},
		"a StatefulSet":     {"apps", "statefulsets", "", &appsv1.StatefulSet{}, &appsv1.StatefulSet{}, 3, 1},
		"a ReplicaSet":      {"apps", "replicasets", "", &appsv1.ReplicaSet{}, &appsv1.ReplicaSet{}, 3, 1},
		"a DaemonSet":       {"apps", "daemonsets", "", &appsv1.DaemonSet{}, &appsv1.DaemonSet{}, 3, 1},
		"as new":            {"", "limitranges", "", &corev1.LimitRange{}, &corev1.LimitRange{}, 3, 1},
		"not by the type":   {"", "events", "", &corev1.Event{}, &corev1.Event{}, 2, 0},
		"any finalizers":    {"policy", "poddisruptionbudgets", "", &policyv1.PodDisruptionBudget{}, &policyv1.PodDisruptionBudget{}, 2, 0},
		"a status":          {"apps", "statefulsets", "status", &appsv1.StatefulSet{}, &appsv1.StatefulSet{}, 3, 1},
		"a CSR":             {"certificates.k8s.io", "certificatesigningrequests", "", &certificatesv1.CertificateSigningRequest{}, &certificatesv1.CertificateSigningRequest{}, 4, 2},
		"a CSR approval":    {"certificates.k8s.io", "certificatesigningrequests", "approval", &certificatesv1.CertificateSigningRequest{}, &certificatesv1.CertificateSigningRequest{}, 4, 2},
		"a CSR status":      {"certificates.k8s.io", "certificatesigningrequests", "status", &certificatesv1.CertificateSigningRequest{}, &certificatesv1.CertificateSigningRequest{}, 4, 2},
		"a CronJob status":  {"batch", "cronjobs", "status", &batchv1.CronJob{}, &batchv1.CronJob{}, 2, 0},
		"a PDB status":      {"policy", "poddisruptionbudgets", "status", &policyv1.PodDisruptionBudget{}, &policyv1.PodDisruptionBudget{}, 2, 0},
		"events of a group": {"events.k8s.io", "events", "", &corev1.Event{}, &corev1.Event{}, 3, 1},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			res := builtin.Table().Lookup(test.group, "v1", test.plural)
			require.NotNil(t, res)
			for _, obj := range []runtime.Object{test.obj, test.old} {
				m := obj.(metav1.Object)
				m.SetNamespace("default")
				m.SetName("a")
				m.SetResourceVersion("1")
			}
			m := test.obj.(metav1.Object)
			m.SetLabels(map[string]string{"a": "b c"})
			m.SetFinalizers([]string{"mine"})
			err := ValidateUpdate(t.Context(), res, res.Subresource(test.subresource), test.obj, test.old)
			require.True(t, apierrors.IsInvalid(err), "%v", err)
			counts := map[string]int{}
			for _, cause := range err.(apierrors.APIStatus).Status().Details.Causes {
				counts[cause.Field]++
			}
			require.Equal(t, test.labels, counts["metadata.labels"])
			require.Equal(t, test.finalizer, counts["metadata.finalizers[0]"])
		})
	}
}

// Types that validate an update as a new object and as an updated one list the causes in this
// order.
func TestUpdateCauses(t *testing.T) {
	job := func(generation, spec string) *batchv1.Job {
		job := validatetest.Parse[batchv1.Job](t, `{metadata: {name: a, namespace: default, resourceVersion: "1", generation: `+generation+`},
			spec: {manualSelector: true, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}, `+spec+`}}`)
		builtin.Table().Lookup("batch", "v1", "jobs").SetDefaults(job)
		return job
	}
	csr := &certificatesv1.CertificateSigningRequest{ObjectMeta: metav1.ObjectMeta{Name: "a", ResourceVersion: "1"}}
	both, request := []string{"metadata.labels", "metadata.labels"}, []string{"spec.request", "spec.usages", "spec.signerName"}
	for name, c := range map[string]struct {
		group, plural, subresource string
		obj, old                   runtime.Object
		want                       []string // after those of the checks that all types have
	}{
		"a Job": {"batch", "jobs", "", job("2", "completions: 2, parallelism: -1"), job("1", "completions: 1"), []string{
			"metadata.labels", "spec.parallelism", "metadata.labels", "spec.parallelism", "spec.completions",
		}},
		"a request":                 {"certificates.k8s.io", "certificatesigningrequests", "", csr.DeepCopy(), csr, slices.Concat(both[:1], request, both[1:])},
		"the approval of a request": {"certificates.k8s.io", "certificatesigningrequests", "approval", csr.DeepCopy(), csr, slices.Concat(both[:1], request, both[1:])},
		"the status of a request":   {"certificates.k8s.io", "certificatesigningrequests", "status", csr.DeepCopy(), csr, slices.Concat(both[:1], request, both[1:])},
	} {
		t.Run(name, func(t *testing.T) {
			res := builtin.Table().Lookup(c.group, "v1", c.plural)
			resource.Accessor(c.obj).SetLabels(map[string]string{"a": "b c"})
			err := ValidateUpdate(t.Context(), res, res.Subresource(c.subresource), c.obj, c.old)
			require.True(t, apierrors.IsInvalid(err), "%v", err)
			var fields []string
			for _, cause := range err.(apierrors.APIStatus).Status().Details.Causes {
				fields = append(fields, cause.Field)
			}
			require.Equal(t, both, fields[:2])
			require.Equal(t, c.want, fields[2:])
		})
	}
}

// Metadata that isMetadataValid accepts has no errors, and new managers are among what it accepts.
func TestIsMetadataValid(t *testing.T) {
	entry := func(manager string, operation metav1.ManagedFieldsOperationType, subresource string) metav1.ManagedFieldsEntry {
		return metav1.ManagedFieldsEntry{Manager: manager, Operation: operation, Subresource: subresource, FieldsType: "FieldsV1", APIVersion: "v1"}
	}
	old := entry("a", "Update", "")
	for name, test := range map[string]struct {
		entries []metav1.ManagedFieldsEntry
		valid   bool
	}{
		"unchanged":           {[]metav1.ManagedFieldsEntry{old}, true},
		"none":                {nil, true},
		"another manager":     {[]metav1.ManagedFieldsEntry{old, entry("b", "Update", "")}, true},
		"another operation":   {[]metav1.ManagedFieldsEntry{old, entry("a", "Apply", "")}, true},
		"another subresource": {[]metav1.ManagedFieldsEntry{old, entry("a", "Update", "status")}, true},
		"no operation":        {[]metav1.ManagedFieldsEntry{old, entry("b", "", "")}, false},
		"unknown operation":   {[]metav1.ManagedFieldsEntry{old, entry("b", "Other", "")}, false},
		"long subresource":    {[]metav1.ManagedFieldsEntry{old, entry("b", "Update", strings.Repeat("s", 257))}, false},
		"long manager":        {[]metav1.ManagedFieldsEntry{entry(strings.Repeat("m", 129), "Update", "")}, false},
		"other fields":        {[]metav1.ManagedFieldsEntry{{Manager: "b", Operation: "Update", FieldsType: "FieldsV2"}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			for _, newObject := range []func() metav1.Object{
				func() metav1.Object { return &corev1.Secret{} },
				func() metav1.Object { return &unstructured.Unstructured{Object: map[string]any{}} },
			} {
				m, was := newObject(), newObject()
				for _, object := range []metav1.Object{m, was} {
					object.SetNamespace("default")
					object.SetName("a")
					object.SetResourceVersion("1")
					object.SetManagedFields([]metav1.ManagedFieldsEntry{old})
				}
				m.SetManagedFields(test.entries)
				require.Equal(t, test.valid, isMetadataValid(m, was))
				path := field.NewPath("metadata")
				errs := validation.ValidateObjectMetaAccessor(m, true, resource.ValidatePathSegmentName, path)
				errs = append(errs, validation.ValidateObjectMetaAccessorUpdate(m, was, path)...)
				require.Equal(t, test.valid, len(errs) == 0, "%v", errs)
			}
		})
	}
}

// The types that validate updated metadata as that of a new object validate a generateName by the
// rules of their names. All types validate it as a part of a path.
func TestUpdatedGenerateName(t *testing.T) {
	const path, dns = "may not contain '/'", "a lowercase RFC 1123 subdomain must consist of"
	for name, c := range map[string]struct {
		group, plural string
		generateName  string
		want          []string // parts of the causes
	}{
		"a Secret":                    {"", "secrets", "X", []string{dns}},
		"a Secret, valid":             {"", "secrets", "x-", nil},
		"a Secret, no part of a path": {"", "secrets", "a/b", []string{path, dns}},
		"a Role":                      {"rbac.authorization.k8s.io", "roles", "X:", nil},
		"a Deployment":                {"apps", "deployments", "X", nil},
	} {
		t.Run(name, func(t *testing.T) {
			res := builtin.Table().Lookup(c.group, "v1", c.plural)
			metadata := metav1.ObjectMeta{Name: "a", Namespace: "default", ResourceVersion: "1"}
			was := metav1.PartialObjectMetadata{ObjectMeta: metadata}
			m := *was.DeepCopy()
			m.GenerateName = c.generateName
			var got []string
			errs := validateMetadataUpdate(res, res.MetadataChecksOnUpdate, &m, &was)
			for _, err := range errs.All {
				require.Equal(t, "metadata.generateName", err.Field)
				got = append(got, err.Detail)
			}
			require.Len(t, got, len(c.want), "%v", got)
			for i, want := range c.want {
				require.Contains(t, got[i], want)
			}
		})
	}
}
