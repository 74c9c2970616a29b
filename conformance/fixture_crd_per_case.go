package conformance

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// crdPath is where the definitions of custom resources are.
const crdPath = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

// crdPerCase is one that a case makes for itself: Gears, in a group that no other case has. The case changes the body before it is sent.
type crdPerCase struct {
	s     *session
	group string
	body  object
}

// newCRDPerCase gives a definition of Gears, which are namespaced and have one version, v1, with a status and this schema besides.
func (s *session) newCRDPerCase(properties object) crdPerCase {
	r := s.run
	r.crds++
	d := crdPerCase{s: s, group: fmt.Sprintf("g%d.%s", r.crds, r.crdGroup())}
	d.body = newObject("apiextensions.k8s.io/v1", "CustomResourceDefinition", "gears."+d.group)
	d.body["spec"] = object{
		"group": d.group, "scope": "Namespaced", "names": object{"plural": "gears", "kind": "Gear"},
		"versions": []object{crdVersion("v1", properties)},
	}
	return d
}

// crdVersion is one of a definition, with these properties in its schema. It is served; that of the name v1 is stored.
func crdVersion(name string, properties object) object {
	return object{
		"name": name, "served": true, "storage": name == "v1",
		"subresources": object{"status": object{}}, "schema": object{"openAPIV3Schema": objectSchema(properties)},
	}
}

// The schemas of values.

func typeSchema(kind string) object { return object{"type": kind} }
func objectSchema(properties object) object {
	return typeSchema("object").with("properties", properties)
}
func arraySchema(items object) object { return typeSchema("array").with("items", items) }
func mapSchema(values object) object {
	return typeSchema("object").with("additionalProperties", values)
}
func anySchema() object {
	return typeSchema("object").with("x-kubernetes-preserve-unknown-fields", true)
}
func (o object) withRules(r ...object) object { return o.with("x-kubernetes-validations", r) }

// spec is the specification, to be changed.
func (d crdPerCase) spec() object { return d.body["spec"].(object) }

// names are the names in the specification, to be changed.
func (d crdPerCase) names() object { return d.spec()["names"].(object) }

// version is the version of this number, to be changed.
func (d crdPerCase) version(i int) object { return d.spec()["versions"].([]object)[i] }

// schema is the schema of the version of this number, to be changed.
func (d crdPerCase) schema(i int) object {
	return d.version(i)["schema"].(object)["openAPIV3Schema"].(object)
}

// addVersions adds versions.
func (d crdPerCase) addVersions(versions ...object) crdPerCase {
	d.spec()["versions"] = append(d.spec()["versions"].([]object), versions...)
	return d
}

// name is that of the definition, "gears.GROUP".
func (d crdPerCase) name() string { return d.body["metadata"].(object)["name"].(string) }

// path is where the definition is.
func (d crdPerCase) path() string { return crdPath + "/" + d.name() }

// collection gives the Gears under a version, in no namespace yet.
func (d crdPerCase) collection(version string) collection {
	return collection{
		s: d.s, root: "/apis/" + d.group + "/" + version, apiVersion: d.group + "/" + version,
		group: d.group, kind: "Gear", resource: "gears",
	}
}

// create creates the definition, and holds the answer against the expectations.
func (d crdPerCase) create(ctx context.Context, expect ...expectation) error {
	return d.s.expect(ctx, post(crdPath, d.body), expect...)
}

// createAndWait creates the definition, waits until all versions are served that should be, and gives the Gears of v1 in a fresh namespace.
func (d crdPerCase) createAndWait(ctx context.Context) (collection, error) {
	if err := d.create(ctx, code(http.StatusCreated)); err != nil {
		return collection{}, err
	}
	for _, one := range d.spec()["versions"].([]object) {
		if one["served"] != true {
			continue
		}
		if err := d.s.waitFor(ctx, get(d.collection(one["name"].(string)).allNamespacesPath()), code(http.StatusOK)); err != nil {
			return collection{}, fmt.Errorf("waiting for the custom resource to be served: %w", err)
		}
	}
	return d.s.newCollection(ctx, d.collection("v1"), nil)
}

