package differential

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// target is a resource to which steps are sent.
type target struct {
	resource, kind string
	// versions are the API versions, each with the schema of its objects.
	versions []apiVersion
	// subresources are those to which steps are sent.
	subresources []string
	isCustom     bool
}

type apiVersion struct {
	prefix string // of paths
	name   string // apiVersion
	schema object
}

// targets returns the resources of a definition, and built-in ones.
func targets(d *definition) []target {
	widgets := target{resource: "widgets", kind: "Widget", subresources: []string{"status"}, isCustom: true}
	if d.hasScale {
		widgets.subresources = append(widgets.subresources, "scale")
	}
	for _, version := range d.versions {
		widgets.versions = append(widgets.versions, apiVersion{"/apis/{group}/" + version, "{group}/" + version, d.schemas[version]})
	}
	configMaps := target{resource: "configmaps", kind: "ConfigMap", versions: []apiVersion{{"/api/v1", "v1", configMapSchema()}}}
	deployments := target{
		resource: "deployments", kind: "Deployment", subresources: []string{"status"},
		versions: []apiVersion{{"/apis/apps/v1", "apps/v1", deploymentSchema()}},
	}
	return []target{widgets, configMaps, deployments}
}

// generator makes random steps for one target.
type generator struct {
	values
	target target
}

// newSequence returns a sequence of n steps for a definition.
func newSequence(r *rand.Rand, d *definition, n int) []Step {
	all := targets(d)
	g := &generator{values: values{Rand: r, invalid: pick(r, 0, 10, 60, 200)}, target: all[max(0, r.IntN(12)-9)]}
	steps := make([]Step, n)
	for i := range steps {
		if i < 2 {
			steps[i] = g.create()
			continue
		}
		steps[i] = g.step()
	}
	return steps
}

// step returns a random step.
func (g *generator) step() Step {
	choices := []struct {
		weight int
		step   func() Step
	}{
		{12, g.create},
		{8, g.update},
		{14, g.resend},
		{8, g.jsonPatch},
		{10, g.mergePatch},
		{18, g.apply},
		{6, g.get},
		{8, g.list},
		{8, g.deleteOne},
		{2, g.deleteCollection},
		{5, g.watch},
	}
	total := 0
	for _, one := range choices {
		total += one.weight
	}
	n := g.IntN(total)
	for _, one := range choices {
		if n -= one.weight; n < 0 {
			return one.step()
		}
	}
	return g.get()
}

// version returns one of the versions of the target, mostly the first.
func (g *generator) version() apiVersion {
	if len(g.target.versions) > 1 && g.IntN(3) == 0 {
		return g.target.versions[1]
	}
	return g.target.versions[0]
}

func (g *generator) name() string { return pick(g.Rand, "a", "a", "a", "b", "b", "c") }

// collection returns the path of the collection.
func (g *generator) collection(v apiVersion) string {
	return v.prefix + "/namespaces/{ns}/" + g.target.resource
}

// path returns the path of an object, and the subresource of most writes in which that is not "".
func (g *generator) path(v apiVersion, name string) (path, subresource string) {
	path = g.collection(v) + "/" + name
	if len(g.target.subresources) > 0 && g.IntN(4) == 0 {
		subresource = pick(g.Rand, g.target.subresources...)
		path += "/" + subresource
	}
	return path, subresource
}

// writeOptions returns the query parameters of a write.
func (g *generator) writeOptions() (query []string) {
	if g.IntN(6) == 0 {
		query = append(query, "dryRun="+pick(g.Rand, "All", "All", "All", "Some"))
	}
	if g.IntN(3) == 0 {
		query = append(query, "fieldValidation="+pick(g.Rand, "Strict", "Strict", "Ignore", "Warn", "Other"))
	}
	if g.IntN(4) == 0 {
		query = append(query, "fieldManager="+pick(g.Rand, "m1", "m2", "m1"))
	}
	return query
}

// accept returns the header of a request for one object.
func (g *generator) accept() string {
	if g.IntN(5) > 0 {
		return ""
	}
	return pick(g.Rand,
		"application/json", "application/yaml", "application/json;as=Table;v=v1;g=meta.k8s.io", "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
		"application/vnd.kubernetes.protobuf", "application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;v=v1;g=meta.k8s.io", "text/plain", "application/cbor", "*/*")
}

