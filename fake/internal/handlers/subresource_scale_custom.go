package handlers

import (
	"fmt"
	"math"
	"strings"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"example.com/fakeapi/fake/internal/managedfields"
	"example.com/fakeapi/fake/internal/resource"
)

// unsetReplicas is spec.replicas in the Scale of a custom resource without replicas, during an
// update.
const unsetReplicas = math.MinInt32

// errScaleNotDecodable is the error of every Scale of a custom resource that does not decode. A
// real server looks up the expected kind in the scheme of custom resources, and returns the error
// of that.
var errScaleNotDecodable = apierrors.NewBadRequest(`no kind is registered for the type v1.Scale in scheme "pkg/runtime/scheme.go:111"`)

// scaleFromObject returns the Scale of an object, and whether the object has replicas, which a
// custom resource may lack.
func (q *request) scaleFromObject(obj runtime.Object) (scale *autoscalingv1.Scale, found bool, err error) {
	if q.res.Custom != nil {
		return scaleFromCustomResource(q.res, obj)
	}
	if scale, err = scaleFromBuiltin(obj); err != nil {
		return nil, false, apierrors.NewBadRequest(err.Error())
	}
	return scale, true, nil
}

// scaleFromCustomResource returns the Scale of a custom resource, and whether it has replicas.
func scaleFromCustomResource(res *resource.Resource, obj runtime.Object) (scale *autoscalingv1.Scale, found bool, err error) {
	u, paths := obj.(*unstructured.Unstructured), res.Custom.Scale()
	scale = &autoscalingv1.Scale{ObjectMeta: metav1.ObjectMeta{
		Name: u.GetName(), Namespace: u.GetNamespace(), UID: u.GetUID(),
		ResourceVersion: u.GetResourceVersion(), CreationTimestamp: u.GetCreationTimestamp(),
	}}
	scale.SetGroupVersionKind(autoscalingv1.SchemeGroupVersion.WithKind("Scale")) // reviews get it as it is
	wanted, found, err := unstructured.NestedInt64(u.Object, pathFields(paths.SpecReplicasPath)...)
	if err != nil {
		return nil, false, err
	}
	has, _, err := unstructured.NestedInt64(u.Object, pathFields(paths.StatusReplicasPath)...)
	if err != nil {
		return nil, false, err
	}
	scale.Spec.Replicas, scale.Status.Replicas = int32(wanted), int32(has)
	if paths.LabelSelectorPath != nil && *paths.LabelSelectorPath != "" {
		scale.Status.Selector, _, err = unstructured.NestedString(u.Object, pathFields(*paths.LabelSelectorPath)...)
	}
	return scale, found, err
}

// setReplicas sets the desired replicas of an object.
func setReplicas(res *resource.Resource, obj runtime.Object, n int32) error {
	if res.Custom == nil {
		*replicasField(obj) = &n
		return nil
	}
	path := res.Custom.Scale().SpecReplicasPath
	if n == unsetReplicas {
		return apierrors.NewBadRequest(fmt.Sprintf("the spec replicas field %q cannot be empty", path))
	}
	return unstructured.SetNestedField(obj.(*unstructured.Unstructured).Object, int64(n), pathFields(path)...)
}

// scaleHandler returns the handler of the managedFields of the resource and its Scales.
func (q *request) scaleHandler() (managedfields.ScaleHandler, error) {
	manager, err := q.types.FieldManager(q.res, "")
	if err != nil {
		return managedfields.ScaleHandler{}, err
	}
	if q.res.Custom == nil {
		return managedfields.NewScaleHandler(q.res, manager), nil
	}
	paths := make(map[string]string)
	for v := range q.res.Custom.CRD().Versions() {
		paths[v.Object().Name] = ""
		if scale := v.Scale(); scale != nil {
			paths[v.Object().Name] = scale.SpecReplicasPath
		}
	}
	return managedfields.NewCRDScaleHandler(manager, paths), nil
}

// pathFields returns the fields of a simple JSON path, such as ".spec.replicas".
func pathFields(path string) []string { return strings.Split(strings.TrimPrefix(path, "."), ".") }
