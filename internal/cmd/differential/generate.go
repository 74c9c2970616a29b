package differential

import (
	"math/rand/v2"
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
	// generated is the number of generateNames.
	generated int
}

// newSequence returns a sequence of n steps for a definition.
func newSequence(r *rand.Rand, d *definition, n int) []Step {
	if r.IntN(5) == 0 {
		return newDefinitionSequence(r, d, n)
	}
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
