package openapi

import (
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kube-openapi/pkg/common"
)

// The operations of custom resources differ from those of built-in types: they have fewer media
// types, no deprecated watch paths, and no body for deletecollection.

// customRoutes returns the operations of the custom resources of a group and version.
func customRoutes(root string, all []*CustomResource) *container {
	c := &container{root: root}
	for _, custom := range all {
		addCustom(c, custom)
	}
	return c
}

func addCustom(c *container, r *CustomResource) {
	at, scope, scoped := c.root+"/"+r.Plural, []common.Parameter(nil), r.Kind
	object, list := r.model(r.Kind), r.model(r.ListKind)
	if r.Namespaced {
		c.add(r.operation("list", "list", at, r.Kind+"ForAllNamespaces", "list objects of kind "+r.Kind, nil, listParameters(), ok(list)))
		at, scoped = c.root+"/namespaces/{namespace}/"+r.Plural, "Namespaced"+r.Kind
		scope = []common.Parameter{inPath("namespace", "object name and auth scope, such as for teams and projects")}
	}
	c.add(r.operation("list", "list", at, scoped, "list objects of kind "+r.Kind, scope, listParameters(), ok(list)))
	c.add(r.operation("create", "post", at, scoped, "create "+withArticle(r.Kind), scope, createParameters(), okCreatedOrAccepted(object)).reading(object))
	c.add(r.operation("delete", "deletecollection", at, "Collection"+scoped, "delete collection of "+r.Kind, scope, listParameters(), ok(modelStatus)))

	at, scope = at+"/{name}", named(r.Kind, scope)
	r.addPart(c, at, scoped, "", object, scope)
	remove := r.operation("delete", "delete", at, scoped, "delete "+withArticle(r.Kind), scope, deleteParameters(), okOrAccepted(modelStatus))
	c.add(remove.reading(modelDeleteOptions))
	remove.optional = true
	if r.Status {
		r.addPart(c, at+"/status", scoped+"Status", "status of ", object, scope)
	}
	if r.Scale {
		r.addPart(c, at+"/scale", scoped+"Scale", "scale of ", model(autoscalingv1.Scale{}.OpenAPIModelName()), scope)
	}
}

// addPart adds the operations of an object, or of a subresource.
func (r *CustomResource) addPart(c *container, at, what, of string, body model, names []common.Parameter) {
	of += "the specified " + r.Kind
	c.add(r.operation("read", "get", at, what, "read "+of, names, getParameters(), ok(body)))
	c.add(r.operation("replace", "put", at, what, "replace "+of, names, updateParameters(), okOrCreated(body)).reading(body))
	patch := r.operation("patch", "patch", at, what, "partially update "+of, names, patchParameters(), ok(body)).reading(modelPatch)
	patch.consumes = []string{"application/json-patch+json", "application/merge-patch+json", "application/apply-patch+yaml"}
	c.add(patch)
}

func (r *CustomResource) operation(verb, action, at, what, description string, names, options []common.Parameter, answers []common.StatusCodeResponse) *route {
	types := []string{"application/json", "application/yaml"}
	op := &route{
		verb: verb, action: action, path: at, what: what, description: description,
		method:   map[string]string{"post": "POST", "put": "PUT", "patch": "PATCH", "delete": "DELETE", "deletecollection": "DELETE"}[action],
		kind:     schema.GroupVersionKind{Group: r.Group, Version: r.Version, Kind: r.Kind},
		consumes: types, produces: types, answers: answers,
	}
	if op.method == "" {
		op.method = "GET"
	}
	pretty := inQuery("pretty", "If 'true', then the output is pretty printed. Defaults to 'false' unless the user-agent "+
		"indicates a browser or command-line HTTP tool (curl and wget).", "string")
	op.parameters = append(append(names[:len(names):len(names)], pretty), options...)
	return op
}

// reading sets the model of the request body.
func (r *route) reading(body model) *route {
	r.reads = body
	return r
}

// getParameters returns the parameters of GetOptions.
var getParameters = optionsOnce(metav1.GetOptions{})
