package core

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/fakeapi/fake/internal/resource/validate/validatetest"
)

// simplePod is a pod with more fields of its spec.
func simplePod(t testing.TB, fields string) *corev1.Pod {
	t.Helper()
	return defaultedPod(t, "metadata: {name: p}\nspec: {containers: [{name: c, image: i}], "+fields+"}")
}

func TestValidatePodUpdate(t *testing.T) {
	const immutable = "spec: Forbidden: pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`," +
		"`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations)," +
		"`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)\n"
	const gated = "schedulingGates: [{name: a}, {name: b}], "
	const terms = "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: %s}}}"
	const termsField = "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"
	one, two := `[{matchExpressions: [{key: a, operator: Exists}]}]`, `[{matchExpressions: [{key: a, operator: Exists}, {key: b, operator: Exists}]}]`
	const fields = `[{matchFields: [{key: metadata.name, operator: In, values: [x]}]}]`
	const preferred = "affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, preference: {}}]}}"
	for _, test := range []struct {
		name, old, updated string
		want               []string // prefixes
	}{
		{"nothing", "", "", nil},
		{"deadline", "", "activeDeadlineSeconds: 5", nil},
		{"earlier deadline", "activeDeadlineSeconds: 5", "activeDeadlineSeconds: 4", nil},
		{"later deadline", "activeDeadlineSeconds: 5", "activeDeadlineSeconds: 6", []string{
			"spec.activeDeadlineSeconds: Invalid value: 6: must be less than or equal to previous value"}},
		{"no deadline", "activeDeadlineSeconds: 5", "", []string{
			"spec.activeDeadlineSeconds: Invalid value: null: must not update from a positive integer to nil value"}},
		{"negative deadline", "", "activeDeadlineSeconds: -1, hostPID: true", []string{
			"spec.activeDeadlineSeconds: Invalid value: -1: must be between 1 and 2147483647, inclusive",
			"spec.activeDeadlineSeconds: Invalid value: -1: must be between 0 and 2147483647, inclusive"}},
		{"added toleration", "tolerations: [{key: a, operator: Exists}]", "tolerations: [{key: b, operator: Exists}, {key: a, operator: Exists}]", nil},
		{"toleration seconds", "tolerations: [{key: a, operator: Exists, effect: NoExecute}]", "tolerations: [{key: a, operator: Exists, effect: NoExecute, tolerationSeconds: 1}]", nil},
		{"removed toleration", "tolerations: [{key: a, operator: Exists}]", "", []string{
			"spec.tolerations: Forbidden: existing toleration can not be modified except its tolerationSeconds"}},
		{"invalid toleration", "", "tolerations: [{}]", []string{"spec.tolerations[0].operator: Invalid", "spec.tolerations[0].operator: Invalid"}},
		{"removed gate", gated, "schedulingGates: [{name: b}]", nil},
		{"no gates", gated, "", nil},
		{"added gates", gated, "schedulingGates: [{name: b}, {name: c}, {name: d}]", []string{
			"spec.schedulingGates[1].name: Forbidden: only deletion is allowed, but found new scheduling gate 'c'",
			"spec.schedulingGates[2].name: Forbidden: only deletion is allowed, but found new scheduling gate 'd'"}},
		{"node selector", "", "nodeSelector: {a: b}", []string{immutable}},
		{"node selector of a gated pod", gated + "nodeSelector: {a: b}", gated + "nodeSelector: {a: b, c: d}", nil},
		{"other node selector of a gated pod", gated + "nodeSelector: {a: b}", gated + "nodeSelector: {a: c}", []string{
			`spec.nodeSelector: Invalid value: {"a":"c"}: only additions to spec.nodeSelector are allowed (no mutations or deletions)`}},
		{"node affinity", "", fmt.Sprintf(terms, one), []string{immutable}},
		{"node affinity of a gated pod", gated, gated + fmt.Sprintf(terms, one), nil},
		{"no node affinity of a gated pod", gated + fmt.Sprintf(terms, one), gated, []string{
			termsField + ": Invalid value: null: no additions/deletions to non-empty NodeSelectorTerms list are allowed"}},
		{"empty affinity of a gated pod", gated, gated + "affinity: {}", []string{immutable}},
		{"pod affinity of a gated pod", gated, gated + "affinity: {podAffinity: {}}", []string{immutable}},
		{"both affinities of a gated pod", gated, gated + strings.Replace(fmt.Sprintf(terms, one), "{nodeAff", "{podAffinity: {}, nodeAff", 1), []string{immutable}},
		{"requirement of a gated pod", gated + fmt.Sprintf(terms, one), gated + fmt.Sprintf(terms, two), nil},
		{"fewer requirements of a gated pod", gated + fmt.Sprintf(terms, two), gated + fmt.Sprintf(terms, one), []string{
			termsField + "[0]: Invalid value: "}},
		{"terms of a gated pod", gated + fmt.Sprintf(terms, one), gated + fmt.Sprintf(terms, "[{}, {}]"), []string{
			termsField + `: Invalid value: [{"MatchExpressions":null,"MatchFields":null},{"MatchExpressions":null,"MatchFields":null}]: no additions/deletions to non-empty NodeSelectorTerms list are allowed`}},
		{"empty term of a gated pod", gated + fmt.Sprintf(terms, "[{}]"), gated + fmt.Sprintf(terms, one), []string{
			termsField + `[0]: Invalid value: {"MatchExpressions":[{"Key":"a","Operator":"Exists","Values":null}],"MatchFields":null}: only additions are allowed (no mutations or deletions)`}},
		{"preferred terms of a gated pod", gated, gated + "affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, preference: {}}]}}", nil},
		{"another requirement of a gated pod", gated + fmt.Sprintf(terms, one), gated + fmt.Sprintf(terms, strings.Replace(one, "a,", "b,", 1)), []string{termsField + "[0]: Invalid value: "}},
		{"empty terms with a field of a gated pod", gated + fmt.Sprintf(terms, "[{}]"), gated + fmt.Sprintf(terms, fields), []string{termsField + "[0]: Invalid value: "}},
		{"field of a gated pod", gated + fmt.Sprintf(terms, fields), gated + fmt.Sprintf(terms, strings.Replace(fields, "[x]", "[z]", 1)), []string{termsField + "[0]: Invalid value: "}},
		{"requirement and field of a gated pod", gated + fmt.Sprintf(terms, fields), gated + fmt.Sprintf(terms, strings.Replace(fields, "{match", "{matchExpressions: [{key: a, operator: Exists}], match", 1)), nil},
		{"empty term that stays", gated + fmt.Sprintf(terms, "[{}]"), gated + strings.Replace(fmt.Sprintf(terms, "[{}]"), "{required", "{preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, preference: {}}], required", 1), nil},
		{"first terms of a gated pod", gated + preferred, gated + fmt.Sprintf(terms, one), nil},
		{"only preferred terms of a gated pod", gated + fmt.Sprintf(terms, one), gated + preferred, []string{
			termsField + ": Invalid value: null: no additions/deletions to non-empty NodeSelectorTerms list are allowed"}},
		{"pod anti-affinity of a gated pod", gated, gated + strings.Replace(fmt.Sprintf(terms, one), "{nodeAff", "{podAntiAffinity: {}, nodeAff", 1), []string{immutable}},
		{"late deadline", "", "activeDeadlineSeconds: 2147483648", []string{
			"spec.activeDeadlineSeconds: Invalid value: 2147483648: must be between 1 and 2147483647, inclusive",
			"spec.activeDeadlineSeconds: Invalid value: 2147483648: must be between 0 and 2147483647, inclusive"}},
		{"first toleration", "", "tolerations: [{key: a, operator: Exists}]", nil},
		{"grace period", "", "terminationGracePeriodSeconds: 1", []string{immutable}},
		{"grace period that was negative", "terminationGracePeriodSeconds: -1", "terminationGracePeriodSeconds: 1", nil},
		{"service account", "", "serviceAccountName: a", []string{immutable}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := validatetest.Texts(validatePodUpdate(simplePod(t, test.updated), simplePod(t, test.old)))
			require.Len(t, got, len(test.want), "%q", got)
			for i := range got {
				require.True(t, strings.HasPrefix(got[i], test.want[i]), "%q\n%q", got[i], test.want[i])
			}
		})
	}
}

