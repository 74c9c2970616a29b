package mutants

// patches are mutants of patches, field validation and warnings.
func patches() []Mutant {
	const patch = "fake/internal/patch/patch.go"
	return []Mutant{
		{"PA-02", "any-patch-is-a-merge", "takes a patch of an unknown type for a JSON merge patch",
			verbs + "patch.go", `return types.PatchType(kind)`, `switch known := types.PatchType(kind); known {
	case types.JSONPatchType, types.StrategicMergePatchType, types.ApplyYAMLPatchType, types.ApplyCBORPatchType:
		return known
	}
	return types.MergePatchType`, nil},
		{"PA-03", "strategic-is-merge", "applies a strategic merge patch as a JSON merge patch",
			patch, `if p.kind == types.StrategicMergePatchType {
		return p.strategic`, `if p.kind == types.StrategicMergePatchType && obj == nil {
		return p.strategic`, nil},
		{"PA-06", "null-is-kept", "does not remove by a merge patch what is null in it",
			patch, `result, err := jsonpatch.MergePatch(current, p.body)`, `result, err := jsonpatch.MergePatch(current, []byte(strings.ReplaceAll(string(p.body), "null", "{}")))`, nil},
		{"PA-08", "failed-test-is-ok", "answers 200 to a JSON patch whose test fails, and changes nothing",
			patch, `return Result{}, status.Unprocessable(err) // PA-08`, `return Result{JSON: current}, nil`, nil},
		{"PA-11", "any-number-of-operations", "takes JSON patches of more than 10000 operations",
			patch, `if n := len(p.operations); n > maxOperations {`, `if n := len(p.operations); n > 1000*maxOperations {`, nil},
		{"PA-15", "patch-creates", "creates an object by a patch that is no apply",
			verbs + "patch.go", `return &rewrite{ // a patch creates nothing (PA-15)`, `return &rewrite{
		mayCreate: true,`, nil},
		{"PA-23", "patch-is-not-validated", "does not validate what a patch makes of an object",
			verbs + "update.go", `return validateUpdate(warning.WithWarningRecorder(q.r.Context(), q), q.res, q.sub, obj, old)`, `if q.r.Method == http.MethodPatch {
		return nil
	}
	return validateUpdate(warning.WithWarningRecorder(q.r.Context(), q), q.res, q.sub, obj, old)`, nil},
		{"FV-03", "warnings-are-lost", "does not warn of unknown fields",
			verbs + "warn.go", `for _, one := range found {`, `for _, one := range found[:0] {`, []string{"WN"}},
		{"FV-05", "strict-is-ignored", "stores objects with unknown fields though the client asked to refuse them",
			"fake/internal/codec/body.go", `if ok && obj != nil && validation != metav1.FieldValidationStrict {`, `if ok && obj != nil {`, nil},
		{"FV-07", "warns-who-ignores", "warns of unknown fields those who do not want to know",
			"fake/internal/codec/body.go", `strict := validation != metav1.FieldValidationIgnore
	if r.Custom`, `strict := validation != "" || r != nil
	if r.Custom`, nil},
		{"WN-01", "names-itself", "names itself in the warnings that it sends",
			verbs + "warn.go", `utilnet.NewWarningHeader(299, "-", text)`, `utilnet.NewWarningHeader(299, "fakeapi", text)`, []string{"FV"}},
		{"WN-04", "warns-at-length", "sends warnings of any length",
			verbs + "warn.go", `if w.cutting || w.written+utf8.RuneCountInString(text) <= warningsWhole {`, `if w.cutting || w.written+utf8.RuneCountInString(text) <= 1000*warningsWhole {`, nil},
		{"WN-05", "says-nothing-of-deprecation", "does not warn of deprecated types",
			verbs + "api.go", `q.warnings.add(w.Header(), res.Deprecation) // WN-05`, `q.warnings.add(w.Header(), "")`, nil},
	}
}
