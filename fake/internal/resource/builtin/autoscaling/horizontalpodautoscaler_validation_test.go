package autoscaling

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/api/operation"
	"sigs.k8s.io/yaml"

	"example.com/fakeapi/fake/internal/resource/validate/validatetest"
)

// hpaWith returns a valid HorizontalPodAutoscaler whose fields are replaced by those of a spec.
func hpaWith(t *testing.T, spec string) *autoscalingv2.HorizontalPodAutoscaler {
	t.Helper()
	hpa := &autoscalingv2.HorizontalPodAutoscaler{}
	for _, text := range []string{`{maxReplicas: 5, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}}`, spec} {
		require.NoError(t, yaml.UnmarshalStrict([]byte("spec: "+text), hpa))
	}
	setHorizontalPodAutoscalerDefaults(hpa)
	return hpa
}

func TestValidateHorizontalPodAutoscaler(t *testing.T) {
	const target, behavior = "spec.scaleTargetRef.", "spec.behavior."
	for _, test := range []struct {
		spec string
		want []string
	}{
		{`{}`, nil},
		{`{minReplicas: 5, maxReplicas: 5}`, nil},
		{`{minReplicas: 6, maxReplicas: 5}`, []string{"spec.maxReplicas: Invalid value: 5: must be greater than or equal to `minReplicas`"}},
		{`{minReplicas: 0}`, []string{"spec.metrics: Forbidden: must specify at least one Object or External metric to support scaling to zero replicas"}},
		{`{minReplicas: 0, metrics: [{type: Object, object: {metric: {name: m}, describedObject: {apiVersion: v1, kind: Service, name: s}, target: {type: AverageValue, averageValue: 1}}}]}`, nil},
		{`{minReplicas: 0, metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 1}}}]}`, []string{"spec.metrics: Forbidden: must specify at least one Object or External metric to support scaling to zero replicas"}},
		{`{minReplicas: 0, metrics: [{type: External, external: {metric: {name: m}, target: {type: Value, value: 1}}}]}`, nil},
		{`{scaleTargetRef: {kind: "", name: ""}}`, []string{target + "kind: Required value", target + "name: Required value"}},
		{`{scaleTargetRef: {kind: a/b, name: ..}}`, []string{
			target + `kind: Invalid value: "a/b": may not contain '/'`, target + `name: Invalid value: "..": may not be '..'`}},
		{`{scaleTargetRef: {apiVersion: v1}}`, []string{target + `apiVersion: Invalid value: "v1": apiVersion must specify API group`}},
		{`{scaleTargetRef: {apiVersion: a/b/c}}`, []string{target + `apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c`}},
		{`{scaleTargetRef: {apiVersion: v1, kind: ReplicationController}}`, nil},

		{`{behavior: {scaleUp: {stabilizationWindowSeconds: 3600, selectPolicy: Disabled, tolerance: 0, policies: [{type: Pods, value: 1, periodSeconds: 1800}]}}}`, nil},
		{`{behavior: {scaleUp: {stabilizationWindowSeconds: 3601, selectPolicy: Any, tolerance: -1m, policies: [{type: Any, value: 0, periodSeconds: 0}]}, scaleDown: {stabilizationWindowSeconds: -1, policies: [{type: Percent, value: 1, periodSeconds: 1801}]}}}`, []string{
			behavior + "scaleUp.stabilizationWindowSeconds: Invalid value: 3601: must be less than or equal to 3600",
			behavior + `scaleUp.selectPolicy: Unsupported value: "Any": supported values: "Disabled", "Max", "Min"`,
			behavior + `scaleUp.policies[0].type: Unsupported value: "Any": supported values: "Percent", "Pods"`,
			behavior + "scaleUp.policies[0].value: Invalid value: 0: must be greater than zero",
			behavior + "scaleUp.policies[0].periodSeconds: Invalid value: 0: must be greater than zero",
			behavior + `scaleUp.tolerance: Invalid value: "-1m": must be greater than or equal to 0`,
			behavior + "scaleDown.stabilizationWindowSeconds: Invalid value: -1: must be greater than or equal to zero",
			behavior + "scaleDown.policies[0].periodSeconds: Invalid value: 1801: must be less than or equal to 1800"}},
		{`{behavior: {scaleUp: {policies: []}}}`, []string{behavior + "scaleUp.policies: Required value: must specify at least one Policy"}},
	} {
		t.Run(test.spec, func(t *testing.T) {
			validatetest.RequireErrors(t, validateHorizontalPodAutoscaler(hpaWith(t, test.spec)), test.want...)
		})
	}
}

