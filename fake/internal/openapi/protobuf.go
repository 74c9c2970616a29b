package openapi

import (
	openapi_v2 "github.com/google/gnostic-models/openapiv2"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

func protobufV2(doc *spec.Swagger) []byte {
	d, err := openapi_v2.ParseDocument(encode(doc))
	if err != nil {
		panic(err)
	}
	return marshal(d)
}
