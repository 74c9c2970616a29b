// Package fastpath updates metadata.managedFields, and merges the configurations of server-side
// apply, without structured-merge-diff.
//
// For a plain write an Updater compares the stored object with the new one, finds the fields that
// the write changed, added or removed, and updates the entries of the managers. For an apply it
// merges the configuration into the stored object. It supports most writes. For the others
// Updater.Update and Updater.Apply return false, and the caller uses the library (apimachinery's
// managedfields with structured-merge-diff). The result is the same in both cases. The tests of
// package managedfields compare them.
//
// # Plans
//
// NewType compiles the schema of a type to a plan, which describes field by field how two values
// are compared and which lists have elements with owners. For a built-in type the plan also has the
// indexes of the fields of the Go type. Parts of the schema that are not fully understood become
// unsupported. A write is not supported if one of its objects has a value there.
//
// # Comparison
//
// The comparer follows the plan through both objects at the same time. It is generic in the
// representation of values: an accessor reads either Go values (typedAccessor) or decoded JSON
// (jsonAccessor). The comparison itself, of objects, keyed lists, sets, atomic and untyped values,
// is the same for both.
//
// The library validates both objects before it compares them. Values of Go types conform to the
// schema with few exceptions, so the plan marks what is always valid and the comparer checks the
// rest. All values of custom resources are checked.
//
// # Merge
//
// The merger follows the plan through a configuration, which is decoded JSON, and the object at the
// same time. Only the fields of the configuration can change, so that the rest of the object is
// only copied. The values of the configuration are compared with those of the object in the form in
// which they were sent: a quantity 1000m differs from 1, as in the library. Like the comparer, the
// merger is generic: typedTarget changes Go values, jsonTarget decoded JSON.
//
// # Scales
//
// ToScale and FromScale convert the entries of an object to those of its Scale and back. They only
// look for the replicas field in the entries.
//
// # Sets of fields
//
// The result of the comparison is a tree of nodes. The entries are parsed only where the write
// changed something. The rest of an entry stays text, which is validated but not decoded.
//
// # Limits
//
// The following is left to the library: managedFields in the request that differ from the stored
// ones; entries in another version than that of the request, or in another spelling than that of
// the library; names with characters that need escapes; duplicates in keyed lists and sets; more
// than ten Update entries; applies with conflicts, and those that remove fields which the manager
// applied before; and in custom resources null, values that do not conform to the schema,
// and keys that are integers with different numbers of digits.
package fastpath
