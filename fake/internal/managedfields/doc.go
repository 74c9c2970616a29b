// Package managedfields keeps metadata.managedFields, the record of who owns which
// field of an object, and merges server-side apply patches (SA rules, MD-25,
// OC-18, SU-16; KEP-555).
//
// # Use
//
// A FieldManager knows one resource in one served version, at the main resource or at
// a subresource. BuiltinFieldManager returns it; there is one for a process. Every write asks it
// once, with the stored object and the one that is about to replace it:
//
//   - create, PUT and every patch but apply: FieldManager.Update,
//   - apply: FieldManager.Apply, which makes the new object as well.
//
// Both come before the server's own preparation of the object (uid, generation,
// what a strategy resets): what the server fills in has no owner. RestoreTimestamps comes
// last of all, between preparation and store.
//
// Objects go in and come out in the StoreVersion of the resource; ownership is
// recorded in the version of the request. Where the two differ (events,
// horizontalpodautoscalers) the objects are converted for the comparison, and
// entries that were written in the other version are compared in that one.
//
// # Cost
//
// The libraries (apimachinery's managedfields over structured-merge-diff) are the
// definition of what comes out. They work on sets that they decode, compare,
// intersect and encode anew for each write, which takes several times as long as
// everything else in it. So Update has a shortcut, and shortcut.go is the one
// place that decides whether it may be taken. It walks the two Go values side by
// side along a plan that is made once for a type from its schema, and touches
// only what the write changed. It is taken for what is plain: all entries in the
// version of the request and in the library's own spelling, ASCII names, no
// doubles in keyed lists. Anything else takes the long way. A test compares the two on many thousand
// random writes.
//
// The schemas are those of client-go (57 ms to parse, once, when first needed).
//
// # Custom resources
//
// NewCRDFieldManager makes the tracker of a custom resource, whose objects are unstructured, of the
// schemas of its definition; who asks keeps it as long as the definition stays. It
// converts entries of other versions with the function that it is given, and
// NewCRDScaleHandler knows where the replicas are. Their shortcut is custom_shortcut.go: it
// walks two objects of JSON along a plan of the schema alone, checks each value that it
// meets against that, and leaves the entries that stay as they are undecoded. Objects
// with nulls, and lists of maps told apart by integers of different lengths, go the long
// way.
//
// # Left out
//
// Entries in versions that the server does not serve (say
// apps/v1beta1) are dropped, as a real server does with versions that it does
// not know. Of a custom resource they make an apply fail, as they do there.
package managedfields
