// Package managedfields maintains metadata.managedFields, the record of which manager owns which
// fields of an object, and merges server-side apply patches (SA rules, MD-25, OC-18, SU-16;
// KEP-555).
//
// # Use
//
// A FieldManager is for one resource in one served version, and for the main resource or one
// subresource. BuiltinFieldManager returns those of built-in resources, NewCRDFieldManager creates
// those of custom resources. Each write calls one method with the stored object:
//
//   - a create, a PUT or a patch other than apply calls FieldManager.Update with the new object,
//   - an apply calls FieldManager.Apply with the patch, which returns the new object.
//
// Both run before the server sets fields of the new object itself (the uid, the generation, the
// fields that a strategy resets), because those fields have no owner. RestoreTimestamps runs last,
// before the object is stored. A write to the scale subresource of an object is a write to a Scale,
// and a ScaleHandler converts the managedFields between the two.
//
// Objects are passed and returned in the storage version of the resource. Ownership is recorded in
// the version of the request. Where the two differ (events, horizontalpodautoscalers), the objects
// are converted for the comparison, and so they are for entries of another version.
//
// # Implementation
//
// The results are those of the libraries that kube-apiserver uses, apimachinery's managedfields and
// structured-merge-diff, called library in this package. The library decodes, compares and encodes
// sets of fields on each write, which takes several times as long as the rest of the write. Package
// fastpath computes the results of most updates and applies without it. FieldManager.Update and
// FieldManager.ApplyConfig are the only callers, and the constant useFastPath disables it. Tests
// compare the two in random histories of objects of all types.
//
// The schemas of built-in types are those of client-go. They are parsed on first use, which takes
// 57 ms.
//
// # Custom resources
//
// The objects of a custom resource are unstructured. Their FieldManager is created from the
// structural schemas of the versions of the definition, and the caller keeps it as long as the
// definition does not change. WithConversion sets the function that converts objects for the
// entries of other versions. It prunes nothing. With a field that one of these versions does not
// have, an apply fails and an update leaves the entries as they are.
//
// # Differences
//
// Entries in versions that are not served (for instance apps/v1beta1) are dropped, as
// kube-apiserver does with unknown versions. For a custom resource they make an apply fail, as in
// kube-apiserver.
package managedfields
