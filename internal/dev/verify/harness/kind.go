package harness

import (
	"cmp"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

const (
	JSON     = "application/json"
	Protobuf = "application/vnd.kubernetes.protobuf"
)

// Kind is a type that the writers write. Its DELETE is one write, not two as with the
// grace of pods.
type Kind struct {
	Name, Plural string
	GroupVersion string // as in apiVersion; "" is v1
	New          func(namespace, name string, labels map[string]string) runtime.Object
	Scalable     bool // it has status and scale, and replicas
	Custom       bool
}

// KindsReturningDeleted are those whose DELETE answers with the object at the revision of the
// deletion, or nobody would know what that was.
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

func NewObjectMeta(namespace, name string, labels map[string]string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: labels}
}

// APIVersion is what the objects of the kind have as such.
func (k Kind) APIVersion() string { return cmp.Or(k.GroupVersion, "v1") }

// CollectionPath is the path of all objects of the kind, or of those of a namespace.
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

// Resource names the kind for clients that know no types.
func (k Kind) Resource() schema.GroupVersionResource {
	gv, err := schema.ParseGroupVersion(k.APIVersion())
	if err != nil {
		panic(fmt.Sprintf("the apiVersion of %s: %v", k.Name, err)) // it is in the table above
	}
	return gv.WithResource(k.Plural)
}
