package conformance

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// crdPath is the path of CustomResourceDefinitions.
const crdPath = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

// crdPerCase is a CRD that a case creates for itself, in a group of its own. Its objects are called
// Gears. The case may change the body before it is sent.
type crdPerCase struct {
	s     *session
	group string
	body  object
}

// newCRDPerCase returns a namespaced CRD with the version v1, which has a status subresource and a
// schema with these properties.
func (s *session) newCRDPerCase(properties object) crdPerCase {
	s.crds++
	d := crdPerCase{s: s, group: "g" + s.numbered(s.crds) + "." + s.run.crdGroup()}
	d.body = newObject("apiextensions.k8s.io/v1", "CustomResourceDefinition", "gears."+d.group)
	d.body["spec"] = object{
		"group": d.group, "scope": "Namespaced", "names": object{"plural": "gears", "kind": "Gear"},
		"versions": []object{crdVersion("v1", properties)},
	}
	return d
}

// crdVersion returns a served version of a CRD, whose schema has these properties. Version v1 is
// the storage version.
func crdVersion(name string, properties object) object {
	return object{
		"name": name, "served": true, "storage": name == "v1",
		"subresources": object{"status": object{}}, "schema": object{"openAPIV3Schema": objectSchema(properties)},
	}
}

// These functions return schemas of values.

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

// spec returns the spec, which may be changed.
func (d crdPerCase) spec() object { return d.body["spec"].(object) }

// names returns the names in the spec, which may be changed.
func (d crdPerCase) names() object { return d.spec()["names"].(object) }

// version returns a version by index, which may be changed.
func (d crdPerCase) version(i int) object { return d.spec()["versions"].([]object)[i] }

// schema returns the schema of a version by index, which may be changed.
func (d crdPerCase) schema(i int) object {
	return d.version(i)["schema"].(object)["openAPIV3Schema"].(object)
}

// addVersions adds versions.
func (d crdPerCase) addVersions(versions ...object) crdPerCase {
	d.spec()["versions"] = append(d.spec()["versions"].([]object), versions...)
	return d
}

// name returns the name of the CRD, "gears.GROUP".
func (d crdPerCase) name() string { return d.body["metadata"].(object)["name"].(string) }

// path returns the path of the CRD.
func (d crdPerCase) path() string { return crdPath + "/" + d.name() }

// collection returns the Gears of a version, without a namespace.
func (d crdPerCase) collection(version string) collection {
	return collection{
		s: d.s, root: "/apis/" + d.group + "/" + version, apiVersion: d.group + "/" + version,
		group: d.group, kind: "Gear", resource: "gears",
	}
}

// create creates the CRD and checks the expectations.
func (d crdPerCase) create(ctx context.Context, expect ...expectation) error {
	return d.s.expect(ctx, post(crdPath, d.body), expect...)
}

// createAndWait creates the CRD, waits until all served versions work, and returns the Gears of v1
// in a new namespace.
func (d crdPerCase) createAndWait(ctx context.Context) (collection, error) {
	if err := d.createAndServe(ctx); err != nil {
		return collection{}, err
	}
	return d.s.newCollection(ctx, d.collection("v1"), nil)
}

// createAndServe creates the CRD and waits until all served versions work.
func (d crdPerCase) createAndServe(ctx context.Context) error {
	if err := d.create(ctx, code(http.StatusCreated)); err != nil {
		return err
	}
	for _, one := range d.spec()["versions"].([]object) {
		if one["served"] != true {
			continue
		}
		if err := d.s.waitFor(ctx, get(d.collection(one["name"].(string)).allNamespacesPath()), code(http.StatusOK)); err != nil {
			return fmt.Errorf("waiting for the custom resource to be served: %w", err)
		}
	}
	return nil
}

// inVersion returns the same collection in another version.
func (d crdPerCase) inVersion(version string, c collection) collection {
	c.root, c.apiVersion = "/apis/"+d.group+"/"+version, d.group+"/"+version
	return c
}

