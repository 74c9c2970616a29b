// Package structural applies the schema of one version of a CustomResourceDefinition to objects. It
// is safe for concurrent use.
//
//	s, err := structural.New(crd, "v1")
//	unknown, err := s.PruneAndDefault(obj.Object, strict) // an object of a client
//	s.DefaultStored(obj.Object)                           // a stored object
//	err = s.PruneConverted(obj.Object)                    // the result of a conversion
//	s.SetDefaults(obj.Object)                             // the result of an apply, which is not pruned
//	errs := s.Validate(ctx, obj, meta...)
//
// The steps are those of apiextensions-apiserver, in the same order and with its functions, so that
// paths, types and texts of errors are equal.
//
// # Pruning and defaults
//
// PruneAndDefault decodes the metadata as an ObjectMeta; an error is the detail of a 400. It prunes
// fields that the schema does not have, unless spec.preserveUnknownFields is set, and nulls where
// the schema has neither nullable nor a default. It decodes the metadata of embedded objects as
// that of the object. Then it sets the defaults.
//
// DefaultStored does the same for a stored object, but returns no errors: it drops malformed fields
// of the metadata, and changes a generation of 0 to 1. Its schema must be that of the version in
// which the object is stored, because a real server sets defaults when it reads an object and not
// when it converts it. PruneConverted is for the result of a conversion: it sets no defaults and
// returns an error for malformed metadata.
//
// All of them change the object.
//
// # Validation
//
// The caller validates the metadata and passes the errors. A real server does so between the check
// of kind and apiVersion, which ends the validation if it fails, and the validation by the schema,
// and some errors prevent the evaluation of CEL rules. The result has the errors in this order. The
// caller uses
//
//   - for a create: ValidateObjectMetaAccessor(metadata, namespaced, NameIsDNSSubdomain,
//     "metadata");
//   - for an update of the object or of its status: ValidateObjectMetaAccessorUpdate(metadata, old
//     metadata, "metadata"). A real server also evaluates the declarative validation of ObjectMeta,
//     which finds nothing else in this release.
//
// They are followed by the errors of types and values, of the fields of the scale subresource, of
// embedded objects, of list sets and maps, and of the CEL rules, whose cost is limited to the
// budget of one request. Updates are ratcheted: errors of unchanged values are ignored, and so are
// duplicates in lists if the old object has any. The status subresource validates only the status
// by the schema, but evaluates all rules and lists, and no embedded objects.
//
// The caller also does what a strategy does before the validation: a create drops the status if
// there is a status subresource, an update restores it, and an update of the status restores
// everything else. A write through the scale subresource is validated by ValidateUpdate, after the
// caller has validated the Scale.
//
// Errors that a real server finds by iterating over a map have a random order there. Here they are
// sorted by the keys of the map, and those of embedded metadata by path. All others have the order
// of a real server.
//
// # Cache
//
// New makes the structural schema. The validators and the CEL programs, which are more expensive,
// are made on first use. Equal schemas share them within a process, also between servers, in a
// cache of the 128 schemas that were used last, by the SHA-256 of the schema.
package structural
