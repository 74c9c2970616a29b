package fakeapi

import (
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	"example.com/fakeapi/fake/internal/codec"
	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/fake/internal/resource/builtin/apiregistration"
	"example.com/fakeapi/internal/requestinfo"
	"example.com/fakeapi/internal/responsewriter"
)

// Get reads the object with a name from the store into obj, for tests that check what was stored.
// It is not a request: fault rules, authentication, authorization, metrics and the timeline do not
// see it, and it reads the current state, also on a Replica.
//
// The kind is that of obj: the TypeMeta of an unstructured object, for example, or the Go type of a
// typed one (see WithScheme). An empty namespace is "default"; for a cluster-scoped resource it is
// ignored. The error of an object that does not exist satisfies apierrors.IsNotFound.
func (s *Server) Get(namespace, name string, obj runtime.Object) error {
	res, err := s.resourceOf(obj, (*resource.Resource).GroupVersionKind)
	if err != nil {
		return fmt.Errorf("fakeapi: get %s: %w", name, err)
	}
	if res.Namespaced && namespace == "" {
		namespace = metav1.NamespaceDefault
	}
	if name == "" {
		return errors.New("fakeapi: get: the name is empty")
	}
	return s.readInto(obj, res, requestinfo.RequestInfo{Verb: requestinfo.Get, Namespace: namespace, Name: name})
}

// List reads all objects of a resource in a namespace from the store into list, which is a list
// type such as corev1.PodList or an unstructured list with its kind. An empty namespace is for all
// namespaces. Otherwise it is like Get.
func (s *Server) List(namespace string, list runtime.Object) error {
	if _, ok := list.(runtime.Unstructured); !ok && list != nil && !meta.IsListType(list) {
		return fmt.Errorf("fakeapi: list: %T is not a list", list)
	}
	res, err := s.resourceOf(list, (*resource.Resource).ListGroupVersionKind)
	if err != nil {
		return fmt.Errorf("fakeapi: list: %w", err)
	}
	return s.readInto(list, res, requestinfo.RequestInfo{Verb: requestinfo.List, Namespace: namespace})
}

// resourceOf returns the served resource for the kind of obj, which is that of its objects or of
// its lists.
func (s *Server) resourceOf(obj runtime.Object, kindOf func(*resource.Resource) schema.GroupVersionKind) (*resource.Resource, error) {
	if v := reflect.ValueOf(obj); v.Kind() != reflect.Pointer || v.IsNil() {
		return nil, fmt.Errorf("%T is not a pointer to an object", obj)
	}
	kinds := []schema.GroupVersionKind{obj.GetObjectKind().GroupVersionKind()}
	if kinds[0].Empty() {
		var err error
		if _, ok := obj.(*apiextensionsv1.CustomResourceDefinitionList); ok {
			kinds[0] = apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinitionList")
		} else if kinds, err = s.types.ObjectKinds(obj); err != nil {
			return nil, err
		}
	}
	for _, res := range s.types.Table().Stored() {
		if slices.Contains(kinds, kindOf(res)) {
			return res, nil
		}
	}
	return nil, fmt.Errorf("%s is not served", kinds[0])
}

// readInto reads what info describes without the handler chain.
func (s *Server) readInto(obj runtime.Object, res *resource.Resource, info requestinfo.RequestInfo) error {
	info.Prefix, info.Group, info.Version, info.Resource = "apis", res.Group, res.Version, res.Plural
	if res.Group == "" {
		info.Prefix = "api"
	}
	switch {
	case res.Group == "" && res.Plural == "namespaces":
		info.Namespace = info.Name // as in the path
	case !res.Namespaced:
		info.Namespace = ""
	default:
		info.HasNamespace = info.Namespace != ""
	}
	r, err := http.NewRequest(http.MethodGet, "/", http.NoBody)
	if err != nil {
		return err
	}
	r.Header.Set("Accept", runtime.ContentTypeJSON)
	w := responsewriter.NewBuffer(nil)
	s.api.Serve(w, r, info)
	if w.Code != http.StatusOK {
		var status metav1.Status
		if err := kjson.UnmarshalCaseSensitivePreserveInts(w.Body.Bytes(), &status); err != nil {
			return fmt.Errorf("fakeapi: %s: %s", info.Verb, strings.TrimSpace(w.Body.String()))
		}
		return apierrors.FromObject(&status)
	}
	if u, ok := obj.(interface{ UnmarshalJSON([]byte) error }); ok {
		return u.UnmarshalJSON(w.Body.Bytes())
	}
	reflect.ValueOf(obj).Elem().SetZero()
	return kjson.UnmarshalCaseSensitivePreserveInts(w.Body.Bytes(), obj)
}

// Dump returns all objects in the store as YAML documents, ordered by resource, namespace and name,
// in their storage versions and without managedFields. LoadYAML loads them into another server. The
// APIServices that the server manages are left out: they follow from the types that it serves.
func (s *Server) Dump() (string, error) {
	view := s.store.View()
	var text strings.Builder
	for _, res := range storageResources(s.types.Table()) {
		for rec := range view.Range(codec.Key(res, "", ""), "") {
			obj, err := codec.DecodeServed(res, rec)
			if err != nil {
				return "", fmt.Errorf("fakeapi: dump: %w", err)
			}
			m, err := meta.Accessor(obj)
			if err != nil {
				return "", fmt.Errorf("fakeapi: dump: %w", err)
			}
			if m.GetLabels()[apiregistration.ManagedLabel] != "" {
				continue
			}
			m.SetManagedFields(nil)
			body, err := yaml.Marshal(obj)
			if err != nil {
				return "", fmt.Errorf("fakeapi: dump: %w", err)
			}
			if text.Len() > 0 {
				text.WriteString("---\n")
			}
			text.Write(body)
		}
	}
	return text.String(), nil
}

// storageResources returns one version of each stored resource: the storage version if it is
// served.
func storageResources(table *resource.Table) []*resource.Resource {
	var all []*resource.Resource
	index := map[schema.GroupResource]int{}
	for _, res := range table.Stored() {
		i, ok := index[res.StorageResource]
		switch {
		case !ok:
			index[res.StorageResource] = len(all)
			all = append(all, res)
		case res.GroupVersion() == res.StorageVersion:
			all[i] = res
		}
	}
	return all
}
