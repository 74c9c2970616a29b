// Package typedjson decodes JSON into Go values and encodes them, faster than the libraries that
// define the result: sigs.k8s.io/json, which decodes request bodies and stored objects, and
// encoding/json, which encodes stored objects.
//
// A Type is the description of a Go type: what its fields are called, and how each of them is read
// and written. NewType makes it once, and the methods of Type follow it. They return false for all
// that they do not fully support, and the caller then uses the library: a body with unknown or
// duplicate fields, or with a value of the wrong type, so that all errors and warnings are those of
// the library. Otherwise the result is the same. Tests compare both for random objects of all
// built-in types.
//
// # Decode
//
// Decode sets the fields of a new object. In Go values that are not equal but have the same JSON,
// it makes the same choice as the library: [] is an empty list and not nil, for example.
//
// # Merge
//
// Merge applies a JSON merge patch (RFC 7386) to an object. The result is what decoding the patched
// document returns, if the object is itself the result of decoding its document. An object in the
// patch is merged with a struct or a map, and null removes a field or a key. All other values
// replace those in the object. Merge does not support what it would have to merge as JSON: values
// of types with their own UnmarshalJSON, and objects in a map.
//
// # StrategicMerge
//
// StrategicMerge applies a strategic merge patch as k8s.io/apimachinery/pkg/util/strategicpatch
// does. It also merges lists by the key in the tags of their field, deletes elements, and orders
// lists by $setElementOrder directives. Patches that replace an object by a directive or retain
// keys are not supported, nor lists whose keys are not unique.
//
// # ApplyOperations
//
// ApplyOperations applies a JSON patch (RFC 6902): operations that add, replace, remove or test a
// field, a key of a map or an element of a list. copy and move are not supported, nor a test after
// a change, or of an object or a list.
//
// # Append
//
// Append encodes an object. Types with their own MarshalJSON and strings with escapes are encoded
// by the library, apart from those types that most objects have.
package typedjson
