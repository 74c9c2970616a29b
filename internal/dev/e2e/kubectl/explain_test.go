package kubectl_test

import (
	"strings"
	"testing"

	openapi_v2 "github.com/google/gnostic-models/openapiv2"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/discovery"
	"k8s.io/kubectl/pkg/util/openapi"
	"k8s.io/kubectl/pkg/validation"
)

func TestExplain(t *testing.T) {
	u := newUser(t)
	for name, tt := range map[string]struct {
		args []string
		want []string
	}{
		"kind":        {[]string{"pods"}, []string{"KIND:       Pod", "VERSION:    v1", "Pod is a collection of containers", "spec\t<PodSpec>"}},
		"field":       {[]string{"pods.spec.containers"}, []string{"FIELD: containers <[]Container>", "image\t<string>", "name\t<string> -required-"}},
		"enum":        {[]string{"pods.spec.containers.imagePullPolicy"}, []string{"ENUM:\n    Always\n    IfNotPresent\n    Never"}},
		"recursive":   {[]string{"deployments", "--recursive"}, []string{"GROUP:      apps", "template\t<PodTemplateSpec>", "            containerPort\t<integer> -required-"}},
		"version":     {[]string{"hpa", "--api-version=autoscaling/v2"}, []string{"GROUP:      autoscaling", "VERSION:    v2", "status\t<HorizontalPodAutoscalerStatus>"}},
		"other group": {[]string{"priorityclasses.value"}, []string{"GROUP:      scheduling.k8s.io", "FIELD: value <integer>"}},
		"by v2":       {[]string{"pods.spec.containers", "--output", "plaintext-openapiv2"}, []string{"RESOURCE: containers <[]Object>", "image\t<string>", "name\t<string> -required-"}},
		"by v2, all":  {[]string{"deployments", "--recursive", "--output", "plaintext-openapiv2"}, []string{"VERSION:  apps/v1", "containerPort\t<integer>"}},
	} {
		t.Run(name, func(t *testing.T) {
			out := u.do(append([]string{"explain"}, tt.args...)...)
			for _, want := range tt.want {
				require.True(t, strings.Contains(out, want), want)
			}
		})
	}
	require.Equal(t, "error: field \"nope\" does not exist\n", u.try("explain", "pods.spec.nope").err)
}

// kubectl validates against the OpenAPI v2 document if a server does not support fieldValidation.
// The test calls kubectl's validation directly.
func TestValidateBySchemas(t *testing.T) {
	u := newUser(t)
	doc, err := discovery.NewDiscoveryClientForConfigOrDie(u.srv.RESTConfig()).OpenAPISchema()
	require.NoError(t, err)
	validator := validation.NewSchemaValidation(resources{doc})
	for name, tt := range map[string]struct{ manifest, want string }{
		"right":       {"apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: c, ports: [{containerPort: 80}]}]}\n", ""},
		"int, string": {"apiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec: {ports: [{port: 80, targetPort: web}, {port: 81, targetPort: 8081}]}\n", ""},
		"quantities":  {"apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: a}\nspec: {hard: {pods: 10, cpu: 500m}}\n", ""},
		"unknown field": {"apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: c, comand: [x]}]}\n",
			`ValidationError(Pod.spec.containers[0]): unknown field "comand" in io.k8s.api.core.v1.Container`},
		"wrong type": {"apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec: {replicas: many, selector: {}, template: {}}\n",
			`ValidationError(Deployment.spec.replicas): invalid type for io.k8s.api.apps.v1.DeploymentSpec.replicas: got "string", expected "integer"`},
		"missing field": {"apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{image: i}]}\n",
			`ValidationError(Pod.spec.containers[0]): missing required field "name" in io.k8s.api.core.v1.Container`},
	} {
		t.Run(name, func(t *testing.T) {
			err := validator.ValidateBytes([]byte(tt.manifest))
			if tt.want == "" {
				require.NoError(t, err)
				return
			}
			require.EqualError(t, err, tt.want)
		})
	}
}

// resources implements openapi.OpenAPIResourcesGetter with one document.
type resources struct{ doc *openapi_v2.Document }

func (r resources) OpenAPISchema() (openapi.Resources, error) { return openapi.NewOpenAPIData(r.doc) }

// By default kubectl leaves validation to the server if the OpenAPI document declares
// fieldValidation, also with a client-side dry run.
func TestCreateDryRunClient(t *testing.T) {
	u := newUser(t)
	right := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {k: v}\n"
	for _, validate := range []string{"true", "strict", "warn", "ignore"} {
		require.Equal(t, "configmap/a created (dry run)\n",
			u.doWith(right, "create", "-f", "-", "--dry-run=client", "--validate="+validate))
	}
	u.doRefused("get", "configmap", "a")
	require.Equal(t, "configmap/a serverside-applied (server dry run)\n",
		u.doWith(right, "apply", "--server-side", "--dry-run=server", "--validate=strict", "-f", "-"))
	u.doRefused("get", "configmap", "a")
	for _, validate := range []string{"true", "strict"} {
		require.Contains(t, u.doRefusedWith(right+"dta: {}\n", "apply", "--validate="+validate, "-f", "-"), `unknown field "dta"`)
	}
}

// An apply merges lists by the keys in the OpenAPI v3 document, so that items added by another
// client remain.
func TestApplyMergesListsByOpenAPI(t *testing.T) {
	u := newUser(t)
	config := func(image string) string {
		return "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\nspec:\n  selector: {matchLabels: {a: b}}\n" +
			"  template: {metadata: {labels: {a: b}}, spec: {containers: [{name: one, image: " + image + ", ports: [{containerPort: 80}]}]}}\n"
	}
	u.doWith(config("a"), "apply", "-f", "-")
	u.do("patch", "deployment", "d", "-p", `{"spec":{"template":{"spec":{"containers":[{"name":"two","image":"side"}]}}}}`)
	r := u.tryWith(config("b"), "apply", "-f", "-", "-v=6")
	require.Equal(t, result{out: "deployment.apps/d configured\n"}, result{out: r.out, code: r.code})
	require.Contains(t, r.err, "/openapi/v3/apis/apps/v1?hash=")
	require.NotContains(t, r.err, "/openapi/v2")
	require.NotContains(t, r.err, "error calculating patch")
	require.Equal(t, "two=side one=b ", u.do("get", "deployment", "d", "-o",
		"jsonpath={range .spec.template.spec.containers[*]}{.name}={.image} {end}"))
}
