package openapi

import (
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kube-openapi/pkg/spec3"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"example.com/fakeapi/fake/internal/resource"
)

const (
	typeJSON     = "application/json"
	typeYAML     = "application/yaml"
	typeProtobuf = "application/vnd.kubernetes.protobuf"
)

func list(r *resource.Resource, id string, parameters []*spec3.Parameter) *spec3.Operation {
	op := operation(r, whole, "list", "list or watch objects of kind "+r.Kind, "list", id, parameters)
	answer := response("OK", listSchemaName(r))
	if r.HasVerb("watch") {
		answer.Content[typeJSON+";stream=watch"] = content(listSchemaName(r))
		answer.Content[typeProtobuf+";stream=watch"] = content(listSchemaName(r))
	}
	op.Responses = responses(map[int]*spec3.Response{200: answer})
	return op
}

func create(r *resource.Resource, p part) *spec3.Operation {
	op := operation(r, p, "post", "create a "+p.kind(r).Kind, "create", scoped(r)+p.id(), writeParameters())
	op.RequestBody = body(p.schema(r), true)
	op.Responses = responses(map[int]*spec3.Response{
		200: response("OK", p.schema(r)), 201: response("Created", p.schema(r)), 202: response("Accepted", p.schema(r)),
	})
	return op
}

func read(r *resource.Resource, p part) *spec3.Operation {
	op := operation(r, p, "get", "read the specified "+p.kind(r).Kind, "read", scoped(r)+p.id(), nil)
	op.Responses = responses(map[int]*spec3.Response{200: response("OK", p.schema(r))})
	return op
}

func replace(r *resource.Resource, p part) *spec3.Operation {
	op := operation(r, p, "put", "replace the specified "+p.kind(r).Kind, "replace", scoped(r)+p.id(), writeParameters())
	op.RequestBody = body(p.schema(r), true)
	op.Responses = responses(map[int]*spec3.Response{200: response("OK", p.schema(r)), 201: response("Created", p.schema(r))})
	return op
}

// patch does not list strategic merge: see the package's comment.
func patch(r *resource.Resource, p part) *spec3.Operation {
	op := operation(r, p, "patch", "change parts of the specified "+p.kind(r).Kind, "patch", scoped(r)+p.id(), patchParameters())
	op.RequestBody = &spec3.RequestBody{RequestBodyProps: spec3.RequestBodyProps{
		Required: true,
		Content: map[string]*spec3.MediaType{
			"application/apply-patch+yaml": content(schemaPatch),
			"application/json-patch+json":  content(schemaPatch),
			"application/merge-patch+json": content(schemaPatch),
		},
	}}
	op.Responses = responses(map[int]*spec3.Response{200: response("OK", p.schema(r)), 201: response("Created", p.schema(r))})
	return op
}

func remove(r *resource.Resource) *spec3.Operation {
	op := operation(r, whole, "delete", "delete a "+r.Kind, "delete", scoped(r), deleteParameters())
	answer := schemaStatus
	if r.ReturnsDeleted {
		answer = schemaName(r)
	}
	op.RequestBody = body(schemaDeleteOptions, false)
	op.Responses = responses(map[int]*spec3.Response{200: response("OK", answer), 202: response("Accepted", answer)})
	return op
}

func deleteCollection(r *resource.Resource) *spec3.Operation {
	op := operation(r, whole, "deletecollection", "delete a collection of "+r.Kind, "delete", "", deleteCollectionParameters())
	op.OperationId = "delete" + groupVersionID(r) + "Collection" + scoped(r)
	op.RequestBody = body(schemaDeleteOptions, false)
	op.Responses = responses(map[int]*spec3.Response{200: response("OK", schemaStatus)})
	return op
}

// operation is what every operation has: its identifier is made of the verb,
// the group and version, and id, and its extensions name the action and the
// kind (one object, where those of a schema are a list).
func operation(r *resource.Resource, p part, action, description, verb, id string, parameters []*spec3.Parameter) *spec3.Operation {
	groupVersion := groupVersionID(r)
	tag := strings.TrimSuffix(groupVersion, versionID(r.Version)) + "_" + r.Version
	return &spec3.Operation{
		OperationProps: spec3.OperationProps{
			Tags:        []string{strings.ToLower(tag[:1]) + tag[1:]},
			Description: description,
			OperationId: verb + groupVersion + id,
			Parameters:  parameters,
		},
		VendorExtensible: spec.VendorExtensible{Extensions: spec.Extensions{
			"x-kubernetes-action":             action,
			"x-kubernetes-group-version-kind": gvk(p.kind(r)),
		}},
	}
}

// groupVersionID is the group and version as operation identifiers spell them:
// CoreV1, RbacAuthorizationV1.
func groupVersionID(r *resource.Resource) string {
	if r.Group == "" {
		return "Core" + versionID(r.Version)
	}
	var id strings.Builder
	for part := range strings.SplitSeq(strings.TrimSuffix(r.Group, ".k8s.io"), ".") {
		id.WriteString(versionID(part))
	}
	return id.String() + versionID(r.Version)
}

// versionID is a lower-case word with its first letter in upper case.
func versionID(word string) string {
	return strings.ToUpper(word[:1]) + word[1:]
}

func scoped(r *resource.Resource) string {
	if r.Namespaced {
		return "Namespaced" + r.Kind
	}
	return r.Kind
}

func gvk(kind schema.GroupVersionKind) map[string]any {
	return map[string]any{"group": kind.Group, "version": kind.Version, "kind": kind.Kind}
}

func body(schema string, required bool) *spec3.RequestBody {
	return &spec3.RequestBody{RequestBodyProps: spec3.RequestBodyProps{
		Content:  map[string]*spec3.MediaType{"*/*": content(schema)},
		Required: required,
	}}
}

func response(description, schema string) *spec3.Response {
	media := content(schema)
	return &spec3.Response{ResponseProps: spec3.ResponseProps{
		Description: description,
		Content:     map[string]*spec3.MediaType{typeJSON: media, typeYAML: media, typeProtobuf: media},
	}}
}

func responses(byCode map[int]*spec3.Response) *spec3.Responses {
	return &spec3.Responses{ResponsesProps: spec3.ResponsesProps{StatusCodeResponses: byCode}}
}

func content(schema string) *spec3.MediaType {
	return &spec3.MediaType{MediaTypeProps: spec3.MediaTypeProps{Schema: reference(schema)}}
}