func TestValidateMetrics(t *testing.T) {
	const metric = "spec.metrics[0]."
	unknown := metric + `type: Unsupported value: "Any": supported values: "ContainerResource", "External", "Object", "Pods", "Resource"`
	for _, test := range []struct {
		metric string
		want   []string
	}{
		{`{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 1}}}`, nil},
		{`{type: Resource, resource: {name: cpu, target: {type: AverageValue, averageValue: 1}}}`, nil},
		{`{type: ContainerResource, containerResource: {name: memory, container: c, target: {type: AverageValue, averageValue: 1}}}`, nil},
		{`{type: Pods, pods: {metric: {name: m}, target: {type: AverageValue, averageValue: 1}}}`, nil},
		{`{type: Object, object: {metric: {name: m}, describedObject: {apiVersion: v1, kind: Service, name: s}, target: {type: Value, value: 1}}}`, nil},
		{`{type: External, external: {metric: {name: m}, target: {type: AverageValue, averageValue: 1}}}`, nil},

		{`{type: Object, object: {metric: {name: m}, describedObject: {apiVersion: v1, kind: Service, name: s}, target: {type: Any, value: 1}}}`, []string{metric + `object.target.type: Invalid value: "Any": must be either Utilization, Value, or AverageValue`}},
		{`{type: ""}`, []string{metric + "type: Required value: must specify a metric source type",
			strings.Replace(unknown, "Any", "", 1), strings.Replace(unknown, "Any", "", 1)}},
		{`{type: Any}`, []string{unknown, unknown}},
		{`{type: Pods}`, []string{metric + "pods: Required value: must populate information for the given metric source"}},
		{`{type: Pods, resource: {name: cpu, target: {type: Utilization, averageUtilization: 1}}}`, []string{
			metric + "pods: Required value: must populate information for the given metric source"}},
		{`{type: Pods, pods: {metric: {name: m}, target: {type: AverageValue, averageValue: 1}}, resource: {name: ""}}`, []string{
			metric + "resource: Forbidden: must populate the given metric source only"}},

		{`{type: External, external: {metric: {name: m}, target: {type: Value, value: 1}}, pods: {}, containerResource: {}}`, []string{
			metric + "pods: Forbidden: must populate the given metric source only", metric + "containerResource: Forbidden: must populate the given metric source only"}},
		{`{type: Resource, resource: {name: "", target: {type: ""}}}`, []string{
			metric + "resource.name: Required value: must specify a resource name",
			metric + "resource.target.type: Required value: must specify a metric target type",
			metric + `resource.target.type: Invalid value: "": must be either Utilization, Value, or AverageValue`,
			metric + "resource.target.averageUtilization: Required value: must set either a target raw value or a target utilization"}},
		{`{type: Resource, resource: {name: cpu, target: {type: Any, averageUtilization: 0, averageValue: -1, value: 0}}}`, []string{
			metric + `resource.target.type: Invalid value: "Any": must be either Utilization, Value, or AverageValue`,
			metric + `resource.target.value: Invalid value: "0": must be positive`,
			metric + `resource.target.averageValue: Invalid value: "-1": must be positive`,
			metric + "resource.target.averageUtilization: Invalid value: 0: must be greater than 0",
			metric + "resource.target.averageValue: Forbidden: may not set both a target raw value and a target utilization"}},
		{`{type: ContainerResource, containerResource: {name: storage, container: C, target: {type: Utilization, averageUtilization: 1}}}`, []string{
			metric + `containerResource.name: Invalid value: "storage": must be a standard resource for containers`,
			metric + `containerResource.container: Invalid value: "C": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', ` +
				`and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')`}},
		{`{type: ContainerResource, containerResource: {name: "", container: "", target: {type: Utilization, averageUtilization: 1}}}`, []string{
			metric + "containerResource.name: Required value: must specify a resource name",
			metric + "containerResource.container: Required value: must specify a container"}},
		{`{type: Pods, pods: {metric: {name: ""}, target: {type: Value, value: 1}}}`, []string{
			metric + "pods.metric.name: Required value: must specify a metric name",
			metric + "pods.target.averageValue: Required value: must specify a positive target averageValue"}},
		{`{type: Object, object: {metric: {name: a/b}, describedObject: {apiVersion: a/b/c, kind: "", name: a%b}, target: {type: Value}}}`, []string{
			metric + "object.describedObject.kind: Required value",
			metric + `object.describedObject.name: Invalid value: "a%b": may not contain '%'`,
			metric + `object.describedObject.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c`,
			metric + `object.metric.name: Invalid value: "a/b": may not contain '/'`,
			metric + "object.target.averageValue: Required value: must set either a target value or averageValue"}},
		{`{type: External, external: {metric: {name: m}, target: {type: Value}}}`, []string{
			metric + "external.target.averageValue: Required value: must set either a target value for metric or a per-pod target"}},
		{`{type: External, external: {metric: {name: m}, target: {type: Value, value: 1, averageValue: 1}}}`, []string{
			metric + "external.target.value: Forbidden: may not set both a target value for metric and a per-pod target"}},
	} {
		t.Run(test.metric, func(t *testing.T) {
			validatetest.RequireErrors(t, validateHorizontalPodAutoscaler(hpaWith(t, `{metrics: [`+test.metric+`]}`)), test.want...)
		})
	}
}