// waitForCRDRemoval waits until the server has removed the CRDs that the run deleted. A server
// first deletes their objects, and keeps a CRD whose objects it cannot delete. It returns an error
// for each CRD that stays. kube-apiserver may miss that it has to finalize a CRD, if the conditions
// of the CRD change at the same time, until the CRD changes again or some minutes have passed.
func (r *run) waitForCRDRemoval(ctx context.Context) (left []error) {
	if len(r.pendingDeletion) == 0 {
		return nil
	}
	attempts := 0
	_ = poll(ctx, func(ctx context.Context) error {
		attempts++
		existing, err := r.existingCRDs(ctx)
		if err != nil {
			if left == nil {
				left = []error{err}
			}
			return nil // the server is not reachable
		}
		left = nil
		for _, path := range r.pendingDeletion {
			if existing[path] && attempts == 20 { // after about ten seconds
				_, _ = r.shared.send(ctx, mergePatch(path, object{"metadata": object{"annotations": object{"conformance.example.com/step": "finalize"}}}))
			}
			if existing[path] {
				left = append(left, fmt.Errorf("%s was deleted, and is still there", path))
			}
		}
		return errors.Join(left...)
	})
	return left
}

// addPendingDeletion adds the path of a CRD that was deleted.
func (r *run) addPendingDeletion(path string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.pendingDeletion = append(r.pendingDeletion, path)
}

// existingCRDs returns the paths of all CRDs of the server.
func (r *run) existingCRDs(ctx context.Context) (map[string]bool, error) {
	partial := get(crdPath).withAccept("application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json")
	resp, err := r.shared.do(ctx, partial, code(http.StatusOK))
	if err != nil {
		return nil, err
	}
	var list metav1.PartialObjectMetadataList
	if err := resp.decode(&list); err != nil {
		return nil, err
	}
	existing := map[string]bool{}
	for _, one := range list.Items {
		existing[crdPath+"/"+one.Name] = true
	}
	return existing, nil
}

// patch changes the CRD with a JSON patch. The server may apply the change to its objects later.
func (d crdPerCase) patch(ctx context.Context, operations ...object) error {
	return d.s.expect(ctx, jsonPatch(d.path(), operations...), code(http.StatusOK))
}

// setOp returns an operation of a JSON patch that sets the value at a path.
func setOp(path string, value any) object {
	return object{"op": "add", "path": path, "value": value}
}

// propertyPath returns the path of a field in the schema of the first version.
func propertyPath(path string) string {
	return "/spec/versions/0/schema/openAPIV3Schema/properties/" + path
}

// waitFor repeats a call until the response meets the expectations.
func (s *session) waitFor(ctx context.Context, c call, expect ...expectation) error {
	return poll(ctx, func(ctx context.Context) error { return s.expect(ctx, c, expect...) })
}

// withSpec returns a body with a spec.
func (c collection) withSpec(name string, spec object) object {
	return c.object(name).with("spec", spec)
}

// dryRunCreate returns a dry run of a create.
func (c collection) dryRunCreate(o object) call { return post(c.path(), o).withQuery("dryRun=All") }

// cause returns a cause of a failure.
func cause(kind metav1.CauseType, field, text string) metav1.StatusCause {
	return metav1.StatusCause{Type: kind, Field: field, Message: text}
}

// invalid expects that the CRD is invalid with these causes.
func (d crdPerCase) invalid(causes ...metav1.StatusCause) expectation {
	c := collection{group: "apiextensions.k8s.io", kind: "CustomResourceDefinition"}
	return c.invalidField(d.name(), causes...).check
}

// condition expects a condition of the CRD with a status and a reason.
func condition(kind, status, reason string) expectation {
	return func(r *response) error {
		var got struct {
			Status struct{ Conditions []metav1.Condition }
		}
		if err := r.decode(&got); err != nil {
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

// perCaseCheck checks a server for a case on a crdPerCase.
type perCaseCheck func(ctx context.Context, d crdPerCase, c collection) error

// onCRDPerCase returns a case that creates a CRD with these properties and waits until it is
// served.
func onCRDPerCase(c Case, properties object, check perCaseCheck) Case {
	return withCRDPerCase(c, properties, func(ctx context.Context, d crdPerCase) error {
		in, err := d.createAndWait(ctx)
		if err != nil {
			return err
		}
		return check(ctx, d, in)
	})
}

// withCRDPerCase returns a case that gets a CRD with these properties, which has not been created.
func withCRDPerCase(c Case, properties object, check func(ctx context.Context, d crdPerCase) error) Case {
	c.check = func(ctx context.Context, s *session) error {
		if err := s.skipUnlessServed(ctx, "apiextensions.k8s.io/v1", "customresourcedefinitions"); err != nil {
			return err
		}
		return check(ctx, s.newCRDPerCase(properties))
	}
	return c
}
