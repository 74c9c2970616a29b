package openapi

import (
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kube-openapi/pkg/common"
)

// route is an operation as input of the builders of kube-openapi. Its fields are not exported,
// because the builder encodes parameters in its error messages.
type route struct {
	method, path string
	// verb is the beginning of the operation's identifier, what its end.
	verb, what  string
	description string
	action      string
	kind        schema.GroupVersionKind
	parameters  []common.Parameter
	consumes    []string
	produces    []string
	// reads is the model of the body, or "" if there is none. optional reports whether the body is
	// optional.
	reads    model
	optional bool
	answers  []common.StatusCodeResponse
}

// model is the name of a schema, or of a simple type.
type model string

// OpenAPICanonicalTypeName implements the interface by which the builder names schemas.
func (m model) OpenAPICanonicalTypeName() string { return string(m) }

func (r *route) Method() string                                   { return r.method }
func (r *route) Path() string                                     { return r.path }
func (r *route) Description() string                              { return r.description }
func (r *route) Consumes() []string                               { return r.consumes }
func (r *route) Produces() []string                               { return r.produces }
func (r *route) StatusCodeResponses() []common.StatusCodeResponse { return r.answers }
func (r *route) ResponsePayloadSample() any                       { return nil }

// Parameters returns the parameters of the path and the query, and the body.
func (r *route) Parameters() []common.Parameter {
	if r.reads == "" {
		return r.parameters
	}
	return append(r.parameters[:len(r.parameters):len(r.parameters)],
		&parameter{name: "body", kind: common.BodyParameterKind, required: !r.optional})
}

func (r *route) RequestPayloadSample() any {
	if r.reads == "" {
		return nil
	}
	return r.reads
}

// Metadata returns the extensions of the operation.
func (r *route) Metadata() map[string]any {
	if r.action == "" {
		return nil
	}
	return map[string]any{"x-kubernetes-action": r.action, extensionKind: kindExtension(r.kind)}
}

const extensionKind = "x-kubernetes-group-version-kind"

// kindExtension returns the extension with a kind. Operations have one kind, schemas a list.
func kindExtension(kind schema.GroupVersionKind) map[string]any {
	return map[string]any{"group": kind.Group, "version": kind.Version, "kind": kind.Kind}
}

// OperationName returns an identifier that is unique in a document, such as
// listCoreV1NamespacedPod.
func (r *route) OperationName() string {
	owner, _ := r.owner()
	return r.verb + owner + r.what
}

// owner returns the group and version as in identifiers, RbacAuthorizationV1, and as in tags,
// rbacAuthorization_v1.
func (r *route) owner() (id, tag string) {
	parts := strings.Split(strings.Trim(r.path, "/"), "/")
	switch {
	case parts[0] == "api":
		parts[0] = "core"
	case parts[0] == "apis" && len(parts) > 1:
		parts = parts[1:]
	case parts[0] == ".well-known":
		return "", "WellKnown"
	default: // a path outside of the groups
		return "", parts[0]
	}
	var group strings.Builder
	for word := range strings.SplitSeq(strings.TrimSuffix(parts[0], ".k8s.io"), ".") {
		group.WriteString(title(word))
	}
	id = group.String()
	tag = strings.ToLower(id[:1]) + id[1:]
	if len(parts) > 1 {
		id += title(parts[1])
		tag += "_" + parts[1]
	}
	return id, tag
}

// title returns a word with its first letter in upper case.
func title(word string) string {
	if word == "" {
		return ""
	}
	return strings.ToUpper(word[:1]) + word[1:]
}

// identify returns the identifier and the tags of an operation.
func identify(r common.Route) (id string, tags []string, err error) {
	_, tag := r.(*route).owner()
	return r.OperationName(), []string{tag}, nil
}

// answer is a status code of an operation, with the model of its body.
type answer struct {
	code    int
	message string
	body    model
}

func (a answer) Code() int       { return a.code }
func (a answer) Message() string { return a.message }
func (a answer) Model() any      { return a.body }

func ok(body model) []common.StatusCodeResponse {
	return []common.StatusCodeResponse{answer{200, "OK", body}}
}

func okOrCreated(body model) []common.StatusCodeResponse {
	return append(ok(body), answer{201, "Created", body})
}

func okOrAccepted(body model) []common.StatusCodeResponse {
	return append(ok(body), answer{202, "Accepted", body})
}

func okCreatedOrAccepted(body model) []common.StatusCodeResponse {
	return append(okOrCreated(body), answer{202, "Accepted", body})
}

// container has the routes of one document.
type container struct {
	root   string
	routes []common.Route
}

func (c *container) RootPath() string                   { return c.root }
func (c *container) PathParameters() []common.Parameter { return nil }
func (c *container) Routes() []common.Route             { return c.routes }

func (c *container) add(r *route) { c.routes = append(c.routes, r) }
