package mutants

// subresources are mutants of status, scale, binding and eviction.
func subresources() []Mutant {
	return []Mutant{
		{"SU-01", "update-writes-status", "lets an update at the main path write the status of a built-in type",
			verbs + "metadata.go", `if res.Status {
		copyStatus(obj, old)`, `if res.Status && res.Custom != nil {
		copyStatus(obj, old)`, nil},
		{"SU-01", "update-writes-status-of-custom", "lets an update at the main path write the status of a custom resource",
			verbs + "metadata.go", `if res.Status {
		copyStatus(obj, old)`, `if res.Status && res.Custom == nil {
		copyStatus(obj, old)`, nil},
		{"SU-01", "create-writes-status", "stores the status of a new object",
			verbs + "metadata.go", `if res.Status && !res.StatusOnCreate {`, `if res.Status && res.StatusOnCreate {`, nil},
		{"SU-02", "status-writes-spec", "lets a write to the status of a built-in type change its spec",
			"fake/internal/resource/status.go", `keepSpec(obj, old)
			for`, `for`, nil},
		{"SU-02", "status-writes-custom", "lets a write to the status of a custom resource change the rest of it",
			"fake/internal/resource/custom.go", `u.Object = unstructuredOf(old).DeepCopy().Object`, `_ = old`, []string{"CD"}},
		{"SU-04", "status-is-counted", "counts the generation when the status changes",
			verbs + "metadata.go", `if sub.Name != "status" {
		countGeneration(res, obj, old)`, `if sub.Name == "status" {
		accessor(obj).SetGeneration(accessor(old).GetGeneration() + 1)`, []string{"MD"}},
		{"SU-08", "scale-selects-nothing", "shows no selector in a Scale",
			verbs + "scale.go", `scale.Status.Selector = text.String()`, `_ = text`, nil},
		{"SU-09", "scale-below-zero", "takes a negative number of replicas",
			verbs + "scale.go", `if n := scale.Spec.Replicas; n < 0 {`, `if n := scale.Spec.Replicas; n < -1000 {`, nil},
		{"SU-09", "scale-changes-nothing", "does not write the replicas of a custom resource",
			verbs + "scale_custom.go", `return unstructured.SetNestedField(obj.(*unstructured.Unstructured).Object, int64(n), steps(path)...)`, `return nil`, nil},
		{"SU-12", "scale-of-any-state", "takes a Scale made from an old state",
			verbs + "scale.go", `if q.res.Custom == nil || scale.ResourceVersion != "" {`, `if scale.ResourceVersion == "/" {`, nil},
		{"SU-13", "bound-twice", "binds a pod that is bound already",
			verbs + "binding.go", `case pod.Spec.NodeName != "":`, `case pod.Spec.NodeName == "/":`, nil},
		{"SU-14", "budget-is-ignored", "evicts pods though their budget does not allow it",
			verbs + "eviction.go", `case err != nil:
		return false, err
	case !free:`, `case err != nil, !free:`, nil},
		{"SU-14", "eviction-without-a-trace", "does not say in its status that a pod is evicted",
			verbs + "eviction.go", `if !isDryRun(opts.DryRun) {`, `if q == nil {`, nil},
		{"SU-16", "scale-owns-nothing", "does not say who changed the scale",
			verbs + "scale.go", `accessor(obj).SetManagedFields(kept)`, `_ = kept`, []string{"PA"}},
	}
}
