package conformance

import "context"

// scaleCRs returns the Dials of a new namespace, the objects of a CRD for cases about subresources.
// v1 has status and scale; v1alpha1 has neither, but has printer columns. Both versions preserve
// unknown fields. The first call of a run creates the CRD. The case is skipped if the server has no
// custom resources.
func (s *session) scaleCRs(ctx context.Context) (collection, error) {
	dials, err := s.run.installCRDScale(ctx)
	if err != nil {
		return collection{}, err
	}
	return s.newCollection(ctx, dials, nil)
}

// scaleCRsIn returns the Dials of a version, without a namespace.
func (r *run) scaleCRsIn(version string) collection {
	group := r.crdGroup()
	return collection{
		root: "/apis/" + group + "/" + version, apiVersion: group + "/" + version, group: group, kind: "Dial", resource: "dials",
	}
}

// inScaleVersion returns the same collection in another version.
func (c collection) inScaleVersion(version string) collection {
	other := c.s.run.scaleCRsIn(version)
	other.s, other.namespace = c.s, c.namespace
	return other
}

// installCRDScale creates the CRD once per run, waits until both versions are served, and returns
// the Dials of v1, without a namespace.
func (r *run) installCRDScale(ctx context.Context) (collection, error) {
	return r.crdScale.get(ctx, func(ctx context.Context) (collection, error) {
		dials := r.scaleCRsIn("v1")
		return dials, r.installCRD(ctx, crdScale(dials), dials, r.scaleCRsIn("v1alpha1"))
	})
}

func crdScale(dials collection) object {
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
	definition := newObject("apiextensions.k8s.io/v1", "CustomResourceDefinition", dials.groupResource())
	definition["spec"] = object{
		"group": dials.group, "scope": "Namespaced",
		"names":    object{"plural": "dials", "singular": "dial", "kind": "Dial", "listKind": "DialList"},
		"versions": []object{v1, v1alpha1},
	}
	return definition
}

// onScaleCRs returns a case that runs on Dials in a new namespace.
func onScaleCRs(c Case, check collectionCheck) Case {
	return onCollection((*session).scaleCRs, c, check)
}

// scaleCR returns a body for Dials.
func (c collection) scaleCR(name string) object {
	o := c.object(name)
	o["spec"] = object{"replicas": 1, "label": "a"}
	return o
}
