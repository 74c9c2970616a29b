package mutants

// definitions are mutants of custom resources and their definitions.
func definitions() []Mutant {
	const definition = "fake/internal/definition/"
	return []Mutant{
		{"CD-01", "established-without-names", "serves a definition whose names are not accepted",
			definition + "accept.go", `if !apihelpers.IsCRDConditionTrue(crd, apiextensionsv1.NamesAccepted) || apihelpers`, `if apihelpers`, nil},
		{"CD-02", "serves-what-is-not-served", "serves a version that is not served",
			"fake/internal/resource/custom.go", `if v.Served {`, `if v.Served || v.Storage {`, []string{"DI"}},
		{"CD-05", "any-definition-will-do", "does not validate definitions",
			definition + "validate.go", `errs := validation.ValidateCustomResourceDefinition(ctx, inner)`, `errs := validation.ValidateCustomResourceDefinition(ctx, inner)[:0]`, nil},
		{"CD-07", "creates-in-the-ending", "creates objects of a definition that is being deleted",
			verbs + "namespace.go", `if a.types.Terminating(res) {`, `if a.types.Terminating(nil) {`, nil},
		{"CD-08", "objects-outlive-it", "leaves the objects of a definition that is deleted",
			verbs + "definitions.go", `if definition.DeletesInstances(began) {`, `if began == nil {`, nil},
		{"CD-08", "does-not-wait-for-its-objects", "lets a definition go before its last object has gone",
			verbs + "definitions.go", `if err != nil || left {
			return err
		}`, `if err != nil {
			return err
		}
		_ = left`, nil},
		{"CD-09", "pruning-is-off", "stores fields that the schema does not have",
			schemas + "take.go", `if !s.preserve {
		options`, `if !s.preserve && c.drop {
		options`, []string{"FV"}},
		{"CD-10", "any-value-will-do", "does not check the values of a new custom resource",
			schemas + "validate.go", `errs = append(errs, ordered(validation.ValidateCustomResource(nil, obj.Object, validator))...)
	errs = append(errs, validateReplicas(s.scale, obj)...)
	errs = append(errs, s.validateEmbedded(ctx, obj)...)
	errs = append(errs, s.validateLists(obj)...)`, `_ = validator
	errs = append(errs, s.validateLists(obj)...)`, nil},
		{"CD-10", "sets-with-doubles", "takes lists that are sets with an item twice",
			schemas + "validate.go", `if !s.traits.unique {`, `if !s.traits.unique || s.kind.Kind != "" {`, nil},
		{"CD-10", "status-is-not-checked", "does not check the values of a status",
			schemas + "validate.go", `if status, ok := obj.Object["status"]; ok && validator != nil {`, `if status, ok := obj.Object["status"]; ok && validator != nil && s.kind.Kind == "" {`, nil},
		{"CD-11", "no-defaults", "does not set the defaults of a schema",
			schemas + "take.go", `if s.traits.defaults {`, `if s.traits.defaults && obj == nil {`, nil},
		{"CD-11", "no-defaults-on-read", "does not set defaults that came after an object",
			schemas + "take.go", `_, _ = s.coerce(obj, coercion{drop: true})
	}
	s.setDefaults(obj)`, `_, _ = s.coerce(obj, coercion{drop: true})
	}`, nil},
		{"CD-11", "null-is-a-value", "keeps a null where there may be none",
			schemas + "take.go", `if hasNull(obj) {`, `if obj == nil {`, nil},
		{"CD-12", "rules-are-ignored", "does not run the rules in CEL",
			schemas + "validate.go", `if rules == nil {`, `if rules == nil || s.kind.Kind != "" {`, nil},
		{"CD-12", "rules-see-no-past", "runs no transition rules",
			schemas + "validate.go", `old = update.old`, `old = nil`, nil},
		{"CD-13", "no-ratcheting", "refuses an update for a value that was wrong before",
			schemas + "validate.go", `return ordered(validation.ValidateCustomResourceUpdate(path, value, old, validator, validation.WithRatcheting(correlated)))`, `return ordered(validation.ValidateCustomResource(path, value, validator))`, nil},
		{"CD-13", "no-ratcheting-of-rules", "refuses an update for a rule that was broken before",
			schemas + "validate.go", `options = append(options, cel.WithRatcheting(update.correlated))`, `_ = update.correlated`, nil},
		{"CD-14", "names-are-never-taken", "gives a definition names that another has",
			definition + "names.go", `if asked != accepted && taken.Has(asked) {`, `if asked != accepted && taken.Has(asked+"/") {`, nil},
		{"CD-14", "short-names-are-never-taken", "gives a definition short names that another has",
			definition + "names.go", `if !slices.Contains(accepted, name) && taken.Has(name) {`, `if !slices.Contains(accepted, name) && taken.Has(name+"/") {`, nil},
		{"CD-15", "conversion-forgets-labels", "loses the labels of an object that it converts",
			"fake/internal/custom/keep.go", `return out[0], target.Converted(out[0].Object)`, `if out[0] != obj {
		out[0].SetLabels(nil)
	}
	return out[0], target.Converted(out[0].Object)`, nil},
		{"CD-15", "stored-as-sent", "stores objects in the version in which they come, and shows them so in every other",
			"fake/internal/custom/keep.go", `out, err := d.converter.Convert(d.calls, []*unstructured.Unstructured{obj}, to)
	if err != nil {
		return nil, err
	}
	return out[0], target.Converted(out[0].Object)`, `out := obj.DeepCopy()
	return out, target.Converted(out.Object)`, nil},
		{"CD-08", "watches-go-on", "does not end the watches of a definition that has changed or gone",
			verbs + "watch.go", `defer context.AfterFunc(life, cancel)()`, `_ = life`, []string{"WA"}},
	}
}