// metadata returns the metadata of an object. name may be "".
func (g *generator) metadata(name string) object {
	m := object{}
	if name != "" {
		m["name"] = name
	}
	for range g.IntN(3) {
		switch g.IntN(22) {
		case 0, 1, 2, 3, 4:
			m["labels"] = pick[any](g.Rand, object{"l": "a"}, object{"l": "b"}, object{"l": "a", "n": "1"}, object{}, nil, object{"l": nil}, object{"-": "a"}, object{"l": number("1")})
		case 5, 6, 7:
			m["annotations"] = pick[any](g.Rand, object{"x": "1"}, object{"x": ""}, object{}, nil, object{"x": nil}, object{"a b": "1"}, object{"example.com/x": "1"})
		case 8, 9:
			m["finalizers"] = pick[any](g.Rand, []any{"example.com/f"}, []any{"example.com/f", "example.com/f"}, []any{}, nil, []any{"bad"}, []any{"example.com/g"}, []any{"foregroundDeletion"})
		case 10, 11:
			m["ownerReferences"] = pick[any](g.Rand, []any{g.owner()}, []any{}, nil, []any{g.owner(), g.owner()}, []any{object{"kind": "A"}})
		case 12:
			m["resourceVersion"] = pick[any](g.Rand, "", "0", "1", "{rv "+g.target.resource+"/"+g.name()+"}", "x")
		case 13:
			m["uid"] = pick[any](g.Rand, "", "x", "{uid "+g.target.resource+"/"+g.name()+"}")
		case 14:
			m["generateName"] = pick[any](g.Rand, "g-", "", "a/b", "A")
		case 15:
			m["namespace"] = pick[any](g.Rand, "{ns}", "", "other")
		case 16:
			m["creationTimestamp"] = pick[any](g.Rand, nil, "2020-01-01T00:00:00Z", "x")
		case 17:
			m["deletionTimestamp"] = pick[any](g.Rand, nil, "2020-01-01T00:00:00Z")
		case 18:
			m["managedFields"] = pick[any](g.Rand, []any{}, nil, []any{object{}}, []any{object{
				"manager": "m3", "operation": pick(g.Rand, "Apply", "Update"), "apiVersion": g.version().name, "time": "2020-01-01T00:00:00Z",
				"fieldsType": "FieldsV1", "fieldsV1": object{"f:metadata": object{"f:labels": object{"f:l": object{}}}},
			}})
		case 19:
			m["selfLink"] = pick[any](g.Rand, "", "/x", nil)
		case 20:
			m["generation"] = pick[any](g.Rand, number("0"), number("7"), number("2.0"), "1")
		case 21:
			m["unknown"] = g.anyValue(1)
		}
	}
	if g.IntN(1000) < g.invalid {
		m[pick(g.Rand, "labels", "annotations", "finalizers", "ownerReferences", "managedFields", "name")] = g.anyValue(2)
	}
	return m
}

// owner returns an ownerReference.
func (g *generator) owner() object {
	o := object{"apiVersion": "v1", "kind": "ConfigMap", "name": "o", "uid": pick(g.Rand, "u1", "u2", "{uid "+g.target.resource+"/a}")}
	if g.IntN(3) == 0 {
		o["controller"] = pick[any](g.Rand, true, false, nil)
	}
	if g.IntN(4) == 0 {
		o["blockOwnerDeletion"] = true
	}
	return o
}

// object returns the object of a request.
func (g *generator) objectFor(v apiVersion, name string) object {
	o := object{}
	if fields, ok := g.value(v.schema).(object); ok {
		o = fields
	}
	o["apiVersion"], o["kind"], o["metadata"] = v.name, g.target.kind, g.metadata(name)
	if g.IntN(1000) < g.invalid {
		switch g.IntN(5) {
		case 0:
			o["apiVersion"] = pick[any](g.Rand, "", "v9", "example.com/v1", nil, "v1")
		case 1:
			o["kind"] = pick[any](g.Rand, "", "Other", nil)
		case 2:
			delete(o, "kind")
		case 3:
			delete(o, "metadata")
		case 4:
			o["metadata"] = g.anyValue(1)
		}
	}
	return o
}

