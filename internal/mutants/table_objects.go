package mutants

// Where the files are that most mutants are in.
const (
	verbs   = "fake/internal/verbs/"
	managed = "fake/internal/managedfields/"
	schemas = "fake/internal/structural/"
)

// objects are mutants of the names and the metadata of objects.
func objects() []Mutant {
	return []Mutant{
		{"NM-02", "taken-name-is-no-error", "creates over a name that is taken, and answers with the object that is there",
			verbs + "create.go", `return nil, q.exists(m, accessor(old))`, `return old, nil`, nil},
		{"NM-03", "says-nothing-of-the-end", "does not say that a taken name is that of an object that is being deleted",
			verbs + "create.go", `if old.GetDeletionTimestamp() != nil {`, `if old == nil {`, nil},
		{"NM-05", "generates-nothing", "takes generateName for the name",
			verbs + "metadata.go", `m.SetName(a.ids.Name(m.GetGenerateName()))`, `m.SetName(m.GetGenerateName())`, nil},
		{"NM-15", "body-renames", "stores a PUT whose body names another object under the name of the path",
			verbs + "metadata.go", `case q.target.Name == "", name == q.target.Name:
		return nil`, `case q.target.Name == "", name == q.target.Name, name != "":
		if q.target.Name != "" {
			m.SetName(q.target.Name)
		}
		return nil`, nil},
		{"NM-17", "body-moves", "ignores that a body names another namespace than the path",
			verbs + "metadata.go", `if q.res.Namespaced && have != "" && have != want {`, `if q.res.Namespaced && have == "/" && have != want {`, nil},
		{"MD-04", "uid-of-the-name", "gives an object that is created again the uid that it had before",
			verbs + "metadata.go", `m.SetUID(a.ids.UID())`, `uid := a.ids.UID()
	if m.GetName() != "" {
		_, _ = fmt.Sscan(fmt.Sprintf("%x", m.GetNamespace()+"."+m.GetName()), &uid)
	}
	m.SetUID(uid)`, nil},
		{"MD-05", "metadata-is-mutable", "lets an update change what cannot change in the metadata",
			verbs + "metadata.go", `errs := validation.ValidateObjectMetaAccessorUpdate(m, old, path)`, `var errs field.ErrorList`, []string{"DL"}},
		{"MD-07", "creation-moves", "lets an update change the creationTimestamp",
			verbs + "metadata.go", `m.SetCreationTimestamp(old.GetCreationTimestamp())`, `if m.GetCreationTimestamp().Time.IsZero() {
		m.SetCreationTimestamp(old.GetCreationTimestamp())
	}`, nil},
		{"MD-09", "born-deleted", "creates objects that are being deleted, if the client says so",
			verbs + "metadata.go", `m.SetDeletionTimestamp(nil)`, `_ = m`, nil},
		{"MD-10", "deletion-is-taken-back", "lets an update take the deletionTimestamp away",
			verbs + "metadata.go", `if old.GetDeletionTimestamp() != nil {
		m.SetDeletionTimestamp(old.GetDeletionTimestamp())`, `if old.GetDeletionTimestamp() != nil && m.GetDeletionTimestamp() != nil {
		m.SetDeletionTimestamp(old.GetDeletionTimestamp())`, []string{"DL"}},
		{"MD-12", "version-on-create", "creates an object whose body has a resourceVersion",
			verbs + "create.go", `err == nil && rev != 0 { // MD-12`, `err == nil && rev != 0 && m == nil {`, nil},
		{"MD-15", "generation-of-metadata", "counts the generation when only metadata changes",
			verbs + "metadata.go", `res.Generation && specDiffers(obj, old) {`, `res.Generation {`, []string{"SU"}},
		{"MD-15", "generation-stands-still", "does not count the generation when the spec changes",
			verbs + "metadata.go", `specDiffers(obj, old) {
		m.SetGeneration(was.GetGeneration() + 1)`, `specDiffers(obj, old) {
		m.SetGeneration(was.GetGeneration())`, nil},
		{"MD-16", "deletion-is-not-counted", "does not count the generation when a deletion begins",
			verbs + "condemn.go", `m.SetGeneration(m.GetGeneration() + 1)`, `m.SetGeneration(m.GetGeneration())`, []string{"DL"}},
		{"MD-18", "any-label-will-do", "does not validate the metadata of new objects",
			verbs + "metadata.go", `errs := validation.ValidateObjectMetaAccessor(m, res.Namespaced, res.ValidateName, field.NewPath("metadata"))`, `_ = m
	var errs field.ErrorList`, []string{"NM"}},
		{"MD-25", "managers-lost-by-patches", "drops the managedFields of an object that is patched",
			verbs + "update.go", `case w.tracker != nil:`, `case w.tracker != nil && q.r.Method == http.MethodPatch:
		accessor(obj).SetManagedFields(nil)
		q.clock.track(w.tracker, nil, obj.DeepCopyObject(), "nobody")
	case w.tracker != nil:`, []string{"SA", "PA"}},
	}
}
