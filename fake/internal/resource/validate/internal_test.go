package validate

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Errors have values of internal types, which have no JSON tags. Those of apimachinery have tags.
func TestValuesOfInternalTypes(t *testing.T) {
	var root *Path
	p := root.Child("a")
	minAvailable := intstr.FromString("10%")
	budget := policyv1.PodDisruptionBudgetSpec{MinAvailable: &minAvailable, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"a": "<"}}}
	for _, test := range []struct {
		value any
		want  string
	}{
		{corev1.ServicePort{Protocol: corev1.ProtocolTCP, Port: 1}, `{"Name":"","Protocol":"TCP","AppProtocol":null,"Port":1,"TargetPort":0,"NodePort":0}`},
		{budget, `{"MinAvailable":"10%","Selector":{"matchLabels":{"a":"\u003c"}},"MaxUnavailable":null,"UnhealthyPodEvictionPolicy":null}`},
		{&corev1.VolumeNodeAffinity{}, `{"Required":null}`},
		{(*corev1.VolumeNodeAffinity)(nil), `null`},
		{[]corev1.PodIP{{IP: "1.2.3.4"}, {}}, `[{"IP":"1.2.3.4"},{"IP":""}]`},
		{map[string]corev1.PodIP{"b": {}, "a": {IP: "x"}}, `{"a":{"IP":"x"},"b":{"IP":""}}`},
		{corev1.ConfigMapEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "n"}}, `{"Name":"n","Optional":null}`},
		{corev1.Namespace{}, `{"Spec":{"Finalizers":null},"Status":{"Phase":"","Conditions":null}}`},
		{corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{}, Name: "n"}}, `{"name":"n","Spec":{"Finalizers":null},"Status":{"Phase":"","Conditions":null}}`},
		{metav1.LabelSelector{}, `{}`},
		{corev1.ResourceList{}, `{}`},
	} {
		require.Equal(t, "a: Invalid value: "+test.want+": b", p.Invalid(test.value, "b").Error())
		require.Equal(t, "a: Duplicate value: "+test.want, p.Duplicate(test.value).Error())
	}
	encoded, err := json.Marshal(Internal(corev1.PodIP{IP: "x"}))
	require.NoError(t, err)
	require.Equal(t, `{"IP":"x"}`, string(encoded))
	require.Equal(t, `a: Unsupported value: {"Type":""}: supported values: "x"`, NotSupported(p, struct{ Type string }{}, "x").Error())
}
