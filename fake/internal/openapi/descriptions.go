package openapi

import (
	"fmt"
	"reflect"
	"strings"
	"sync"

	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	aggregatoropenapi "k8s.io/kube-aggregator/pkg/generated/openapi"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// documented is a type with documentation.
type documented interface{ SwaggerDoc() map[string]string }

// docsOf returns the documentation of the fields of a type by JSON name, and of the type under "".
// It returns nil if there is none.
func docsOf(t reflect.Type) map[string]string {
	if d, ok := reflect.Zero(t).Interface().(documented); ok {
		return d.SwaggerDoc()
	}
	return generatedDocs()[t]
}

// generatedDocs has the documentation of the types of kube-aggregator, which have no SwaggerDoc. It
// is that of their generated schemas.
var generatedDocs = sync.OnceValue(func() map[reflect.Type]map[string]string {
	schemas := aggregatoropenapi.GetOpenAPIDefinitions(func(string) spec.Ref { return spec.Ref{} })
	docs := make(map[reflect.Type]map[string]string)
	for _, t := range []reflect.Type{
		reflect.TypeFor[apiregistrationv1.APIService](), reflect.TypeFor[apiregistrationv1.APIServiceList](),
		reflect.TypeFor[apiregistrationv1.APIServiceSpec](), reflect.TypeFor[apiregistrationv1.APIServiceStatus](),
		reflect.TypeFor[apiregistrationv1.APIServiceCondition](), reflect.TypeFor[apiregistrationv1.ServiceReference](),
	} {
		schema := schemas[nameOf(t)].Schema
		docs[t] = map[string]string{"": schema.Description}
		for name, property := range schema.Properties {
			docs[t][name] = property.Description
		}
	}
	return docs
})

func descriptionOf(t reflect.Type) string {
	if text := docsOf(t)[""]; text != "" {
		return text
	}
	return undocumented[nameOf(t)]
}

// undocumented has the descriptions of types without documentation.
var undocumented = map[string]string{
	"io.k8s.apimachinery.pkg.api.resource.Quantity":                                         "A number with an optional suffix: decimal (m, k, M, G, T, P, E), binary (Ki, Mi, Gi, Ti, Pi, Ei) or an exponent (e3).",
	"io.k8s.apimachinery.pkg.apis.meta.v1.GroupResource":                                    "A resource by its group and its plural name.",
	"io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime":                                        "A time in RFC 3339 with microseconds.",
	"io.k8s.apimachinery.pkg.apis.meta.v1.Time":                                             "A time in RFC 3339 to the second; null if it is not set.",
	"io.k8s.apimachinery.pkg.apis.meta.v1.WatchEvent":                                       "A change of a watched collection: its type, and the object.",
	"io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSON":                         "A value in JSON, of any type.",
	"io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps":              "A JSON schema, in the form of draft 4 with extensions of Kubernetes.",
	"io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrArray":       "A schema, or a list of schemas.",
	"io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrBool":        "A schema, or true or false. True by default.",
	"io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrStringArray": "A schema, or a list of names of properties.",
	"io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.ServiceReference":             "A Service of the cluster, by its namespace and name, with a path and a port.",
	"io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.WebhookClientConfig":          "How to reach a webhook over TLS: by a URL or by a Service.",
	"io.k8s.apimachinery.pkg.runtime.RawExtension":                                          "An object of any kind, as it is.",
	"io.k8s.apimachinery.pkg.util.intstr.IntOrString":                                       "A number or a string.",
	"io.k8s.apimachinery.pkg.version.Info":                                                  "The release of the server and how it was built.",
}

// describeEnum returns the values in the form of openapi-gen, for the end of a field's description.
// The documentation of each value is in comments, which are not available.
func describeEnum(values []any) string {
	var b strings.Builder
	b.WriteString("Possible enum values:")
	for _, value := range values {
		fmt.Fprintf(&b, "\n - `%q`", value)
	}
	return b.String()
}