func TestValidatePodUpdateOfContainers(t *testing.T) {
	old := defaultedPod(t, `spec: {initContainers: [{name: a, image: i}], containers: [{name: c, image: i}]}`)
	pod := old.DeepCopy()
	pod.Spec.InitContainers[0].Image, pod.Spec.Containers[0].Image = "", " j"
	require.Equal(t, []string{
		"spec.initContainers[0].image: Required value",
		`spec.containers[0].image: Invalid value: " j": must not have leading or trailing whitespace`,
		`spec.containers[0].image: Invalid value: " j": must not have leading or trailing whitespace`,
		"spec.initContainers[0].image: Required value",
	}, validatetest.Texts(validatePodUpdate(pod, old)))
	pod = old.DeepCopy()
	pod.Spec.InitContainers, pod.Spec.HostPID = nil, true
	require.Equal(t, []string{"spec.initContainers: Forbidden: pod updates may not add or remove containers"}, validatetest.Texts(validatePodUpdate(pod, old)))
	pod.Spec.Containers = append(pod.Spec.Containers, corev1.Container{})
	require.Contains(t, validatetest.Texts(validatePodUpdate(pod, old)), "spec.containers: Forbidden: pod updates may not add or remove containers")
	pod = old.DeepCopy()
	pod.Spec.Containers[0].Args = []string{"a"}
	require.Contains(t, validatetest.Texts(validatePodUpdate(pod, old))[0], "\n-   \"Args\": null,\n+   \"Args\": [\n")
}

