package openapi

import (
	"fmt"
	"maps"
	"slices"

	"k8s.io/kube-openapi/pkg/builder"
	"k8s.io/kube-openapi/pkg/common"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"example.com/fakeapi/fake/internal/resource"
)

// buildSwagger builds a v2 document of routes with the schemas that they reach.
func buildSwagger(routes []common.RouteContainer, all map[string]*definition) *spec.Swagger {
	doc, err := builder.BuildOpenAPISpecFromRoutes(routes, configV2(all))
	if err != nil {
		panic(fmt.Sprintf("openapi: v2: %v", err))
	}
	return doc
}

// configV2 returns the configuration of the v2 builder.
func configV2(all map[string]*definition) *common.Config {
	return &common.Config{
		ProtocolList: []string{"https"},
		Info:         info(),
		CommonResponses: map[int]spec.Response{
			401: {ResponseProps: spec.ResponseProps{Description: "Unauthorized"}},
		},
		GetOperationIDAndTagsFromRoute: identify,
		GetDefinitionName:              func(name string) (string, spec.Extensions) { return name, nil },
		GetDefinitions: func(common.ReferenceCallback) map[string]common.OpenAPIDefinition {
			definitions := make(map[string]common.OpenAPIDefinition, len(all))
			for name, def := range all {
				definitions[name] = common.OpenAPIDefinition{Schema: def.schema, Dependencies: def.dependencies}
			}
			return definitions
		},
		SecurityDefinitions: &spec.SecurityDefinitions{bearer: {SecuritySchemeProps: spec.SecuritySchemeProps{
			Type: "apiKey", In: "header", Name: "authorization", Description: "Bearer Token authentication",
		}}},
		DefaultSecurity: []map[string][]string{{bearer: {}}},
	}
}

// everyRoute returns the routes of all v3 documents.
func everyRoute(table *resource.Table) []common.RouteContainer {
	all := containers(table)
	routes := make([]common.RouteContainer, 0, len(all))
	for _, name := range slices.Sorted(maps.Keys(all)) {
		routes = append(routes, all[name]())
	}
	return routes
}
