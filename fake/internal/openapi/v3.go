package openapi

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	openapi_v3 "github.com/google/gnostic-models/openapiv3"
	"google.golang.org/protobuf/proto"
	"k8s.io/kube-openapi/pkg/builder3"
	"k8s.io/kube-openapi/pkg/common"
	"k8s.io/kube-openapi/pkg/spec3"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// release is the version in the info of the documents.
const release = "1.37"

// bearer is the name of the security scheme.
const bearer = "BearerToken"

// buildV3 builds a document of the routes in c with the schemas that they reach.
func buildV3(c *container, schemas *schemaSet) *Document {
	doc := buildRoutes(c, schemas, info())
	components := map[string][]byte{"securitySchemes": encode(map[string]any{bearer: map[string]string{
		"type": "apiKey", "in": "header", "name": "authorization", "description": "Bearer Token authentication",
	}})}
	if len(doc.Components.Schemas) > 0 {
		group, version := groupVersion(c.root)
		components["schemas"] = object(schemas.reached(slices.Collect(maps.Keys(doc.Components.Schemas)), group, version))
	}
	return encodeV3(doc, components)
}

// buildRoutes builds a document of the routes in c. It has only the names of the schemas: these are
// the same in every document, and encoded once.
func buildRoutes(c *container, schemas *schemaSet, info *spec.Info) *spec3.OpenAPI {
	doc, err := builder3.BuildOpenAPISpecFromRoutes([]common.RouteContainer{c}, &common.OpenAPIV3Config{
		Info: info,
		CommonResponses: map[int]*spec3.Response{
			401: {ResponseProps: spec3.ResponseProps{Description: "Unauthorized"}},
		},
		GetOperationIDAndTagsFromRoute: identify,
		GetDefinitionName:              func(name string) (string, spec.Extensions) { return name, nil },
		Definitions:                    schemas.names(),
	})
	if err != nil {
		panic(fmt.Sprintf("openapi: %s: %v", c.root, err))
	}
	return doc
}

// encodeV3 encodes a document with components of its own.
func encodeV3(doc *spec3.OpenAPI, components map[string][]byte) *Document {
	body := object(map[string][]byte{
		"components": object(components),
		"info":       encode(doc.Info),
		"openapi":    encode(doc.Version),
		"paths":      encode(doc.Paths),
	})
	return newDocument(body, func() []byte { return protobufV3(body) })
}

func info() *spec.Info {
	return &spec.Info{InfoProps: spec.InfoProps{Title: "Kubernetes", Version: release}}
}

// groupVersion returns the group and version of a root path, or "" if it is not that of a version.
func groupVersion(root string) (group, version string) {
	parts := strings.Split(strings.TrimPrefix(root, "/"), "/")
	switch {
	case parts[0] == "api" && len(parts) == 2:
		return "", parts[1]
	case parts[0] == "apis" && len(parts) == 3:
		return parts[1], parts[2]
	}
	return "", ""
}

func protobufV3(body []byte) []byte {
	doc, err := openapi_v3.ParseDocument(body)
	if err != nil {
		panic(fmt.Sprintf("openapi: v3 as protobuf: %v", err))
	}
	return marshal(doc)
}

func marshal(message proto.Message) []byte {
	body, err := proto.MarshalOptions{Deterministic: true}.Marshal(message)
	if err != nil {
		panic(fmt.Sprintf("openapi: %T does not encode: %v", message, err))
	}
	return body
}
