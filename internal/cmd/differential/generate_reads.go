package differential

import "fmt"

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
		s.Query = append(s.Query, "timeoutSeconds="+pick(g.Rand, "60", "0", "x"))
	}
	if g.IntN(6) == 0 {
		s.Accept = pick(g.Rand, "application/json;as=Table;v=v1;g=meta.k8s.io", "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io", "application/yaml", "application/vnd.kubernetes.protobuf")
	}
	return s
}
