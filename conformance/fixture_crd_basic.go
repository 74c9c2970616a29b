package conformance

import (
	"context"
	"fmt"
	"net/http"
)

// crdBasic is a CRD with two served versions of the same schema, a status subresource, and a schema
// that preserves unknown fields. spec.color is selectable, and spec.shape has a default.
type crdBasic struct{ group string }

// basicCRs returns the Widgets of a new namespace, the objects of crdBasic. The first call of a run
// creates the CRD. The case is skipped if the server has no custom resources.
func (s *session) basicCRs(ctx context.Context, names ...string) (collection, error) {
	w, err := s.run.installCRDBasic(ctx)
	if err != nil {
		return collection{}, err
	}
	return s.newCollection(ctx, w.in("v1"), names)
}

// in returns the Widgets of a version, without a namespace.
func (w crdBasic) in(version string) collection {
	return collection{
		root: "/apis/" + w.group + "/" + version, apiVersion: w.group + "/" + version,
		group: w.group, kind: "Widget", resource: "widgets",
	}
}

// installCRDBasic creates the CRD once per run and waits until both versions are served.
func (r *run) installCRDBasic(ctx context.Context) (crdBasic, error) {
	return r.crdBasic.get(ctx, func(ctx context.Context) (crdBasic, error) {
		w := crdBasic{group: r.crdGroup()}
		return w, r.installCRD(ctx, w.definition(), w.in("v1"), w.in("v1beta1"))
	})
}

// crdGroup returns the API group of the run's CRDs.
func (r *run) crdGroup() string { return r.id + ".conformance.example.com" }

// installCRD creates a CRD for the run and waits until all of its versions are served. The case is
// skipped if the server has no custom resources.
func (r *run) installCRD(ctx context.Context, definition object, versions ...collection) error {
	s := r.shared
	ctx = withSetup(ctx)
	if err := s.skipUnlessServed(ctx, "apiextensions.k8s.io/v1", "customresourcedefinitions"); err != nil {
		return err
	}
	s.track(crdPath + "/" + definition["metadata"].(object)["name"].(string))
	if err := s.expect(ctx, post(crdPath, definition), code(http.StatusCreated, http.StatusConflict)); err != nil {
		return fmt.Errorf("installing a custom resource definition: %w", err)
	}
	for _, version := range versions {
		err := poll(ctx, func(ctx context.Context) error {
			return s.expect(ctx, get(version.allNamespacesPath()), code(http.StatusOK))
		})
		if err != nil {
			return fmt.Errorf("waiting for the custom resource to be served: %w", err)
		}
	}
	return nil
}

func (w crdBasic) definition() object {
	anything := func(properties object) object {
		return object{"type": "object", "x-kubernetes-preserve-unknown-fields": true, "properties": properties}
	}
	schema := anything(object{"spec": anything(object{"color": object{"type": "string"}, "shape": object{"type": "string", "default": "round"}})})
	version := func(name string, storage bool) object {
		return object{
			"name": name, "served": true, "storage": storage,
			"subresources": object{"status": object{}},
			"schema":       object{"openAPIV3Schema": schema},
			// Both versions have selectableFields, see SE-08.
			"selectableFields": []object{{"jsonPath": ".spec.color"}},
		}
	}
	definition := newObject("apiextensions.k8s.io/v1", "CustomResourceDefinition", "widgets."+w.group)
	definition["spec"] = object{
		"group": w.group, "scope": "Namespaced",
		"names":    object{"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList"},
		"versions": []object{version("v1", true), version("v1beta1", false)},
	}
	return definition
}
