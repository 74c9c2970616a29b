package soak

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/fakeapi/internal/dev/verify/harness"
	"example.com/fakeapi/internal/dev/verify/linearizability"
)

// gearCRD defines a custom resource with the fields that clients write, a validation rule and a
// default.
const gearCRD = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gears.soak.example.com}
spec:
  group: soak.example.com
  scope: Namespaced
  names: {plural: gears, singular: gear, kind: Gear, listKind: GearList}
  versions:
  - name: v1
    served: true
    storage: true
    subresources:
      status: {}
      scale: {specReplicasPath: .spec.replicas, statusReplicasPath: .status.replicas}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            x-kubernetes-validations: [{rule: "!has(self.replicas) || self.replicas >= 0", message: not negative}]
            properties:
              replicas: {type: integer, format: int32}
              color: {type: string, default: red}
          status:
            type: object
            properties:
              observedGeneration: {type: integer, format: int64}
              replicas: {type: integer, format: int32}
`

// kinds returns built-in and custom kinds: without a generation, with one that only spec changes
// increment (Gear), and with one that annotations increment as well (Deployment); with a DELETE
// that returns the object or a Status.
func kinds() []harness.Kind {
	return append(linearizability.Kinds(),
		harness.Kind{Name: "Deployment", Plural: "deployments", GroupVersion: "apps/v1", Scalable: true, New: func(namespace, name string, labels map[string]string) runtime.Object {
			app := map[string]string{"app": "x"}
			return &appsv1.Deployment{
				ObjectMeta: harness.NewObjectMeta(namespace, name, labels),
				Spec: appsv1.DeploymentSpec{
					Selector: &metav1.LabelSelector{MatchLabels: app},
					Template: corev1.PodTemplateSpec{
						ObjectMeta: metav1.ObjectMeta{Labels: app},
						Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}},
					},
				},
			}
		}},
		harness.Kind{Name: "Gear", Plural: "gears", GroupVersion: "soak.example.com/v1", Scalable: true, Custom: true, New: func(namespace, name string, labels map[string]string) runtime.Object {
			gear := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{}}}
			gear.SetGroupVersionKind(schema.GroupVersionKind{Group: "soak.example.com", Version: "v1", Kind: "Gear"})
			gear.SetNamespace(namespace)
			gear.SetName(name)
			gear.SetLabels(labels)
			return gear
		}},
	)
}

// clientVerbs returns the verbs for the clients of a kind, each as often as it is to be chosen.
func clientVerbs(k harness.Kind) []string {
	verbs := []string{
		"create", "create", "get", "get", "list", "listpages", "put", "put", "merge", "json", "apply", "apply", "delete", "deletecollection",
	}
	if !k.Custom {
		verbs = append(verbs, "strategic")
	}
	if k.Scalable {
		verbs = append(verbs, "status", "status", "scale", "scale", "getscale")
	}
	return verbs
}