// create returns a POST.
func (g *generator) create() Step {
	v := g.version()
	o := g.objectFor(v, pick(g.Rand, "a", "b", "c", "a", "b", ""))
	if metadata, ok := o["metadata"].(object); ok && metadata["name"] == nil && g.IntN(2) == 0 {
		metadata["generateName"] = "g-"
	}
	return Step{Method: "POST", Path: g.collection(v), Query: g.writeOptions(), ContentType: g.contentType(), Accept: g.accept(), Body: jsonText(o)}
}

// contentType returns that of a body in JSON, which is YAML too.
func (g *generator) contentType() string {
	return pick(g.Rand, "application/json", "application/json", "application/json", "application/json", "application/yaml", "")
}

// update returns a PUT of a new object.
func (g *generator) update() Step {
	v, name := g.version(), g.name()
	path, subresource := g.path(v, name)
	o := g.objectFor(v, name)
	if subresource == "scale" {
		o = g.scale(name)
	}
	if metadata, ok := o["metadata"].(object); ok && g.IntN(3) > 0 {
		metadata["resourceVersion"] = "{rv " + g.target.resource + "/" + name + "}"
	}
	return Step{Method: "PUT", Path: path, Query: g.writeOptions(), ContentType: g.contentType(), Accept: g.accept(), Body: jsonText(o)}
}

// scale returns a Scale.
func (g *generator) scale(name string) object {
	return object{
		"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": object{"name": name},
		"spec": object{"replicas": pick[any](g.Rand, number("0"), number("1"), number("2"), number("2"), number("-1"), number("2.0"), nil, "1")},
	}
}

// resend returns a PUT of the object as it was last received, or with changes.
func (g *generator) resend() Step {
	v, name := g.version(), g.name()
	path, subresource := g.path(v, name)
	s := Step{Method: "PUT", Path: path, Query: g.writeOptions(), ContentType: "application/json", Accept: g.accept(), Resend: g.target.resource + "/" + name}
	if subresource == "scale" {
		s.Path, _ = strings.CutSuffix(path, "/scale")
	}
	edit := object{}
	if len(g.target.versions) > 1 {
		edit["apiVersion"] = v.name
	}
	if g.IntN(2) == 0 {
		edit = g.partial(v)
	}
	if g.IntN(5) == 0 {
		edit["metadata"] = object{"resourceVersion": pick[any](g.Rand, nil, "{rv0 "+s.Resend+"}")}
	}
	if len(edit) > 0 {
		s.Body = jsonText(edit)
	}
	return s
}

// partial returns an object with some of the fields of the target.
func (g *generator) partial(v apiVersion) object {
	o, _ := g.value(v.schema).(object)
	if o == nil {
		o = object{}
	}
	if g.IntN(2) == 0 {
		o["metadata"] = g.metadata("")
	}
	g.thin(o, schemaOf(v.schema["properties"]))
	o["apiVersion"] = v.name
	return o
}

// thin removes some of the fields at every level, and sets others to null.
func (g *generator) thin(o, properties object) {
	for _, name := range sortedKeys(properties) {
		switch g.IntN(20) {
		case 0:
			o[name] = nil
		case 1, 2, 3, 4, 5:
			delete(o, name)
		}
		if inner, ok := o[name].(object); ok {
			g.thin(inner, schemaOf(schemaOf(properties[name])["properties"]))
		}
	}
}

// mergePatch returns a merge patch, or a strategic merge patch of a built-in type.
func (g *generator) mergePatch() Step {
	v, name := g.version(), g.name()
	path, subresource := g.path(v, name)
	s := Step{Method: "PATCH", Path: path, Query: g.writeOptions(), ContentType: "application/merge-patch+json", Accept: g.accept()}
	if !g.target.isCustom && g.IntN(2) == 0 {
		s.ContentType = "application/strategic-merge-patch+json"
	}
	body := g.partial(v)
	if g.IntN(4) > 0 {
		delete(body, "apiVersion")
	}
	if subresource == "scale" && g.IntN(4) > 0 {
		body = object{"spec": g.scale(name)["spec"]}
	}
	s.Body = jsonText(body)
	return s
}

