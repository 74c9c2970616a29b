package mutants

// deletions are mutants of the ends of objects and of namespaces.
func deletions() []Mutant {
	return []Mutant{
		{"DL-01", "deleted-whom", "does not say the uid of what was deleted",
			verbs + "delete.go", `Kind: q.res.Plural, UID: left.uid,`, `Kind: q.res.Plural,`, nil},
		{"DL-03", "finalizers-are-ignored", "removes an object that has finalizers",
			verbs + "condemn.go", `if len(m.GetFinalizers()) == 0 {`, `if len(m.GetFinalizers()) >= 0 {`, nil},
		{"DL-04", "deleted-once-more", "changes an object that is being deleted when it is deleted again",
			verbs + "condemn.go", `if t := m.GetDeletionTimestamp(); t != nil {
		end = t.Time
	}`, `if t := m.GetDeletionTimestamp(); t != nil {
		end = t.Add(time.Second)
	}`, nil},
		{"DL-05", "outlives-its-finalizers", "keeps an object whose last finalizer has gone",
			verbs + "update.go", `return len(accessor(obj).GetFinalizers()) == 0 && m`, `return len(accessor(obj).GetFinalizers()) > 1000 && m`, nil},
		{"DL-10", "another-uid", "deletes the object of a name though the client means another uid",
			verbs + "delete.go", `case p.UID != nil && *p.UID != m.GetUID():`, `case p.UID != nil && *p.UID == "" && *p.UID != m.GetUID():`, nil},
		{"DL-11", "another-state", "deletes an object that has changed since the state that the client means",
			verbs + "delete.go", `case p.ResourceVersion != nil && *p.ResourceVersion != m.GetResourceVersion():`, `case p.ResourceVersion != nil && *p.ResourceVersion == "":`, nil},
		{"DL-12", "policy-is-ignored", "deletes in the background whatever the policy",
			verbs + "condemn.go", `return *opts.PropagationPolicy`, `return metav1.DeletePropagationBackground`, nil},
		{"DL-17", "query-wins", "does not read the options in the body of a delete",
			verbs + "delete.go", `if len(body) > 0 {
		err = q.decode`, `if len(body) > 1<<20 {
		err = q.decode`, nil},
		{"DL-21", "never-accepted", "answers 200 where 202 is due",
			verbs + "delete.go", `code = http.StatusAccepted // DL-21`, `code = http.StatusOK`, nil},
		{"DL-23", "no-end-of-grace", "does not delete at once what is to have no grace",
			verbs + "condemn.go", `period := res.Grace(obj, opts.GracePeriodSeconds)`, `period := res.Grace(obj, nil)`, nil},
		{"DL-24", "grace-grows", "lets a second delete make the grace longer",
			verbs + "condemn.go", `case asked == nil || max(*asked, 0) >= *granted:`, `case asked == nil:`, nil},
		{"DL-31", "deletes-all-pages", "ignores the limit of a deletecollection",
			verbs + "deletecollection.go", `sel, limit(&opts))
	if err`, `sel, 0)
	if err`, nil},
		{"NS-01", "no-namespace-needed", "creates objects in a namespace that does not exist",
			verbs + "namespace.go", `return apierrors.NewNotFound(namespaces, namespace)`, `return nil`, nil},
		{"NS-02", "room-in-the-ending", "creates objects in a namespace that is being deleted",
			verbs + "namespace.go", `phase != string(corev1.NamespaceTerminating) {`, `phase != "" {`, nil},
		{"NS-04", "default-may-go", "deletes the namespaces that every cluster needs",
			verbs + "namespace.go", `return apierrors.NewForbidden(namespaces, name, errors.New("this namespace may not be deleted"))`, `return nil`, nil},
		{"NS-06", "active-to-the-end", "does not say in the phase that a namespace is being deleted",
			verbs + "namespace.go", `ns.Status.Phase = corev1.NamespaceTerminating`, `_ = ns`, nil},
		{"NS-07", "finalizers-by-update", "lets an update of a namespace change its spec.finalizers",
			"fake/internal/resource/namespace_finalize.go", `obj.(*corev1.Namespace).Spec.Finalizers = old.(*corev1.Namespace).Spec.Finalizers`, `_ = old`, nil},
	}
}
