// Package structural is all that one version's schema of a CustomResourceDefinition
// does to an object. It knows no requests and no store, and is safe for concurrent
// use.
//
//	s, err := structural.New(crd, "v1")
//	unknown, err := s.Take(obj.Object, strict)   // a client's object
//	s.Restore(obj.Object)                        // a stored object
//	err = s.Converted(obj.Object)                // what a conversion made
//	s.SetDefaults(obj.Object)                    // what an apply has merged
//	errs := s.Validate(ctx, obj, meta...)
//
// The steps are those of apiextensions-apiserver, in its order and with its
// functions, so that paths, types and words of the errors are its own.
//
// # Into form
//
// Take: metadata is read as an ObjectMeta, and an error is the detail of a 400; what
// the schema does not know is pruned, unless spec.preserveUnknownFields is set; nulls
// go where the schema has neither nullable nor a default; metadata of embedded objects
// is read like that of the object; then come the defaults.
//
// Restore does the same to what was stored. It refuses nothing: malformed metadata is
// dropped field by field, and a generation of 0 becomes 1. Give it the schema of the
// version that the object is stored in: a real server sets defaults at that moment,
// and none when it converts. What a conversion made goes to Converted, which takes it
// into form, sets no defaults and refuses malformed metadata.
//
// All three change the object that they are given.
//
// # Validation
//
// The errors of the object's metadata belong to the caller, and it hands them on:
// a real server looks for them between the check of kind and apiVersion, which alone
// can end a validation, and the check against the schema, and some of them suppress
// the rules in CEL (see blocks). They come out in their place. They are
//
//   - at a create: ValidateObjectMetaAccessor(metadata, namespaced, NameIsDNSSubdomain,
//     "metadata");
//   - at an update of the object or of its status: ValidateObjectMetaAccessorUpdate
//     (metadata, old metadata, "metadata"). A real server calls the declarative rules
//     of ObjectMeta as well, which find nothing else in this release.
//
// After them follow: types and values, the fields of the scale subresource, embedded
// objects, list sets and maps, and the rules in CEL, within the budget of one request.
// An update is ratcheted: what is wrong and did not change is let be, and so are
// duplicates in lists when the old object had any. The status subresource checks the
// status alone against the schema, but all rules and lists, and no embedded objects.
//
// What a strategy does before validation stays with the caller: a create drops the
// status if there is a subresource for it, an update keeps the old one, an update of
// the status keeps everything else. A write through the scale subresource is an
// ordinary ValidateUpdate of the object after the caller has checked the Scale itself;
// a real server adds nothing to that, so there is no ValidateScale.
//
// Where a real server goes through a map, its errors come in any order. Here those of
// one step are sorted by path.
//
// # What is kept
//
// New makes the structural form of a schema, and what costs more, the validators and
// the programs of CEL, is made when first needed. Schemas of the same content share it
// within a process, also between servers: the latest 128 are kept, found by a SHA-256
// of the schema. A schema that fell out of that cache keeps what it has.
package structural
