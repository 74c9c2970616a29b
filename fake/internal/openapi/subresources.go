package openapi

import (
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/kube-openapi/pkg/common"

	"example.com/fakeapi/fake/internal/resource"
)

// part is the subresource of an operation. Its zero value is the object itself.
type part struct{ sub *resource.Subresource }

// id returns the end of an operation's identifier: NodeStatus, DeploymentScale.
func (p part) id() string {
	if p.sub == nil {
		return ""
	}
	return title(p.sub.Name)
}

// of returns "NAME of WHAT" for a subresource.
func (p part) of(what string) string {
	if p.sub == nil {
		return what
	}
	return p.sub.Name + " of " + what
}

// kind returns the kind of the request and response body, or of the options of a connection.
func (p part) kind(r *resource.Resource) schema.GroupVersionKind {
	if p.sub == nil {
		return r.GroupVersionKind()
	}
	return p.sub.Kind
}

// model returns the schema of the request and response body.
func (p part) model(r *resource.Resource) model {
	if p.sub != nil && p.sub.BodyResource() != nil {
		r = p.sub.BodyResource()
	}
	return model(nameOf(reflect.TypeOf(r.New()).Elem()))
}

func listModel(r *resource.Resource) model {
	return model(nameOf(reflect.TypeOf(r.NewList()).Elem()))
}

// addSubresource adds the path of a subresource. A proxy also has all paths below it.
func addSubresource(c *container, r *resource.Resource, p part, object string, scope []common.Parameter) {
	at, names := object+p.sub.Name, named(p.kind(r).Kind, scope)
	if p.sub.IsConnect {
		addConnections(c, r, p, at, "", names)
		if p.sub.Name == "proxy" {
			below := append(names[:len(names):len(names)], inPath("path", "path to the resource"))
			addConnections(c, r, p, at+"/{path}", "WithPath", below)
		}
		return
	}
	if p.sub.HasVerb("get") {
		c.add(readPart(r, p, at, names))
	}
	if p.sub.HasVerb("create") {
		c.add(create(r, p, at, names))
	}
	if p.sub.HasVerb("update") {
		c.add(replace(r, p, at, names))
	}
	if p.sub.HasVerb("patch") {
		c.add(patch(r, p, at, names))
	}
}

// readPart returns the route that reads a subresource. The log is text and has options.
func readPart(r *resource.Resource, p part, at string, names []common.Parameter) *route {
	op := read(r, p, at, names)
	if p.sub.Name == "log" {
		op.parameters = append(op.parameters, logParameters()...)
		op.produces = append([]string{"text/plain"}, op.produces...)
		op.answers = ok("string")
	}
	return op
}

// addConnections adds an operation for each method of a connection.
func addConnections(c *container, r *resource.Resource, p part, at, end string, names []common.Parameter) {
	options := optionParameters(reflect.Zero(scheme.Scheme.AllKnownTypes()[p.sub.Kind]).Interface())
	for _, m := range []struct{ verb, method string }{
		{"get", "GET"}, {"create", "POST"}, {"update", "PUT"}, {"patch", "PATCH"}, {"delete", "DELETE"},
	} {
		if !p.sub.HasVerb(m.verb) {
			continue
		}
		op := operation(r, p, at, names, nil)
		op.parameters = append(names[:len(names):len(names)], options...)
		op.method, op.verb, op.action = m.method, "connect", "connect"
		op.what = title(strings.ToLower(m.method)) + op.what + end
		op.description = "connect " + m.method + " requests to " + p.of(r.Kind)
		op.consumes, op.produces, op.answers = anyType(), anyType(), ok("string")
		c.add(op)
	}
}
