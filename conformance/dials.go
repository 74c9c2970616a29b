package conformance

import (
	"context"
	"fmt"
	"net/http"
)

// dials gives a fresh namespace and its Dials, the custom resource that a run installs for the cases about subresources: v1 has status
// and scale, v1alpha1 has neither but columns to print, and both take anything. The first call of a run installs the definition; a server without custom
// resources skips the case.
func (s *session) dials(ctx context.Context) (collection, error) {
	if err := s.run.installDials(ctx); err != nil {
		return collection{}, err
	}
	return s.fill(ctx, s.run.dialsIn("v1"), nil)
}

// dialsIn is the resource under one of its versions, in no namespace yet.
func (r *run) dialsIn(version string) collection {
	group := fmt.Sprintf("%s.conformance.example.com", r.id)
	return collection{
		root: "/apis/" + group + "/" + version, apiVersion: group + "/" + version, group: group, kind: "Dial", resource: "dials",
	}
}

// in is the same collection under another version.
func (c collection) in(version string) collection {
	other := c.s.run.dialsIn(version)
	other.s, other.namespace = c.s, c.namespace
	return other
}

// installDials creates the definition once per run and waits until both versions are served.
func (r *run) installDials(ctx context.Context) error {
	if r.hasDials {
		return nil
	}
	s, dials := r.shared, r.dialsIn("v1")
	ctx = settingUp(ctx)
	if err := s.needs(ctx, "apiextensions.k8s.io/v1", "customresourcedefinitions"); err != nil {
		return err
	}
	const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
	s.remember(definitions + "/" + dials.qualified())
	if err := s.try(ctx, post(definitions, dialDefinition(dials)), code(http.StatusCreated, http.StatusConflict)); err != nil {
		return fmt.Errorf("installing a custom resource definition: %w", err)
	}
	for _, version := range []string{"v1", "v1alpha1"} {
		err := poll(ctx, func(ctx context.Context) error {
			return s.try(ctx, get(r.dialsIn(version).everywhere()), code(http.StatusOK))
		})
		if err != nil {
			return fmt.Errorf("waiting for the custom resource to be served: %w", err)
		}
	}
	r.hasDials = true
	return nil
}

func dialDefinition(dials collection) object {
	version := func(name string, storage bool) object {
		schema := object{"type": "object", "x-kubernetes-preserve-unknown-fields": true}
		return object{"name": name, "served": true, "storage": storage, "schema": object{"openAPIV3Schema": schema}}
	}
	v1 := version("v1", true)
	v1["subresources"] = object{
		"status": object{},
		"scale":  object{"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas", "labelSelectorPath": ".status.selector"},
	}
	v1alpha1 := version("v1alpha1", false)
	v1alpha1["additionalPrinterColumns"] = []object{
		{"name": "Replicas", "type": "integer", "jsonPath": ".spec.replicas"},
		{"name": "Missing", "type": "string", "jsonPath": ".status.missing", "priority": 1},
	}
	definition := newObject("apiextensions.k8s.io/v1", "CustomResourceDefinition", dials.qualified())
	definition["spec"] = object{
		"group": dials.group, "scope": "Namespaced",
		"names":    object{"plural": "dials", "singular": "dial", "kind": "Dial", "listKind": "DialList"},
		"versions": []object{v1, v1alpha1},
	}
	return definition
}

// onDials makes a case that runs on Dials in a fresh namespace.
func onDials(c Case, check collectionCheck) Case {
	c.check = func(ctx context.Context, s *session) error {
		in, err := s.dials(ctx)
		if err != nil {
			return err
		}
		return check(ctx, s, in)
	}
	return c
}

// dial is a body for Dials.
func (c collection) dial(name string) object {
	o := c.object(name)
	o["spec"] = object{"replicas": 1, "label": "a"}
	return o
}
