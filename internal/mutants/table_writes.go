package mutants

// writes are mutants of creates, updates and dry runs, and of optimistic concurrency.
func writes() []Mutant {
	return []Mutant{
		{"OC-01", "status-keeps-the-version", "answers a write of the status with the resourceVersion from before",
			verbs + "write.go", `return unanswered(q.reply(code, e.Record))`, `if e.Changed() && e.Prev != nil && q.sub != nil {
			return unanswered(q.reply(code, e.Record.WithRevision(e.Prev.Revision)))
		}
		return unanswered(q.reply(code, e.Record))`, []string{"SU"}},
		{"OC-02", "lost-update", "takes an update made from an old state of the object",
			verbs + "update.go", `case strconv.FormatUint(rev, 10) != old.GetResourceVersion():`, `case strconv.FormatUint(rev, 10) == "":`, nil},
		{"OC-03", "every-put-is-a-change", "gives an object a new resourceVersion though nothing has changed",
			"memstore/update.go", `case draft == nil || !draft.equals(cur):`, `case draft == nil || draft != nil:`, []string{"PA", "SA", "WA"}},
		{"OC-04", "unconditional-updates", "takes an update without resourceVersion of a type that wants one",
			verbs + "update.go", `case rev == 0 && q.res.UnconditionalUpdate:`, `case rev == 0:`, nil},
		{"OC-06", "another-object-of-the-name", "takes an update that is meant for the object of another uid",
			verbs + "update.go", `if sent == "" || sent == have {`, `if sent == "" || sent != "" {`, nil},
		{"OC-12", "uid-of-nothing", "creates by apply an object that the client knows by its uid",
			verbs + "apply.go", `if old == nil && m.GetUID() != "" { // OC-12`, `if old != nil && m.GetUID() == "" {`, nil},
		{"OC-20", "conflict-of-the-resource", "names the resource, not the kind, in the conflict of a precondition",
			verbs + "delete.go", `Resource: res.Kind}, m.GetName(), err)`, `Resource: res.Plural}, m.GetName(), err)`, []string{"DL"}},
		{"CR-01", "created-is-ok", "answers 200 to a create",
			verbs + "create.go", `return q.answer(http.StatusCreated, out)`, `return q.answer(http.StatusOK, out)`, nil},
		{"CR-09", "no-end-of-a-body", "reads all of a body that does not say how long it is",
			verbs + "request.go", `body, err = io.ReadAll(io.LimitReader(r.Body, MaxBody+1))
	}
	switch {
	case len(body) > MaxBody,`, `body, err = io.ReadAll(r.Body)
	}
	switch {
	case len(body) > 1000*MaxBody,`, nil},
		{"CR-09", "too-large-is-bad", "answers 400 to a body that is too large",
			"fake/internal/status/status.go", `return apierrors.NewRequestEntityTooLargeError(fmt.Sprintf("limit is %d", limit))`, `return apierrors.NewBadRequest(fmt.Sprintf("limit is %d", limit))`, nil},
		{"CR-10", "no-object-is-too-large", "stores objects that etcd would not take",
			verbs + "write.go", `if len(draft.Data) > MaxObject {`, `if len(draft.Data) > 8*MaxObject {`, nil},
		{"CR-18", "managers-count", "refuses an object that is too large by its managedFields only",
			verbs + "create.go", `if errors.Is(err, errTooLarge) { // CR-18`, `if errors.Is(err, errTooLarge) && obj == nil {`, nil},
		{"DR-04", "dry-run-writes", "stores what a dry run does",
			verbs + "write.go", `if dryRun {
		_, err :=`, `if dryRun && res == nil {
		_, err :=`, nil},
		{"DR-10", "dry-run-deletes", "deletes in a dry run",
			verbs + "delete.go", `out, err := a.commit(res, key, isDryRun(opts.DryRun), func(`, `out, err := a.commit(res, key, isDryRun(nil), func(`, nil},
		{"DR-06", "dry-run-finds-no-name-taken", "does not find in a dry run that a name is taken",
			verbs + "create.go", `if old == nil {
			return obj, nil`, `if old == nil || dryRun {
			return obj, nil`, nil},
	}
}
