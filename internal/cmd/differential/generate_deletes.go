package differential

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
		s.Query = append(s.Query, pick(g.Rand, "limit=1", "dryRun=All", "resourceVersion=0"))
	}
	return s
}