func TestValidatePodAnnotationsUpdate(t *testing.T) {
	const appArmor = "container.apparmor.security.beta.kubernetes.io/c"
	old := simplePod(t, "nodeName: a")
	old.Annotations = map[string]string{appArmor: "unconfined", "x": "y", corev1.MirrorPodAnnotationKey: "a"}
	pod := old.DeepCopy()
	pod.Annotations = map[string]string{appArmor: "runtime/default"}
	require.Equal(t, []string{
		"metadata.annotations[" + appArmor + "]: Forbidden: may not remove or update AppArmor annotations",
		"metadata.annotations[kubernetes.io/config.mirror]: Forbidden: may not remove or update mirror pod annotation",
	}, validatetest.Texts(validatePodUpdate(pod, old)))
	old.Annotations, pod.Annotations = nil, old.Annotations
	require.Equal(t, []string{
		"metadata.annotations[" + appArmor + "]: Forbidden: may not add AppArmor annotations",
		"metadata.annotations[kubernetes.io/config.mirror]: Forbidden: may not add mirror pod annotation",
	}, validatetest.Texts(validatePodUpdate(pod, old)))
}

// What an object has already stays valid.
func TestInvalidPodsStayValid(t *testing.T) {
	for _, spec := range []string{
		"affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: a, labelSelector: {matchExpressions: [{key: a, operator: In, values: [b c]}]}}]}}",
		"affinity: {podAntiAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, podAffinityTerm: {topologyKey: a, labelSelector: {matchExpressions: [{key: a, operator: In, values: [b c]}]}}}]}}",
		"affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: a, operator: In, values: [b c]}]}]}}}",
		"topologySpreadConstraints: [{maxSkew: 1, topologyKey: a, whenUnsatisfiable: ScheduleAnyway, labelSelector: {matchLabels: {a: b c}}}]",
		"hostNetwork: true, securityContext: {sysctls: [{name: net.core.somaxconn}]}",
		"hostNetwork: true, hostUsers: false",
		"hostUsers: false, volumes: [{name: v, persistentVolumeClaim: {claimName: c}}], initContainers: [{name: a, image: i, volumeDevices: [{name: v, devicePath: /v}]}]",
		"tolerations: [{key: a, operator: Gt, value: '1'}]",
		"overhead: {cpu: 1, hugepages-2Mi: 3Mi}",
		"volumes: [{name: v, image: {reference: ''}}]",
		"initContainers: [{name: a, image: i, securityContext: {allowPrivilegeEscalation: false, capabilities: {add: [CAP_SYS_ADMIN]}}}]",
	} {
		old := simplePod(t, spec)
		require.NotEmpty(t, validatePod(old), spec)
		require.Empty(t, validatetest.Texts(validatePodUpdate(old.DeepCopy(), old)), spec)
		template, before := &corev1.PodTemplate{}, &corev1.PodTemplate{}
		template.Template.Spec, before.Template.Spec = old.Spec, old.Spec
		require.NotEmpty(t, validatePodTemplate(template), spec)
		require.Empty(t, validatetest.Texts(validatePodTemplateUpdate(template, before)), spec)
	}
	old := simplePod(t, "")
	old.Annotations = map[string]string{corev1.PodDeletionCost: "cheap"}
	require.Empty(t, validatetest.Texts(validatePodUpdate(old.DeepCopy(), old)))
}

// The keys of matchLabelKeys are in the selectors of new pods, but not in those of old ones.
func TestOldSpreadLabelKeysStayValid(t *testing.T) {
	const constraint = "topologySpreadConstraints: [{maxSkew: 1, topologyKey: a, whenUnsatisfiable: ScheduleAnyway, matchLabelKeys: [%s], labelSelector: %s}]"
	old := simplePod(t, fmt.Sprintf(constraint, "a", "{matchExpressions: [{key: a, operator: Exists}, {key: a, operator: Exists}]}"))
	require.Equal(t, []string{
		`spec.topologySpreadConstraints[0].matchLabelKeys[0]: Invalid value: "a": exists in both matchLabelKeys and labelSelector`,
	}, validatetest.Texts(validatePodUpdate(old.DeepCopy(), old)))
	require.Empty(t, validateOldLabelKeys([]string{"a"}, &metav1.LabelSelector{MatchLabels: map[string]string{"b": "c"}}, nil))
	require.Len(t, validateOldLabelKeys([]string{"a b"}, nil, nil), 2)
	selector := validatetest.Parse[metav1.LabelSelector](t, `{matchLabels: {b: c}, matchExpressions: [{key: d, operator: Exists}]}`)
	require.Equal(t, []string{
		`[1]: Invalid value: "b": exists in both matchLabelKeys and labelSelector`, `[2]: Invalid value: "d": exists in both matchLabelKeys and labelSelector`,
	}, validatetest.Texts(validateOldLabelKeys([]string{"a", "b", "d"}, selector, nil)))
}
