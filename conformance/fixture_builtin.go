package conformance

import (
	"context"
	"net/http"
)

// configMapsIn returns the ConfigMaps of a namespace.
func configMapsIn(namespace string) collection {
	return collection{root: "/api/v1", apiVersion: "v1", kind: "ConfigMap", resource: "configmaps", namespace: namespace}
}

// configMaps returns the ConfigMaps of a new namespace. Their field "data" is a map.
func (s *session) configMaps(ctx context.Context) (collection, error) {
	return s.newCollection(ctx, configMapsIn(""), nil)
}

// replicaSets returns the ReplicaSets of a new namespace. Their Pod template has all kinds of lists
// and maps.
func (s *session) replicaSets(ctx context.Context) (collection, error) {
	if err := s.skipUnlessServed(ctx, "apps/v1", "replicasets"); err != nil {
		return collection{}, err
	}
	return s.newCollection(ctx, collection{root: "/apis/apps/v1", apiVersion: "apps/v1", group: "apps", kind: "ReplicaSet", resource: "replicasets"}, nil)
}

// ingresses returns the Ingresses of a new namespace. No controller writes their status.
func (s *session) ingresses(ctx context.Context) (collection, error) {
	const group = "networking.k8s.io"
	if err := s.skipUnlessServed(ctx, group+"/v1", "ingresses"); err != nil {
		return collection{}, err
	}
	return s.newCollection(ctx, collection{root: "/apis/" + group + "/v1", apiVersion: group + "/v1", group: group, kind: "Ingress", resource: "ingresses"}, nil)
}

// autoscalers returns the HorizontalPodAutoscalers of a new namespace, in both versions.
func (s *session) autoscalers(ctx context.Context) (v2, v1 collection, err error) {
	in := func(version string) collection {
		return collection{
			root: "/apis/autoscaling/" + version, apiVersion: "autoscaling/" + version, group: "autoscaling",
			kind: "HorizontalPodAutoscaler", resource: "horizontalpodautoscalers",
		}
	}
	for _, version := range []string{"autoscaling/v1", "autoscaling/v2"} {
		if err := s.skipUnlessServed(ctx, version, "horizontalpodautoscalers"); err != nil {
			return collection{}, collection{}, err
		}
	}
	v2, err = s.newCollection(ctx, in("v2"), nil)
	v1 = in("v1")
	v1.s, v1.namespace = s, v2.namespace
	return v2, v1, err
}

// ingress returns a body that every ingress controller ignores.
func ingress(c collection, name string) object {
	return c.object(name).with("spec", object{
		"ingressClassName": "none.conformance.example.com",
		"defaultBackend":   object{"service": object{"name": "absent", "port": object{"number": 80}}},
	})
}

// autoscaler returns a body that scales nothing.
func autoscaler(c collection, name string) object {
	return c.object(name).with("spec", object{
		"maxReplicas":    3,
		"scaleTargetRef": object{"apiVersion": "apps/v1", "kind": "Deployment", "name": "absent"},
	})
}

// replicaSet returns a body without replicas, with a Pod template.
func replicaSet(c collection, name string, pod object) object {
	labels := object{"app": "conformance"}
	return c.object(name).with("spec", object{
		"replicas": 0,
		"selector": object{"matchLabels": labels},
		"template": object{"metadata": object{"labels": labels}, "spec": pod},
	})
}

// container returns a container of a Pod template.
func container(name string) object { return object{"name": name, "image": "example.com/" + name} }

// with sets a field of the object.
func (o object) with(field string, value any) object {
	o[field] = value
	return o
}

// withData sets the data of a ConfigMap or an object of crdData to keys and values.
func (o object) withData(pairs ...string) object {
	data := object{}
	for i := 0; i < len(pairs); i += 2 {
		data[pairs[i]] = pairs[i+1]
	}
	return o.with("data", data)
}

// isCustom reports whether the collection has custom resources.
func (c collection) isCustom() bool { return c.s.run.crdGroup() == c.group }

// onMaps returns two cases of one rule, on ConfigMaps (ID/typed) and on objects of crdData
// (ID/custom). Both have the field data.
func onMaps(c Case, check collectionCheck) []Case {
	typed, custom := typedAndCustom(c)
	return []Case{onCollection((*session).configMaps, typed, check), onCollection((*session).dataCRs, custom, check)}
}

// onMap is like onMaps, with an object "a" with the data k=1 of the manager "creator".
func onMap(c Case, check collectionCheck) []Case {
	return onMaps(c, func(ctx context.Context, s *session, c collection) error {
		create := post(c.path()+"?fieldManager=creator", c.object("a").withData("k", "1"))
		if err := s.expect(ctx, create, code(http.StatusCreated)); err != nil {
			return err
		}
		return check(ctx, s, c)
	})
}