// jsonPatch returns a JSON patch.
func (g *generator) jsonPatch() Step {
	v, name := g.version(), g.name()
	path, _ := g.path(v, name)
	operations := []any{}
	for range 1 + g.IntN(2) {
		at, s := g.pointer(v)
		one := object{"op": pick(g.Rand, "add", "add", "replace", "remove", "test", "copy", "move", "other"), "path": at}
		switch one["op"] {
		case "add", "replace", "test":
			one["value"] = g.value(s)
		case "copy", "move":
			one["from"], _ = g.pointer(v)
		}
		operations = append(operations, one)
	}
	return Step{Method: "PATCH", Path: path, Query: g.writeOptions(), ContentType: "application/json-patch+json", Accept: g.accept(), Body: jsonText(operations)}
}

// pointer returns a JSON pointer to a field and its schema.
func (g *generator) pointer(v apiVersion) (string, object) {
	if g.IntN(4) == 0 {
		return pick(g.Rand, "/metadata/labels/l", "/metadata/labels", "/metadata/annotations", "/metadata/finalizers/0", "/metadata/finalizers", "/none/x", "", "/metadata/managedFields", "/kind"),
			object{"type": "string"}
	}
	at, s := "", v.schema
	for depth := 0; ; depth++ {
		properties := schemaOf(s["properties"])
		names := sortedKeys(properties)
		switch {
		case s["type"] == "array":
			at, s = at+pick(g.Rand, "/0", "/-", "/1"), schemaOf(s["items"])
		case len(names) > 0:
			name := pick(g.Rand, names...)
			at, s = at+"/"+name, schemaOf(properties[name])
		case s["additionalProperties"] != nil:
			at, s = at+pick(g.Rand, "/a", "/b"), schemaOf(s["additionalProperties"])
		default:
			return at, s
		}
		if depth > 0 && g.IntN(3) == 0 {
			return at, s
		}
	}
}

// apply returns an apply.
func (g *generator) apply() Step {
	v, name := g.version(), g.name()
	path, subresource := g.path(v, name)
	var body object
	if subresource == "scale" {
		body = g.scale(name)
	} else {
		body = g.partial(v)
		metadata, _ := body["metadata"].(object)
		if metadata == nil {
			metadata = object{}
		}
		if g.IntN(3) > 0 {
			metadata["name"] = name
		}
		body["kind"], body["metadata"] = g.target.kind, metadata
	}
	s := Step{Method: "PATCH", Path: path, ContentType: "application/apply-patch+yaml", Accept: g.accept(), Body: jsonText(body)}
	s.Query = []string{"fieldManager=" + pick(g.Rand, "m1", "m1", "m2", "m3")}
	if g.IntN(2) == 0 {
		s.Query = append(s.Query, "force="+pick(g.Rand, "true", "true", "true", "false"))
	}
	for _, option := range g.writeOptions() {
		if !strings.HasPrefix(option, "fieldManager=") {
			s.Query = append(s.Query, option)
		}
	}
	return s
}

func (g *generator) get() Step {
	v := g.version()
	path, _ := g.path(v, g.name())
	s := Step{Method: "GET", Path: path, Accept: g.accept()}
	if g.IntN(5) == 0 {
		s.Query = []string{"resourceVersion=" + pick(g.Rand, "0", "{rv list}", "{rv "+g.target.resource+"/a}", "x")}
	}
	return s
}

// selectors returns query parameters that select objects.
func (g *generator) selectors() (query []string) {
	if g.IntN(3) == 0 {
		query = append(query, "labelSelector="+pick(g.Rand, "l%3Da", "l", "%21l", "l%21%3Da", "l+in+(a,b)", "l+notin+(a)", "l%3D", "l+in", "n%3E0"))
	}
	if g.IntN(5) == 0 {
		query = append(query, "fieldSelector="+pick(g.Rand, "metadata.name%3Da", "metadata.name%21%3Da", "metadata.namespace%3D{ns}", "spec.x%3D1", "metadata.name%3Da,metadata.name%3Db", "x"))
	}
	return query
}

