package fuzz_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"
	"sigs.k8s.io/yaml"

	fakeapi "example.com/fakeapi/fake"
)

// The paths of some collections.
const (
	configMapsPath = "/api/v1/namespaces/default/configmaps"
	widgetsPath    = "/apis/shop.example.com/v1/namespaces/default/widgets"
	crdsPath       = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
)

// widgetCRD defines widgets with a default, a minimum and a validation rule.
const widgetCRD = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.shop.example.com}
spec:
  group: shop.example.com
  scope: Namespaced
  names: {plural: widgets, singular: widget, kind: Widget, shortNames: [wd]}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            x-kubernetes-validations: [{rule: "!has(self.size) || self.size <= 100", message: at most 100}]
            properties:
              size: {type: integer, minimum: 0}
              color: {type: string, default: red}
          status: {type: object, properties: {phase: {type: string}}}
`

func decodeCRD(t testing.TB, text string) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	crd := &apiextensionsv1.CustomResourceDefinition{}
	require.NoError(t, yaml.UnmarshalStrict([]byte(text), crd))
	return crd
}

// annToken is the token of a user without rights.
var annToken = fakeapi.Token{Value: "ann-1", User: "ann", Groups: []string{"team-a"}}

func newConfigMap(name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default", Labels: map[string]string{"app": "x"}},
		Data:       map[string]string{"k": "1"},
	}
}

func newPod(name string, change ...func(*corev1.Pod)) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: newObjectMeta(name), Spec: newPodSpec()}
	for _, c := range change {
		c(pod)
	}
	return pod
}

// makeRunning makes a pod running and ready, with a grace period of 0.
func makeRunning(p *corev1.Pod) {
	p.Spec.NodeName, p.Spec.TerminationGracePeriodSeconds = "n", new(int64)
	p.Status.Phase = corev1.PodRunning
	p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
}

func newDeployment(name string) *appsv1.Deployment {
	meta := newObjectMeta(name)
	return &appsv1.Deployment{
		ObjectMeta: meta,
		Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: meta.Labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: meta.Labels}, Spec: newPodSpec()},
		},
	}
}

// newPDB returns a budget for the pods of newPod and newDeployment, with an up-to-date status that
// allows three disruptions.
func newPDB(name string) *policyv1.PodDisruptionBudget {
	meta := newObjectMeta(name)
	meta.Generation = 1
	return &policyv1.PodDisruptionBudget{
		ObjectMeta: meta,
		Spec:       policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{MatchLabels: meta.Labels}},
		Status: policyv1.PodDisruptionBudgetStatus{
			ObservedGeneration: 1, DisruptionsAllowed: 3, CurrentHealthy: 5, DesiredHealthy: 2, ExpectedPods: 3,
		},
	}
}

func newObjectMeta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: name, Namespace: "default", Labels: map[string]string{"app": name}}
}

func newPodSpec() corev1.PodSpec {
	return corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i:1"}}}
}

// encodeCBOR encodes v as apimachinery does.
func encodeCBOR(t testing.TB, v any) []byte {
	t.Helper()
	b, err := direct.Marshal(v)
	require.NoError(t, err)
	return append([]byte("\xd9\xd9\xf7"), b...)
}
