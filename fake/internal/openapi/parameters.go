package openapi

import (
	"reflect"
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/kube-openapi/pkg/common"
)

// parameter is a parameter of the path or of the query, or the body.
type parameter struct {
	name, description, dataType string
	kind                        common.ParameterKind
	required                    bool
}

func (p *parameter) Name() string               { return p.name }
func (p *parameter) Description() string        { return p.description }
func (p *parameter) Required() bool             { return p.required }
func (p *parameter) Kind() common.ParameterKind { return p.kind }
func (p *parameter) DataType() string           { return p.dataType }
func (p *parameter) AllowMultiple() bool        { return false }

func inPath(name, description string) common.Parameter {
	return &parameter{name: name, description: description, dataType: "string", kind: common.PathParameterKind, required: true}
}

func inQuery(name, description, dataType string) common.Parameter {
	return &parameter{name: name, description: description, dataType: dataType, kind: common.QueryParameterKind}
}

func prettyParameter() common.Parameter {
	return inQuery("pretty", "'true' indents the answer, if it is JSON. That is the default for a browser, curl and wget.", "string")
}

// optionParameters returns the query parameters of a verb from its options, an empty struct of the
// options' type. Options that the server does not support are left out.
func optionParameters(options any, without ...string) []common.Parameter {
	t := reflect.TypeOf(options)
	docs := docsOf(t)
	var all []common.Parameter
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" || name == "shardSelector" || slices.Contains(without, name) {
			continue
		}
		if dataType := queryType(f.Type); dataType != "" {
			all = append(all, inQuery(name, docs[name], dataType))
		}
	}
	return all
}

// queryType returns the type of a parameter, or "" if it cannot be a query parameter. A list has
// the type of its elements: the parameter is repeated, which OpenAPI v2 cannot describe.
func queryType(t reflect.Type) string {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.Bool:
		return "boolean"
	case reflect.Int, reflect.Int32, reflect.Int64:
		return "integer"
	case reflect.String:
		return "string"
	case reflect.Struct:
		if t == reflect.TypeFor[metav1.Time]() {
			return "string"
		}
	}
	return ""
}

// The parameters of the options of each verb. They are built once and must not be changed.
var (
	createParameters           = optionsOnce(metav1.CreateOptions{})
	updateParameters           = optionsOnce(metav1.UpdateOptions{})
	patchParameters            = optionsOnce(metav1.PatchOptions{})
	deleteParameters           = optionsOnce(metav1.DeleteOptions{})
	listParameters             = optionsOnce(metav1.ListOptions{})
	logParameters              = optionsOnce(corev1.PodLogOptions{})
	deleteCollectionParameters = sync.OnceValue(func() []common.Parameter {
		return append(slices.Clone(deleteParameters()), optionParameters(metav1.ListOptions{}, "watch", "allowWatchBookmarks")...)
	})
)

func optionsOnce(options any) func() []common.Parameter {
	return sync.OnceValue(func() []common.Parameter { return optionParameters(options) })
}
