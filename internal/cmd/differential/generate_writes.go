package differential

import (
	"fmt"
	"strings"
)

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
	if metadata, ok := o["metadata"].(object); ok && metadata["name"] == nil && (metadata["generateName"] == "g-" || g.IntN(2) == 0) {
		// Different names for each step, so that their order is the same on both servers.
		g.generated++
		metadata["generateName"] = fmt.Sprintf("g%d-", g.generated)
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
	g.removeStatusMetadata(o, subresource)
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

// removeStatusMetadata removes metadata of the status of a built-in type. Each type has other
// fields of it that a write to the status ignores.
func (g *generator) removeStatusMetadata(o object, subresource string) {
	if metadata, ok := o["metadata"].(object); ok && subresource == "status" && !g.target.isCustom {
		delete(metadata, "labels")
		delete(metadata, "ownerReferences")
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
	g.removeStatusMetadata(body, subresource)
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
		g.removeStatusMetadata(body, subresource)
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
