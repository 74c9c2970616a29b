package plugins

import (
	"encoding/json"
	"iter"
	"testing"

	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	apiresource "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/fakeapi/fake/internal/admission"
	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/fake/internal/resource/builtin"
	"example.com/fakeapi/memstore"
)

// storedObjects are the objects that a plugin reads, in the order of their names.
type storedObjects map[schema.GroupVersionResource][]runtime.Object

func (o storedObjects) Record(res schema.GroupVersionResource, namespace, name string) *memstore.Record {
	obj, err := o.Get(res, namespace, name)
	if err != nil {
		return nil
	}
	return recordOf(obj)
}

func recordOf(obj runtime.Object) *memstore.Record {
	data, err := json.Marshal(obj)
	if err != nil {
		panic(err)
	}
	m := resource.Accessor(obj)
	return &memstore.Record{Key: m.GetNamespace() + "/" + m.GetName(), Data: data, Labels: memstore.MakePairs(m.GetLabels())}
}

func (o storedObjects) Get(res schema.GroupVersionResource, namespace, name string) (runtime.Object, error) {
	for _, obj := range o[res] {
		if m := resource.Accessor(obj); m.GetNamespace() == namespace && m.GetName() == name {
			return obj.DeepCopyObject(), nil
		}
	}
	return nil, apierrors.NewNotFound(res.GroupResource(), name)
}

func (o storedObjects) Records(res schema.GroupVersionResource, namespace string) iter.Seq[*memstore.Record] {
	return func(yield func(*memstore.Record) bool) {
		for _, obj := range o[res] {
			if (namespace == "" || resource.Accessor(obj).GetNamespace() == namespace) && !yield(recordOf(obj)) {
				return
			}
		}
	}
}

func (o storedObjects) Prefix(res schema.GroupVersionResource, namespace string) string {
	return res.Resource + "/" + namespace + "/"
}

func (o storedObjects) Decode(res schema.GroupVersionResource, rec *memstore.Record) (runtime.Object, error) {
	for _, obj := range o[res] {
		if recordOf(obj).Key == rec.Key {
			return obj.DeepCopyObject(), nil
		}
	}
	return nil, apierrors.NewNotFound(res.GroupResource(), rec.Key)
}

func (o storedObjects) Count(res schema.GroupVersionResource, namespace string) (n int) {
	for range o.Records(res, namespace) {
		n++
	}
	return n
}

func (o storedObjects) ResourceOf(kind schema.GroupVersionKind) (*resource.Resource, error) {
	if res := builtin.Table().LookupKind(kind); res != nil {
		return res, nil
	}
	return nil, &meta.NoKindMatchError{GroupKind: kind.GroupKind(), SearchedVersions: []string{kind.Version}}
}

func (o storedObjects) List(res schema.GroupVersionResource, namespace string) (objects []runtime.Object, err error) {
	for rec := range o.Records(res, namespace) {
		obj, err := o.Decode(res, rec)
		if err != nil {
			return nil, err
		}
		objects = append(objects, obj)
	}
	return objects, nil
}

// writeOf returns the attributes of a create of obj, or of an update if old is not nil, in the
// namespace "ns".
func writeOf(res schema.GroupVersionResource, obj, old runtime.Object) *admission.Attributes {
	row := builtin.Table().Lookup(res.Group, res.Version, res.Resource)
	if row == nil { // a custom resource
		row = &resource.Resource{Group: res.Group, Version: res.Version, Plural: res.Resource, Namespaced: true}
	}
	attrs := &admission.Attributes{
		Operation: admissionv1.Create, Resource: row,
		Namespace: "ns", Name: resource.Accessor(obj).GetName(), Object: obj,
	}
	if old != nil {
		attrs.Operation, attrs.OldObject = admissionv1.Update, old
	}
	return attrs
}

// call calls a plugin as a server does, and returns the refusal.
func call(t *testing.T, p admission.Interface, attrs *admission.Attributes) error {
	chain := admission.Chain{p}
	if err := chain.Admit(t.Context(), attrs); err != nil {
		return err
	}
	if err := chain.Validate(t.Context(), attrs); err != nil {
		return err
	}
	_, err := chain.Charge(attrs)
	return err
}

// requireRefusal requires that a refusal has a text, or that there is none for "".
func requireRefusal(t *testing.T, want string, err error) {
	t.Helper()
	if want == "" {
		require.NoError(t, err)
		return
	}
	require.EqualError(t, err, want)
	require.True(t, apierrors.IsForbidden(err))
}

func inNamespace(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: "ns", Name: name}
}

func quantities(pairs ...string) corev1.ResourceList {
	list := corev1.ResourceList{}
	for i := 0; i < len(pairs); i += 2 {
		list[corev1.ResourceName(pairs[i])] = apiresource.MustParse(pairs[i+1])
	}
	return list
}

// newPod returns a pod with a container c with requests and limits.
func newPod(requests, limits corev1.ResourceList) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: inNamespace("p"), Spec: corev1.PodSpec{Containers: []corev1.Container{
		{Name: "c", Image: "i", Resources: corev1.ResourceRequirements{Requests: requests, Limits: limits}},
	}}}
}
