// Package jsonvalue decodes and encodes untyped JSON objects: custom resources and patches.
//
//	object, err := jsonvalue.Decode(data)               // as sigs.k8s.io/json does
//	object, problems, err := jsonvalue.DecodeStrict(data)
//	data, err := jsonvalue.Append(nil, object)          // as encoding/json does
//	data = jsonvalue.AppendString(nil, text)
//
// The libraries define the results. The package has them in a third of the time, because it has one
// pass over the bytes, no reflection, and one copy of a name that an object has many times. It
// handles what is common, and leaves the rest to the libraries: Decode all of a text that has
// duplicate fields, is nested very deeply or has errors, and both functions single strings and
// numbers in unusual forms. Tests compare them with the libraries.
package jsonvalue
