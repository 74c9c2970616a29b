package mutants

// selectors are mutants of label and field selectors.
func selectors() []Mutant {
	return []Mutant{
		{"SE-01", "empty-label-is-none", "does not see a label with an empty value",
			verbs + "selector.go", `_, ok := r.Labels.Get(label)
	return ok`, `value, _ := r.Labels.Get(label)
	return value != ""`, nil},
		{"SE-02", "not-means-another", "selects by != and notin only objects that have the label",
			verbs + "selector.go", `s.labels != nil && !s.labels.Matches((*recordLabels)(rec)) {`, `s.labels != nil && (len(rec.Labels) == 0 || !s.labels.Matches((*recordLabels)(rec))) {`, nil},
		{"SE-05", "no-namespace-of-objects", "takes every object for one without a namespace, in field selectors",
			verbs + "selector.go", `return r.Key[first+1 : last], true`, `return r.Key[first+1 : last][:0], true`, nil},
		{"SE-06", "any-field-will-do", "takes selectors of fields that the type does not have",
			verbs + "selector.go", `return s, apierrors.NewBadRequest(err.Error())`, `if err.Error() == "" {
				return s, apierrors.NewBadRequest(err.Error())
			}`, nil},
		{"SE-08", "no-selectable-fields", "does not know the selectableFields of a definition",
			"fake/internal/resource/custom.go", `Fields:   selectable(v),`, `Fields:   selectable(v)[:0],`, []string{"CD"}},
		{"SE-10", "fields-are-ignored", "selects by labels only",
			verbs + "selector.go", `if s.fields == nil {
		return true, nil`, `if s.fields == nil || s.res != nil {
		return true, nil`, []string{"WA"}},
		{"SE-10", "deletes-what-is-not-selected", "deletes all of a collection whatever is selected",
			verbs + "deletecollection.go", `page, err := a.page(from.view, prefix, from.from, sel, limit(&opts))`, `page, err := a.page(from.view, prefix, from.from, selector{res: q.res}, limit(&opts))`, []string{"DL"}},
	}
}
