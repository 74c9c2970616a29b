package conformance

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// definitions is where the definitions of custom resources are.
const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

// definition is one that a case makes for itself: Gears, in a group that no other case has. The case changes the body before it is sent.
type definition struct {
	s     *session
	group string
	body  object
}

// define gives a definition of Gears, which are namespaced and have one version, v1, with a status and this schema besides.
func (s *session) define(properties object) definition {
	r := s.run
	r.definitions++
	d := definition{s: s, group: fmt.Sprintf("g%d.%s", r.definitions, r.group())}
	d.body = newObject("apiextensions.k8s.io/v1", "CustomResourceDefinition", "gears."+d.group)
	d.body["spec"] = object{
		"group": d.group, "scope": "Namespaced", "names": object{"plural": "gears", "kind": "Gear"},
		"versions": []object{versionOf("v1", properties)},
	}
	return d
}

// versionOf is one of a definition, with these properties in its schema. It is served; that of the name v1 is stored.
func versionOf(name string, properties object) object {
	return object{
		"name": name, "served": true, "storage": name == "v1",
		"subresources": object{"status": object{}}, "schema": object{"openAPIV3Schema": record(properties)},
	}
}

// The schemas of values.

func typed(kind string) object            { return object{"type": kind} }
func record(properties object) object     { return typed("object").with("properties", properties) }
func listOf(items object) object          { return typed("array").with("items", items) }
func mapOf(values object) object          { return typed("object").with("additionalProperties", values) }
func free() object                        { return typed("object").with("x-kubernetes-preserve-unknown-fields", true) }
func (o object) rules(r ...object) object { return o.with("x-kubernetes-validations", r) }

// spec is the specification, to be changed.
func (d definition) spec() object { return d.body["spec"].(object) }

// names are the names in the specification, to be changed.
func (d definition) names() object { return d.spec()["names"].(object) }

// version is the version of this number, to be changed.
func (d definition) version(i int) object { return d.spec()["versions"].([]object)[i] }

// schema is the schema of the version of this number, to be changed.
func (d definition) schema(i int) object {
	return d.version(i)["schema"].(object)["openAPIV3Schema"].(object)
}

// also adds versions.
func (d definition) also(versions ...object) definition {
	d.spec()["versions"] = append(d.spec()["versions"].([]object), versions...)
	return d
}

// name is that of the definition, "gears.GROUP".
func (d definition) name() string { return d.body["metadata"].(object)["name"].(string) }

// path is where the definition is.
func (d definition) path() string { return definitions + "/" + d.name() }

// in gives the Gears under a version, in no namespace yet.
func (d definition) in(version string) collection {
	return collection{
		s: d.s, root: "/apis/" + d.group + "/" + version, apiVersion: d.group + "/" + version,
		group: d.group, kind: "Gear", resource: "gears",
	}
}

// send creates the definition, and holds the answer against the expectations.
func (d definition) send(ctx context.Context, expect ...expectation) error {
	return d.s.try(ctx, post(definitions, d.body), expect...)
}

// serve creates the definition, waits until all versions are served that should be, and gives the Gears of v1 in a fresh namespace.
func (d definition) serve(ctx context.Context) (collection, error) {
	if err := d.send(ctx, code(http.StatusCreated)); err != nil {
		return collection{}, err
	}
	for _, one := range d.spec()["versions"].([]object) {
		if one["served"] != true {
			continue
		}
		if err := d.s.until(ctx, get(d.in(one["name"].(string)).everywhere()), code(http.StatusOK)); err != nil {
			return collection{}, fmt.Errorf("waiting for the custom resource to be served: %w", err)
		}
	}
	return d.s.fill(ctx, d.in("v1"), nil)
}

// under gives the same collection under another version.
func (d definition) under(version string, c collection) collection {
	c.root, c.apiVersion = "/apis/"+d.group+"/"+version, d.group+"/"+version
	return c
}

