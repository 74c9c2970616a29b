// Package encode makes the bytes of responses from stored records: single objects, lists and watch
// events, in JSON, YAML, protobuf or CBOR, as full objects, PartialObjectMetadata or Tables.
//
// An [Encoder] is made for one resource and one negotiated output:
//
//	e := encode.NewEncoder(res, out)
//	body, err := e.EncodeRecord(rec, buffer)  // get, create, update, patch
//	err = e.WriteList(w, meta, records)       // list
//	b, err = e.AppendEvent(b, event, rec)     // watch
//
// JSON in the storage version is the stored form, of a built-in type with kind and apiVersion
// added, unless a decorator of the resource changes the object. The keys of custom resources are in
// alphabetical order at every level, also in their lists, and those of built-in types and of
// metadata in the order of their Go types. All other encodings are made once for each stored state
// of an object and cached with its record.
package encode
