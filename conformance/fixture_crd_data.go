package conformance

import "context"

// crdData is a CRD with a schema without preserved fields. Its lists and maps have all merge
// strategies, one field has a default, and an old version is deprecated.
type crdData struct{ group string }

// dataCRs returns the Gadgets of a new namespace, the objects of crdData. The first call of a run
// creates the CRD. The case is skipped if the server has no custom resources.
func (s *session) dataCRs(ctx context.Context) (collection, error) {
	g, err := s.run.crdData.get(ctx, func(ctx context.Context) (crdData, error) {
		g := crdData{group: s.run.crdGroup()}
		return g, s.run.installCRD(ctx, g.definition(), g.in("v1"), g.in("v1beta1"))
	})
	if err != nil {
		return collection{}, err
	}
	return s.newCollection(ctx, g.in("v1"), nil)
}

// in returns the Gadgets of a version, without a namespace.
func (g crdData) in(version string) collection {
	return collection{
		root: "/apis/" + g.group + "/" + version, apiVersion: g.group + "/" + version,
		group: g.group, kind: "Gadget", resource: "gadgets",
	}
}

// inDeprecatedVersion returns the same collection in the deprecated version of crdData.
func (c collection) inDeprecatedVersion() collection {
	old := crdData{group: c.group}.in("v1beta1")
	old.s, old.namespace = c.s, c.namespace
	return old
}

// deprecationWarning is the warning of requests in the deprecated version.
const deprecationWarning = "gadgets of v1beta1 are of the past"

func (g crdData) definition() object {
	text, number := object{"type": "string"}, object{"type": "integer"}
	record := func(properties object) object { return object{"type": "object", "properties": properties} }
	partSchema := record(object{"name": text, "quantity": number})
	partSchema["required"] = []string{"name"}
	spec := record(object{
		"size":     object{"type": "integer", "minimum": 0},
		"color":    object{"type": "string", "default": "grey"},
		"replicas": number,
		"parts": object{
			"type": "array", "items": partSchema, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": []string{"name"},
		},
		"tags":  object{"type": "array", "items": text, "x-kubernetes-list-type": "set"},
		"plain": object{"type": "array", "items": record(object{"x": text, "y": text})},
		"whole": object{"type": "object", "additionalProperties": text, "x-kubernetes-map-type": "atomic"},
		"free":  object{"type": "object", "x-kubernetes-preserve-unknown-fields": true},
	})
	schema := record(object{
		"data":   object{"type": "object", "additionalProperties": text}, // as in ConfigMaps
		"spec":   spec,
		"status": record(object{"phase": text, "replicas": number}),
	})
	version := func(name string, storage bool) object {
		return object{
			"name": name, "served": true, "storage": storage,
			"schema": object{"openAPIV3Schema": schema},
			"subresources": object{
				"status": object{},
				"scale":  object{"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"},
			},
		}
	}
	old := version("v1beta1", false)
	old["deprecated"], old["deprecationWarning"] = true, deprecationWarning
	definition := newObject("apiextensions.k8s.io/v1", "CustomResourceDefinition", "gadgets."+g.group)
	definition["spec"] = object{
		"group": g.group, "scope": "Namespaced",
		"names":    object{"plural": "gadgets", "singular": "gadget", "kind": "Gadget", "listKind": "GadgetList"},
		"versions": []object{version("v1", true), old},
	}
	return definition
}