// inVersion gives the same collection under another version.
func (d crdPerCase) inVersion(version string, c collection) collection {
	c.root, c.apiVersion = "/apis/"+d.group+"/"+version, d.group+"/"+version
	return c
}

// waitForCRDRemoval waits for the end of the definitions that the run deleted. A server removes their objects first, and keeps a definition
// whose objects it cannot remove. It gives an error for each that stays.
func (r *run) waitForCRDRemoval(ctx context.Context) (left []error) {
	if len(r.pendingDeletion) == 0 {
		return nil
	}
	_ = poll(ctx, func(ctx context.Context) error {
		existing, err := r.existingCRDs(ctx)
		if err != nil {
			if left == nil {
				left = []error{err}
			}
			return nil // there is nobody to ask
		}
		left = nil
		for _, path := range r.pendingDeletion {
			if existing[path] {
				left = append(left, fmt.Errorf("%s was deleted, and is still there", path))
			}
		}
		return errors.Join(left...)
	})
	return left
}

// existingCRDs are the paths of all definitions that the server has.
func (r *run) existingCRDs(ctx context.Context) (map[string]bool, error) {
	partial := get(crdPath).withAccept("application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json")
	a, err := r.shared.do(ctx, partial, code(http.StatusOK))
	if err != nil {
		return nil, err
	}
	var list metav1.PartialObjectMetadataList
	if err := a.decode(&list); err != nil {
		return nil, err
	}
	existing := map[string]bool{}
	for _, one := range list.Items {
		existing[crdPath+"/"+one.Name] = true
	}
	return existing, nil
}

// patch changes the definition by a JSON patch. What comes of it, the server may show a while later.
func (d crdPerCase) patch(ctx context.Context, operations ...object) error {
	return d.s.expect(ctx, jsonPatch(d.path(), operations...), code(http.StatusOK))
}

// setOp is an operation of a JSON patch that sets what is at the path.
func setOp(path string, value any) object {
	return object{"op": "add", "path": path, "value": value}
}

// propertyPath is the path of a field in the schema of the first version.
func propertyPath(path string) string {
	return "/spec/versions/0/schema/openAPIV3Schema/properties/" + path
}

// waitFor makes a call again and again until the answer meets the expectations.
func (s *session) waitFor(ctx context.Context, c call, expect ...expectation) error {
	return poll(ctx, func(ctx context.Context) error { return s.expect(ctx, c, expect...) })
}

// withSpec is a body with this specification.
func (c collection) withSpec(name string, spec object) object {
	return c.object(name).with("spec", spec)
}

// dryRunCreate is the creation of an object that is not stored.
func (c collection) dryRunCreate(o object) call { return post(c.path(), o).withQuery("dryRun=All") }

// cause is one of a refusal.
func cause(kind metav1.CauseType, field, says string) metav1.StatusCause {
	return metav1.StatusCause{Type: kind, Field: field, Message: says}
}

// invalid is how the definition is refused for this cause.
func (d crdPerCase) invalid(causes ...metav1.StatusCause) expectation {
	c := collection{group: "apiextensions.k8s.io", kind: "CustomResourceDefinition"}
	return c.invalidField(d.name(), causes...).check
}

// condition expects a condition of the definition to be so, for this reason.
func condition(kind, status, reason string) expectation {
	return func(a *response) error {
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

// perCaseCheck is the check of a case on Gears of its own.
type perCaseCheck func(ctx context.Context, d crdPerCase, c collection) error

// onCRDPerCase makes a case that defines Gears with these properties, and waits until they are served.
func onCRDPerCase(c Case, properties object, check perCaseCheck) Case {
	return withCRDPerCase(c, properties, func(ctx context.Context, d crdPerCase) error {
		in, err := d.createAndWait(ctx)
		if err != nil {
			return err
		}
		return check(ctx, d, in)
	})
}

// withCRDPerCase makes a case that gets a definition of Gears with these properties, which is not sent yet.
func withCRDPerCase(c Case, properties object, check func(ctx context.Context, d crdPerCase) error) Case {
	c.check = func(ctx context.Context, s *session) error {
		if err := s.skipUnlessServed(ctx, "apiextensions.k8s.io/v1", "customresourcedefinitions"); err != nil {
			return err
		}
		return check(ctx, s.newCRDPerCase(properties))
	}
	return c
}
