package fakeapi_test

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// gearCRD defines a custom resource with all that the soak writes, a rule and a default.
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

// soakKinds are of each sort: without a generation, with one that only the spec changes
// (Gear), and with one that annotations change as well (Deployment); whose DELETE answers
// with the object or with a Status; built in and custom.
func soakKinds() []kind {
	return append(arenaKinds(),
		kind{name: "Deployment", plural: "deployments", version: "apps/v1", scaled: true, object: func(namespace, name string, labels map[string]string) runtime.Object {
			app := map[string]string{"app": "x"}
			return &appsv1.Deployment{
				ObjectMeta: metaOf(namespace, name, labels),
				Spec: appsv1.DeploymentSpec{
					Selector: &metav1.LabelSelector{MatchLabels: app},
					Template: corev1.PodTemplateSpec{
						ObjectMeta: metav1.ObjectMeta{Labels: app},
						Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}},
					},
				},
			}
		}},
		kind{name: "Gear", plural: "gears", version: "soak.example.com/v1", scaled: true, custom: true, object: func(namespace, name string, labels map[string]string) runtime.Object {
			gear := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{}}}
			gear.SetGroupVersionKind(schema.GroupVersionKind{Group: "soak.example.com", Version: "v1", Kind: "Gear"})
			gear.SetNamespace(namespace)
			gear.SetName(name)
			gear.SetLabels(labels)
			return gear
		}},
	)
}

// soakVerbs are what the clients of a kind do, each as often as it is here.
func soakVerbs(k kind) []string {
	verbs := []string{
		"create", "create", "get", "get", "list", "page", "put", "put", "merge", "json", "apply", "apply", "delete", "sweep",
	}
	if !k.custom {
		verbs = append(verbs, "strategic")
	}
	if k.scaled {
		verbs = append(verbs, "status", "status", "scale", "scale", "getscale")
	}
	return verbs
}

// resource names the kind for clients that know no types.
func (k kind) resource() schema.GroupVersionResource {
	gv, err := schema.ParseGroupVersion(k.apiVersion())
	if err != nil {
		panic(fmt.Sprintf("the apiVersion of %s: %v", k.name, err)) // it is in the table above
	}
	return gv.WithResource(k.plural)
}
