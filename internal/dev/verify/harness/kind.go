package harness

import (
	"cmp"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// The media types of objects and lists.
const (
	JSON     = "application/json"
	Protobuf = "application/vnd.kubernetes.protobuf"
)

// Kind is a type of objects that the writers use. Deleting one is a single write; pods are not used
// because their grace period makes it two.
type Kind struct {
	Name, Plural string // such as ConfigMap and configmaps
	GroupVersion string // the apiVersion; "" means v1
	New          func(namespace, name string, labels map[string]string) runtime.Object
	Scalable     bool // it has status, scale and spec.replicas
	Custom       bool
}

// KindsReturningDeleted returns kinds whose DELETE returns the object at the revision of the
// deletion, which is how the writer learns that revision.
func KindsReturningDeleted() []Kind {
	return []Kind{
		{Name: "PodTemplate", Plural: "podtemplates", New: func(namespace, name string, labels map[string]string) runtime.Object {
			return &corev1.PodTemplate{
				TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "PodTemplate"},
				ObjectMeta: NewObjectMeta(namespace, name, labels),
				Template:   corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}}},
			}
		}},
		{Name: "ServiceAccount", Plural: "serviceaccounts", New: func(namespace, name string, labels map[string]string) runtime.Object {
			return &corev1.ServiceAccount{
				TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ServiceAccount"},
				ObjectMeta: NewObjectMeta(namespace, name, labels),
			}
		}},
	}
}

// NewObjectMeta returns metadata with a namespace, a name and labels.
func NewObjectMeta(namespace, name string, labels map[string]string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: labels}
}

// APIVersion returns the apiVersion of the objects.
func (k Kind) APIVersion() string { return cmp.Or(k.GroupVersion, "v1") }

// CollectionPath returns the path of the collection in a namespace, or in all namespaces if
// namespace is "".
func (k Kind) CollectionPath(namespace string) string {
	root := "/api/v1/"
	if k.GroupVersion != "" {
		root = "/apis/" + k.GroupVersion + "/"
	}
	if namespace != "" {
		root += "namespaces/" + namespace + "/"
	}
	return root + k.Plural
}

// Resource returns the resource for dynamic clients.
func (k Kind) Resource() schema.GroupVersionResource {
	gv, err := schema.ParseGroupVersion(k.APIVersion())
	if err != nil {
		panic(fmt.Sprintf("the apiVersion of %s: %v", k.Name, err)) // the kinds are constants
	}
	return gv.WithResource(k.Plural)
}
