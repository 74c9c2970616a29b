// Package codec converts between objects and bytes: request bodies, the stored form, and the parts
// of responses in protobuf and CBOR.
//
// # Stored form
//
// [EncodeDraft] encodes an object for the store. The stored form is the JSON of the object in the
// StorageVersion of its resource, without kind and apiVersion, and without the digits of the
// resourceVersion, which the store inserts at commit. Package encode makes responses by adding
// bytes around the stored form; it does not decode it. [DecodeStored] and [DecodeServed] decode a
// record, and [DecodeMetadata] decodes only the metadata that the controllers read.
//
// # Custom resources
//
// Custom resources are stored in the storage version of their CustomResourceDefinition, with kind
// and apiVersion, and with the keys of every object in alphabetical order, as in the responses of a
// real server. [ConvertedJSON] returns their JSON in another version, converted once for each
// stored state of the object. A failed conversion is a [*ConversionError].
//
// # Request bodies
//
// [DecodeBody] decodes a body with the strictness of the fieldValidation parameter, and
// [DecodePatched] and [DecodeMerged] the result of a patch. [ExceedsSize] limits YAML documents
// whose aliases expand to more than their size.
package codec