func TestValidateHorizontalPodAutoscalerUpdate(t *testing.T) {
	const noGroup = `spec.scaleTargetRef.apiVersion: Invalid value: "v1": apiVersion must specify API group`
	const object = `{maxReplicas: 2, metrics: [{type: Object, object: {metric: {name: m}, describedObject: {apiVersion: a/b/c, kind: K, name: n}, target: {type: Value, value: 1}}}]}`
	old := hpaWith(t, `{scaleTargetRef: {apiVersion: v1}}`)
	validatetest.RequireErrors(t, validateHorizontalPodAutoscaler(old), noGroup)
	// An apiVersion that has not changed is not validated.
	validatetest.RequireErrors(t, validateHorizontalPodAutoscalerUpdate(hpaWith(t, `{maxReplicas: 7, scaleTargetRef: {apiVersion: v1}}`), old))
	validatetest.RequireErrors(t, validateHorizontalPodAutoscalerUpdate(hpaWith(t, `{scaleTargetRef: {apiVersion: v1, kind: Other}}`), old), noGroup)
	validatetest.RequireErrors(t, validateHorizontalPodAutoscalerUpdate(hpaWith(t, object), hpaWith(t, object)))
	validatetest.RequireErrors(t, validateHorizontalPodAutoscalerUpdate(hpaWith(t, object), old),
		`spec.metrics[0].object.describedObject.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c`)
	validatetest.RequireErrors(t, validateHorizontalPodAutoscalerUpdate(hpaWith(t, `{minReplicas: 9, scaleTargetRef: {apiVersion: v1}}`), old),
		"spec.maxReplicas: Invalid value: 5: must be greater than or equal to `minReplicas`")
}

// The least values of the numbers of replicas have validation tags.
func TestValidateReplicasDeclaratively(t *testing.T) {
	for _, res := range Resources() {
		valid, invalid := hpaWith(t, `{minReplicas: 0, maxReplicas: 1}`), hpaWith(t, `{minReplicas: -1, maxReplicas: 0}`)
		create, update := operation.Operation{Type: operation.Create}, operation.Operation{Type: operation.Update}
		require.Empty(t, res.ValidateDeclaratively(t.Context(), create, valid, nil))
		want := []string{
			"spec.minReplicas: Invalid value: -1: must be greater than or equal to 0",
			"spec.maxReplicas: Required value",
		}
		validatetest.RequireErrors(t, res.ValidateDeclaratively(t.Context(), create, invalid, nil), want...)
		validatetest.RequireErrors(t, res.ValidateDeclaratively(t.Context(), update, invalid, valid), want...)
		require.Empty(t, res.ValidateDeclaratively(t.Context(), update, invalid, invalid))
	}
}

func TestValidateHorizontalPodAutoscalerStatus(t *testing.T) {
	hpa := &autoscalingv2.HorizontalPodAutoscaler{}
	require.Empty(t, validateHorizontalPodAutoscalerStatusUpdate(hpa, nil))
	hpa.Status.CurrentReplicas, hpa.Status.DesiredReplicas = -1, -2
	validatetest.RequireErrors(t, validateHorizontalPodAutoscalerStatusUpdate(hpa, nil),
		"status.currentReplicas: Invalid value: -1: must be greater than or equal to 0",
		"status.desiredReplicas: Invalid value: -2: must be greater than or equal to 0")
}
