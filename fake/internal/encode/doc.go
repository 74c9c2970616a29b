// Package encode makes the bytes of responses from stored records: single objects, lists and watch
// events, in JSON, YAML, protobuf or CBOR, as full objects, PartialObjectMetadata or Tables.
//
// An [Encoder] is made for one resource and one negotiated output:
//
//	e := encode.NewEncoder(res, out)
//	body, err := e.EncodeRecord(rec)       // get, create, update, patch
//	err = e.WriteList(w, meta, records)    // list
//	b, err = e.AppendEvent(b, event, rec)  // watch
//
// JSON in the storage version is the stored form with kind and apiVersion added. All other
// encodings are made once for each stored state of an object and cached with its record.
package encode