func (g *generator) list() Step {
	v := g.version()
	s := Step{Method: "GET", Path: g.collection(v), Query: g.selectors(), Accept: g.accept()}
	if g.IntN(3) == 0 {
		s.Query = append(s.Query, "limit="+pick(g.Rand, "1", "1", "2", "0", "-1", "x"))
		if g.IntN(3) == 0 {
			s.Query = append(s.Query, "continue={continue}")
		}
	}
	if g.IntN(4) == 0 {
		s.Query = append(s.Query, "resourceVersion="+pick(g.Rand, "0", "{rv list}", "{rv "+g.target.resource+"/a}", "x"))
		if g.IntN(2) == 0 {
			s.Query = append(s.Query, "resourceVersionMatch="+pick(g.Rand, "Exact", "NotOlderThan", "x"))
		}
	}
	return s
}

// deleteOptions returns the body of a DELETE.
func (g *generator) deleteOptions() string {
	if g.IntN(2) == 0 {
		return ""
	}
	o := object{}
	for range 1 + g.IntN(2) {
		switch g.IntN(7) {
		case 0, 1:
			o["propagationPolicy"] = pick(g.Rand, "Orphan", "Foreground", "Background", "Other")
		case 2:
			o["gracePeriodSeconds"] = pick(g.Rand, number("0"), number("30"), number("-1"))
		case 3:
			o["preconditions"] = object{"uid": pick(g.Rand, "x", "{uid "+g.target.resource+"/a}")}
		case 4:
			o["preconditions"] = object{"resourceVersion": pick(g.Rand, "1", "{rv "+g.target.resource+"/a}")}
		case 5:
			o["orphanDependents"] = g.IntN(2) == 0
		case 6:
			o["dryRun"] = []any{pick(g.Rand, "All", "Some")}
		}
	}
	if g.IntN(2) == 0 {
		o["apiVersion"], o["kind"] = "v1", "DeleteOptions"
	}
	return jsonText(o)
}

func (g *generator) deleteOne() Step {
	v := g.version()
	s := Step{Method: "DELETE", Path: g.collection(v) + "/" + g.name(), Accept: g.accept(), Body: g.deleteOptions()}
	if s.Body != "" {
		s.ContentType = g.contentType()
	}
	if g.IntN(8) == 0 {
		s.Query = []string{pick(g.Rand, "dryRun=All", "gracePeriodSeconds=0", "propagationPolicy=Orphan", "propagationPolicy=Foreground", "orphanDependents=true")}
	}
	return s
}

func (g *generator) deleteCollection() Step {
	v := g.version()
	s := Step{Method: "DELETE", Path: g.collection(v), Query: g.selectors(), Accept: g.accept()}
	if g.IntN(3) == 0 {
		s.Body, s.ContentType = g.deleteOptions(), "application/json"
	}
	if g.IntN(4) == 0 {
		s.Query = append(s.Query, pick(g.Rand, "limit=1", "dryRun=All", "resourceVersion={rv list}", "resourceVersion=0"))
	}
	return s
}

func (g *generator) watch() Step {
	v := g.version()
	s := Step{Method: "GET", Path: g.collection(v), Query: append([]string{"watch=" + pick(g.Rand, "1", "true")}, g.selectors()...), Watch: true}
	switch g.IntN(6) {
	case 0, 1:
		s.Query = append(s.Query, fmt.Sprintf("resourceVersion={rv %s/%s}", g.target.resource, g.name()))
	case 2:
		s.Query = append(s.Query, "resourceVersion={rv list}")
	case 3:
		s.Query = append(s.Query, "resourceVersion="+pick(g.Rand, "0", "x", ""))
	case 4:
		s.Query = append(s.Query, "sendInitialEvents=true", "resourceVersionMatch=NotOlderThan", "allowWatchBookmarks=true")
	}
	if g.IntN(6) == 0 {
		s.Query = append(s.Query, "timeoutSeconds="+pick(g.Rand, "60", "0", "-1", "x"))
	}
	if g.IntN(6) == 0 {
		s.Accept = pick(g.Rand, "application/json;as=Table;v=v1;g=meta.k8s.io", "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io", "application/yaml", "application/vnd.kubernetes.protobuf")
	}
	return s
}
