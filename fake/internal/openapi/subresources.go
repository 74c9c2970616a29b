package openapi

import (
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kube-openapi/pkg/spec3"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"example.com/fakeapi/fake/internal/resource"
)

// part is what an operation is on: a subresource, or the object itself.
type part struct{ sub *resource.Subresource }

var whole = part{}

// id ends the identifier of an operation: NodeStatus, DeploymentScale.
func (p part) id() string {
	if p.sub == nil {
		return ""
	}
	return versionID(p.sub.Name)
}

// kind is what is sent and answered.
func (p part) kind(r *resource.Resource) schema.GroupVersionKind {
	if p.sub == nil {
		return r.GroupVersionKind()
	}
	return p.sub.Kind
}

// schema is the name of the schema of that kind.
func (p part) schema(r *resource.Resource) string {
	if p.sub != nil && p.sub.Body() != nil {
		r = p.sub.Body()
	}
	return schemaName(r)
}

// addSubresource adds the path of a subresource; behind a proxy there is any path.
func addSubresource(paths map[string]*spec3.Path, object string, r *resource.Resource, sub *resource.Subresource, named []*spec3.Parameter) {
	at := object + sub.Name
	if !sub.Connects {
		paths[at] = subresourcePath(r, part{sub}, named)
		return
	}
	paths[at] = connectPath(r, part{sub}, "", named)
	if sub.Name == "proxy" {
		below := append(named[:len(named):len(named)], pathParameter("path", "the path behind the proxy"))
		paths[at+"/{path}"] = connectPath(r, part{sub}, "WithPath", below)
	}
}

func subresourcePath(r *resource.Resource, p part, named []*spec3.Parameter) *spec3.Path {
	props := spec3.PathProps{Parameters: append(named[:len(named):len(named)], prettyParameter())}
	if p.sub.HasVerb("get") {
		props.Get = read(r, p)
	}
	if p.sub.HasVerb("create") {
		props.Post = create(r, p)
	}
	if p.sub.HasVerb("update") {
		props.Put = replace(r, p)
	}
	if p.sub.HasVerb("patch") {
		props.Patch = patch(r, p)
	}
	return &spec3.Path{PathProps: props}
}

// connectPath has an operation for each method that is passed on.
func connectPath(r *resource.Resource, p part, end string, named []*spec3.Parameter) *spec3.Path {
	connect := func(verb, method string) *spec3.Operation {
		if !p.sub.HasVerb(verb) {
			return nil
		}
		op := operation(r, p, "connect", "connect "+method+" requests to "+p.sub.Name+" of "+r.Kind,
			"connect", versionID(strings.ToLower(method))+scoped(r)+p.id()+end, nil)
		text := &spec3.MediaType{MediaTypeProps: spec3.MediaTypeProps{Schema: &spec.Schema{
			SchemaProps: spec.SchemaProps{Type: spec.StringOrArray{"string"}},
		}}}
		op.Responses = responses(map[int]*spec3.Response{200: {ResponseProps: spec3.ResponseProps{
			Description: "OK", Content: map[string]*spec3.MediaType{"*/*": text},
		}}})
		return op
	}
	return &spec3.Path{PathProps: spec3.PathProps{
		Parameters: named,
		Get:        connect("get", "GET"), Post: connect("create", "POST"), Put: connect("update", "PUT"),
		Patch: connect("patch", "PATCH"), Delete: connect("delete", "DELETE"),
	}}
}
