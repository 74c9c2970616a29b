package openapi

import "encoding/binary"

// TypeV2 is the media type of the OpenAPI v2 document in protobuf as the answer
// names it; clients ask for TypeV2Asked, its older name, or for TypeV2.
const (
	TypeV2      = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"
	TypeV2Asked = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"
)

// V2JSON and V2Protobuf are the OpenAPI v2 document. It describes nothing yet:
// clients that look there for a type that they have not found in v3 (kubectl does,
// before it says that a kind does not exist) do not find it here either.
func V2JSON(version string) []byte {
	return []byte(`{"swagger":"2.0","info":{"title":"Kubernetes","version":"` + version + `"},"paths":{}}`)
}

// V2Protobuf is the same as V2JSON, in the message Document of the OpenAPI v2
// models: swagger is its field 1, info 2 (title 1, version 2), paths 8.
func V2Protobuf(version string) []byte {
	info := field(field(nil, 1, "Kubernetes"), 2, version)
	return field(field(field(nil, 1, "2.0"), 2, string(info)), 8, "")
}

func field(b []byte, number int, value string) []byte {
	b = append(b, byte(number<<3|2))
	b = binary.AppendUvarint(b, uint64(len(value)))
	return append(b, value...)
}
