package core

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"example.com/fakeapi/fake/internal/resource/validate/validatetest"
)

func TestValidateResourceQuota(t *testing.T) {
	const operator = "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, " +
		"ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity"
	for spec, want := range map[string][]string{
		`{}`: nil,
		`{hard: {cpu: 500m, storage: 1Gi, requests.nvidia.com/gpu: 1, count/jobs.batch: 4, hugepages-2Mi: 2Mi, requests.hugepages-2Mi: 2Mi}, scopes: []}`: {
			`spec.hard[storage]: Invalid value: "storage": must be a standard resource for quota`},
		`{hard: {gpu: 1, pods: -1, services: 1500m, example.com/x: 500m}}`: {
			`spec.hard[example.com/x]: Invalid value: "500m": must be an integer`,
			`spec.hard[gpu]: Invalid value: "gpu": must be a standard resource type or fully qualified`,
			`spec.hard[gpu]: Invalid value: "gpu": must be a standard resource for quota`,
			`spec.hard[pods]: Invalid value: "-1": must be greater than or equal to 0`,
			`spec.hard[services]: Invalid value: "1500m": must be an integer`},
		`{hard: {pods: 1, count/jobs.batch: 1}, scopes: [BestEffort]}`:                                              nil,
		`{hard: {persistentvolumeclaims: 1, requests.storage: 1}, scopes: [VolumeAttributesClass]}`:                 nil,
		`{hard: {pods: 1, cpu: 1}, scopes: [NotBestEffort, Terminating, PriorityClass, CrossNamespacePodAffinity]}`: nil,
		`{hard: {services: 1, secrets: 1}, scopes: [Any, Terminating]}`: {
			`spec.scopes: Invalid value: ["Any","Terminating"]: unsupported scope`,
			`spec.scopes: Invalid value: ["Any","Terminating"]: unsupported scope applied to resource`,
			`spec.scopes: Invalid value: ["Any","Terminating"]: unsupported scope applied to resource`},
		`{scopes: [BestEffort, NotBestEffort, Terminating, NotTerminating]}`: {
			`spec.scopes: Invalid value: ["BestEffort","NotBestEffort","Terminating","NotTerminating"]: conflicting scopes`,
			`spec.scopes: Invalid value: ["BestEffort","NotBestEffort","Terminating","NotTerminating"]: conflicting scopes`},
		`{scopeSelector: {matchExpressions: [{scopeName: PriorityClass, operator: In, values: [a]}, {scopeName: PriorityClass, operator: DoesNotExist}, {scopeName: Terminating, operator: Exists}]}}`: nil,
		`{scopeSelector: {matchExpressions: [{scopeName: Any, operator: Has}, {scopeName: BestEffort, operator: In}, {scopeName: NotBestEffort, operator: Exists, values: [a]}]}}`: {
			`spec.scopeSelector.matchExpressions.scopeName: Invalid value: "Any": unsupported scope`,
			`spec.scopeSelector.matchExpressions.operator: Invalid value: "Has": not a valid selector operator`,
			`spec.scopeSelector.matchExpressions.operator: Invalid value: "In": ` + operator,
			"spec.scopeSelector.matchExpressions.values: Required value: must be at least one value when `operator` is 'In' or 'NotIn' for scope selector",
			"spec.scopeSelector.matchExpressions.values: Invalid value: [\"a\"]: must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector",
			`spec.scopeSelector.matchExpressions: Invalid value: null: conflicting scopes`},
		`{hard: {services: 1}, scopeSelector: {matchExpressions: [{scopeName: PriorityClass, operator: Exists}]}}`: {
			`spec.scopeSelector.matchExpressions: Invalid value: {"MatchExpressions":[{"ScopeName":"PriorityClass","Operator":"Exists","Values":null}]}: unsupported scope applied to resource`},
	} {
		t.Run(spec, func(t *testing.T) {
			validatetest.RequireErrors(t, validateResourceQuota(validatetest.Parse[corev1.ResourceQuota](t, "spec: "+spec)), want...)
		})
	}
}

// The number of errors has a bound, because each has all scopes in its text.
func TestValidateManyScopes(t *testing.T) {
	quota := &corev1.ResourceQuota{}
	quota.Spec.Hard = corev1.ResourceList{}
	quota.Spec.ScopeSelector = &corev1.ScopeSelector{}
	for i := range 1000 {
		quota.Spec.Hard[corev1.ResourceName(fmt.Sprintf("hugepages-%dMi", i))] = resource.MustParse("1")
		quota.Spec.Scopes = append(quota.Spec.Scopes, corev1.ResourceQuotaScopeBestEffort)
		quota.Spec.ScopeSelector.MatchExpressions = append(quota.Spec.ScopeSelector.MatchExpressions,
			corev1.ScopedResourceSelectorRequirement{ScopeName: corev1.ResourceQuotaScopeBestEffort})
	}
	errs := validateResourceQuota(quota)
	require.NotEmpty(t, errs)
	require.LessOrEqual(t, len(errs), 4*maxScopeErrors)
}

func TestValidateResourceQuotaUpdate(t *testing.T) {
	old := validatetest.Parse[corev1.ResourceQuota](t, `spec: {hard: {pods: 1}, scopes: [Terminating, NotBestEffort]}`)
	validatetest.RequireErrors(t, validateResourceQuotaUpdate(validatetest.Parse[corev1.ResourceQuota](t, `spec: {hard: {pods: 2}, scopes: [NotBestEffort, Terminating]}`), old))
	validatetest.RequireErrors(t, validateResourceQuotaUpdate(validatetest.Parse[corev1.ResourceQuota](t, `spec: {hard: {pods: -2}, scopes: [Terminating]}`), old),
		`spec.hard[pods]: Invalid value: "-2": must be greater than or equal to 0`,
		`spec.scopes: Invalid value: ["Terminating"]: field is immutable`)
}

func TestValidateResourceQuotaStatusUpdate(t *testing.T) {
	validatetest.RequireErrors(t, validateResourceQuotaStatusUpdate(validatetest.Parse[corev1.ResourceQuota](t, `status: {hard: {pods: 1, gpu: 1}, used: {pods: 1500m}}`), nil),
		`status.hard[gpu]: Invalid value: "gpu": must be a standard resource type or fully qualified`,
		`status.hard[gpu]: Invalid value: "gpu": must be a standard resource for quota`,
		`status.used[pods]: Invalid value: "1500m": must be an integer`)
}

func TestResourceQuotaWarnings(t *testing.T) {
	require.Empty(t, resourceQuotaWarnings(validatetest.Parse[corev1.ResourceQuota](t, `spec: {hard: {cpu: 1, limits.cpu: 1, requests.storage: 1, storage: 2, limits.storage: 1, ephemeral-storage: 2, limits.ephemeral-storage: 1}}`)))
	require.Equal(t, []string{
		"ResourceQuota cpu (2) should be less than limits.cpu (1)",
		"ResourceQuota requests.memory (2Gi) should be less than limits.memory (1Gi)",
		"ResourceQuota requests.ephemeral-storage (2) should be less than limits.ephemeral-storage (1)",
	}, resourceQuotaWarnings(validatetest.Parse[corev1.ResourceQuota](t, `spec: {hard: {cpu: 2, limits.cpu: 1, memory: 1, requests.memory: 2Gi, limits.memory: 1Gi,
		requests.ephemeral-storage: 2, limits.ephemeral-storage: 1}}`)))
}
