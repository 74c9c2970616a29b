// Package versions converts custom resources between the request, the store and the versions of
// their CustomResourceDefinition.
//
// A [CRD] is made of a CustomResourceDefinition whose names are accepted. It is immutable. When the
// CustomResourceDefinition changes, package registry replaces the CRD by another one, and the
// watches that were started before end, as on a real server.
//
// Objects are *unstructured.Unstructured. They are stored in the storage version. Request handlers
// only see objects in the version of the request:
//
//	from a client:    Version.PruneAndDefault, by the schema of the version
//	to the store:     Version.ToStorage, which converts to the storage version, and gives numbers
//	                  the types that decoding the stored object gives them
//	from the store:   Version.FromStorage, which sets defaults by the schema of the version that the
//	                  object was stored in, and converts from there
//
// Each record has the [StoredForm] of its object, which tells whether it can be returned as it was
// stored: as on a real server, every read prunes and sets defaults, which changes some objects, for
// instance one whose status has a default and was dropped by the create. Schemas are in package
// structural, the conversion itself in package conversion.
package versions
