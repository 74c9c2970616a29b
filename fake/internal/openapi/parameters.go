package openapi

import (
	"slices"
	"strings"

	"k8s.io/kube-openapi/pkg/spec3"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// writeParameters are those of a create, an update or a patch.
func writeParameters() []*spec3.Parameter {
	return []*spec3.Parameter{
		query("dryRun", "string", "All: every stage of the request is run, and nothing is kept."),
		query("fieldManager", "string", "The name of who makes the change, at most 128 printable characters."),
		query("fieldValidation", "string", "What happens to unknown and duplicate fields of the body: Ignore them, Warn about them, or Strict, which refuses the request."),
	}
}

// patchParameters are those of a write, and force of an apply.
func patchParameters() []*spec3.Parameter {
	return append(writeParameters(),
		query("force", "boolean", "Takes fields that an apply conflicts over from their managers; for an apply only."))
}

func deleteParameters() []*spec3.Parameter {
	return []*spec3.Parameter{
		query("dryRun", "string", "All: every stage of the request is run, and nothing is deleted."),
		query("gracePeriodSeconds", "integer", "Seconds before the object is deleted; 0 is at once."),
		query("orphanDependents", "boolean", "Deprecated: see propagationPolicy, which excludes it."),
		query("propagationPolicy", "string", "What happens to dependents: Orphan, Background or Foreground."),
	}
}

func listParameters() []*spec3.Parameter {
	return []*spec3.Parameter{
		query("allowWatchBookmarks", "boolean", "Lets a watch send BOOKMARK events."),
		query("continue", "string", "The token of the page before."),
		query("fieldSelector", "string", "Restricts by fields; every one by default."),
		query("labelSelector", "string", "Restricts by labels; every one by default."),
		query("limit", "integer", "The most items of a page."),
		query("resourceVersion", "string", "Constrains which resource versions a request may be served from."),
		query("resourceVersionMatch", "string", "How resourceVersion is applied to a list: Exact or NotOlderThan."),
		query("sendInitialEvents", "boolean", "Begins a watch with the objects that exist and a bookmark behind them."),
		query("timeoutSeconds", "integer", "The longest that a list or watch takes."),
		query("watch", "boolean", "Asks for a stream of changes instead of a list."),
	}
}

// deleteCollectionParameters are those of a list, which choose the objects,
// and of a delete, which say how; the watch is left out.
func deleteCollectionParameters() []*spec3.Parameter {
	all := append(deleteParameters(), listParameters()...)
	all = slices.DeleteFunc(all, func(p *spec3.Parameter) bool { return p.Name == "watch" || p.Name == "allowWatchBookmarks" })
	slices.SortFunc(all, func(a, b *spec3.Parameter) int { return strings.Compare(a.Name, b.Name) })
	return all
}

func prettyParameter() *spec3.Parameter {
	return query("pretty", "string", "true: JSON is indented.")
}

func query(name, kind, description string) *spec3.Parameter {
	return &spec3.Parameter{ParameterProps: spec3.ParameterProps{
		Name: name, In: "query", Description: description, Schema: unique(kind),
	}}
}

func pathParameter(name, description string) *spec3.Parameter {
	return &spec3.Parameter{ParameterProps: spec3.ParameterProps{
		Name: name, In: "path", Description: description, Required: true, Schema: unique("string"),
	}}
}

// unique is the schema of a parameter, which counts once.
func unique(kind string) *spec.Schema {
	return &spec.Schema{SchemaProps: spec.SchemaProps{Type: spec.StringOrArray{kind}, UniqueItems: true}}
}