// awaitDefinitions waits for the end of the definitions that the run deleted. A server removes their objects first, and keeps a definition
// whose objects it cannot remove. It gives an error for each that stays.
func (r *run) awaitDefinitions(ctx context.Context) (left []error) {
	if len(r.doomed) == 0 {
		return nil
	}
	_ = poll(ctx, func(ctx context.Context) error {
		there, err := r.definitionsThere(ctx)
		if err != nil {
			if left == nil {
				left = []error{err}
			}
			return nil // there is nobody to ask
		}
		left = nil
		for _, path := range r.doomed {
			if there[path] {
				left = append(left, fmt.Errorf("%s was deleted, and is still there", path))
			}
		}
		return errors.Join(left...)
	})
	return left
}

// definitionsThere are the paths of all definitions that the server has.
func (r *run) definitionsThere(ctx context.Context) (map[string]bool, error) {
	brief := get(definitions).as("application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json")
	a, err := r.shared.do(ctx, brief, code(http.StatusOK))
	if err != nil {
		return nil, err
	}
	var list metav1.PartialObjectMetadataList
	if err := a.decode(&list); err != nil {
		return nil, err
	}
	there := map[string]bool{}
	for _, one := range list.Items {
		there[definitions+"/"+one.Name] = true
	}
	return there, nil
}

// change changes the definition by a JSON patch. What comes of it, the server may show a while later.
func (d definition) change(ctx context.Context, operations ...object) error {
	return d.s.try(ctx, jsonPatch(d.path(), operations...), code(http.StatusOK))
}

// set is an operation of a JSON patch that sets what is at the path.
func set(path string, value any) object {
	return object{"op": "add", "path": path, "value": value}
}

// property is the path of a field in the schema of the first version.
func property(path string) string {
	return "/spec/versions/0/schema/openAPIV3Schema/properties/" + path
}

// until makes a call again and again until the answer meets the expectations.
func (s *session) until(ctx context.Context, c call, expect ...expectation) error {
	return poll(ctx, func(ctx context.Context) error { return s.try(ctx, c, expect...) })
}

// gear is a body with this specification.
func (c collection) gear(name string, spec object) object { return c.object(name).with("spec", spec) }

// trial is the creation of an object that is not stored.
func (c collection) trial(o object) call { return post(c.path(), o).query("dryRun=All") }

// cause is one of a refusal.
func cause(kind metav1.CauseType, field, says string) metav1.StatusCause {
	return metav1.StatusCause{Type: kind, Field: field, Message: says}
}

// invalid is how the definition is refused for this cause.
func (d definition) invalid(causes ...metav1.StatusCause) expectation {
	c := collection{group: "apiextensions.k8s.io", kind: "CustomResourceDefinition"}
	return c.invalidField(d.name(), causes...).check
}

// condition expects a condition of the definition to be so, for this reason.
func condition(kind, status, reason string) expectation {
	return func(a *answer) error {
		var got struct {
			Status struct{ Conditions []metav1.Condition }
		}
		if err := a.decode(&got); err != nil {
			return err
		}
		for _, c := range got.Status.Conditions {
			if c.Type != kind {
				continue
			}
			if string(c.Status) != status || c.Reason != reason {
				return fmt.Errorf("expected the condition %s to be %s for %s, got %s for %s", kind, status, reason, c.Status, c.Reason)
			}
			return nil
		}
		return fmt.Errorf("expected a condition %s, got %v", kind, got.Status.Conditions)
	}
}

// gearCheck is the check of a case on Gears of its own.
type gearCheck func(ctx context.Context, d definition, c collection) error

// onGears makes a case that defines Gears with these properties, and waits until they are served.
func onGears(c Case, properties object, check gearCheck) Case {
	return defining(c, properties, func(ctx context.Context, d definition) error {
		in, err := d.serve(ctx)
		if err != nil {
			return err
		}
		return check(ctx, d, in)
	})
}

// defining makes a case that gets a definition of Gears with these properties, which is not sent yet.
func defining(c Case, properties object, check func(ctx context.Context, d definition) error) Case {
	c.check = func(ctx context.Context, s *session) error {
		if err := s.needs(ctx, "apiextensions.k8s.io/v1", "customresourcedefinitions"); err != nil {
			return err
		}
		return check(ctx, s.define(properties))
	}
	return c
}
