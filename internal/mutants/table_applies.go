package mutants

// applies are mutants of server-side apply.
func applies() []Mutant {
	return []Mutant{
		{"SA-02", "apply-creates-nothing", "answers 404 to an apply of an object that is not there",
			verbs + "apply.go", `mayCreate: q.target.Subresource == "", // SA-02`, `mayCreate: q.target.Subresource == "/",`, nil},
		{"SA-03", "apply-forgets-an-owner", "forgets one of several managers in an apply",
			verbs + "apply.go", `m := accessor(obj)
`, `m := accessor(obj)
			if entries := m.GetManagedFields(); len(entries) > 1 {
				m.SetManagedFields(entries[:len(entries)-1])
			}
`, nil},
		{"SA-05", "no-conflicts", "takes the fields of other managers without being forced to",
			verbs + "apply.go", `force := opts.Force != nil && *opts.Force`, `force := opts.Force == nil || *opts.Force`, nil},
		{"SA-07", "force-is-ignored", "gives a conflict though force is set",
			verbs + "apply.go", `force := opts.Force != nil && *opts.Force`, `force := opts.Force == nil`, nil},
		{"SA-09", "apply-removes-nothing", "keeps the fields that a manager does not apply any more",
			managed + "apply.go", `obj, err := t.library.Apply(live, config, manager, force)`, `if m, ok := live.(metav1.Object); ok {
		entries := m.GetManagedFields()
		for i := range entries {
			if entries[i].Manager == manager && entries[i].Operation == metav1.ManagedFieldsOperationApply {
				m.SetManagedFields(append(entries[:i:i], entries[i+1:]...))
				break
			}
		}
	}
	obj, err := t.library.Apply(live, config, manager, force)`, nil},
		{"SA-11", "updates-own-nothing", "does not track what plain updates change",
			verbs + "update.go", `obj = q.clock.track(w.tracker, old, obj, q.manager(w.options.fieldManager))`, `if old != nil {
			accessor(obj).SetManagedFields(accessor(old).GetManagedFields())
			break
		}
		obj = q.clock.track(w.tracker, old, obj, q.manager(w.options.fieldManager))`, []string{"MD"}},
		{"SA-15", "bad-yaml-is-an-error-of-ours", "takes an apply whose YAML cannot be read to the object",
			verbs + "apply.go", `if _, err := yaml.ToJSON(config); err != nil {`, `if _, err := yaml.ToJSON(config); err != nil && opts == nil {`, nil},
		{"SA-25", "manager-by-user-agent", "names the manager by the User-Agent though it has been named",
			managed + "manager.go", `if fieldManager != "" {`, `if fieldManager != "" && userAgent == "" {`, []string{"MD"}},
		{"SA-32", "apply-of-status-owned", "lets an apply at the main path own the status",
			managed + "reset.go", `return paths(res.Resets)`, `return paths(res.Resets[:0])`, []string{"SU"}},
	}
}
