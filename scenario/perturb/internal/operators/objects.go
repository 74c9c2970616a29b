package operators

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"example.com/fakeapi/scenario"
)

// newClaim returns a PersistentVolumeClaim of 1Gi.
func newClaim(name string, labels map[string]string) *corev1.PersistentVolumeClaim {
	return &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources: corev1.VolumeResourceRequirements{
				Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")},
			},
		},
	}
}

// ownedBy returns the owner references of an object that is deleted with a ConfigMap.
func ownedBy(owner *corev1.ConfigMap) []metav1.OwnerReference {
	return []metav1.OwnerReference{*metav1.NewControllerRef(owner, corev1.SchemeGroupVersion.WithKind("ConfigMap"))}
}

// patch returns the step of a merge patch.
func patch(kind, name, body string) scenario.Step {
	return scenario.Patch(scenario.Ref{Kind: kind, Name: name}, types.MergePatchType, body)
}

// patchStatus returns the step of a merge patch of the status.
func patchStatus(kind, name, body string) scenario.Step {
	return scenario.PatchSubresource(scenario.Ref{Kind: kind, Name: name}, "status", types.MergePatchType, body)
}

// remove returns the step that deletes an object.
func remove(kind, name string) scenario.Step {
	return scenario.Delete(scenario.Ref{Kind: kind, Name: name})
}

// configMap returns the step that creates a ConfigMap with a label and one entry.
func configMap(name, label, value, key, data string) scenario.Step {
	return scenario.Apply(name+".yaml", fmt.Sprintf(`apiVersion: v1
kind: ConfigMap
metadata: {name: %s, labels: {%s: %q}}
data: {%s: %q}
`, name, label, value, key, data))
}

// service returns the step that creates a Service with a label.
func service(name, label, value string) scenario.Step {
	return scenario.Apply(name+".yaml", fmt.Sprintf(`apiVersion: v1
kind: Service
metadata: {name: %s, labels: {%s: %q}}
spec: {clusterIP: None, ports: [{port: 80}]}
`, name, label, value))
}

// deployment returns the step that creates a Deployment with one replica.
func deployment(name, image string) scenario.Step {
	return scenario.Apply(name+".yaml", fmt.Sprintf(`apiVersion: apps/v1
kind: Deployment
metadata: {name: %s}
spec:
  replicas: 1
  selector: {matchLabels: {app: %s}}
  template:
    metadata: {labels: {app: %s}}
    spec: {containers: [{name: main, image: %q}]}
`, name, name, name, image))
}

// namespace returns the step that creates a namespace.
func namespace(name string) scenario.Step {
	return scenario.Apply(name+".yaml", fmt.Sprintf("apiVersion: v1\nkind: Namespace\nmetadata: {name: %s}\n", name))
}
