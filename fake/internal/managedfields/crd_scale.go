package managedfields

import (
	"fmt"
	"reflect"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"

	"example.com/fakeapi/fake/internal/managedfields/fastpath"
)

// crdScale converts the Scale of a custom resource for the library, as kube-apiserver does: a Scale
// that is unstructured is a custom resource of a version that the definition does not have. All
// applies that change a Scale fail by that, with a 500.
type crdScale struct{ crd }

// newCRDScaleManager returns the FieldManager of the Scale of a custom resource in a version.
func newCRDScaleManager(gv schema.GroupVersion) (*FieldManager, error) {
	kind := autoscalingv1.SchemeGroupVersion.WithKind("Scale")
	types, err := scaleTypes()
	if err != nil {
		return nil, err
	}
	c := &crdScale{}
	m := &FieldManager{
		kind: kind, subresource: "scale",
		converter: c, storageVersion: kind.GroupVersion(),
		versionByType: map[reflect.Type]schema.GroupVersion{reflect.TypeFor[*autoscalingv1.Scale](): kind.GroupVersion()},
	}
	if m.emptyObject, err = c.New(kind); err != nil {
		return nil, err
	}
	m.fast = fastpath.NewUpdater(scaleType(), fastpath.Options{Kind: kind, Subresource: m.subresource, Empty: m.emptyObject, Converter: c})
	m.library, err = managedfields.NewDefaultCRDFieldManager(types, c, c, c, kind, gv, m.subresource, nil)
	return m, err
}

// ConvertToVersion returns in itself if it is a Scale, which has one version.
func (c *crdScale) ConvertToVersion(in runtime.Object, target runtime.GroupVersioner) (runtime.Object, error) {
	if _, ok := in.(*autoscalingv1.Scale); ok {
		return in, nil
	}
	return nil, fmt.Errorf("request to convert CR to an invalid group/version: %v", target)
}

// Default does nothing. An apply never gets that far.
func (c *crdScale) Default(runtime.Object) {}
