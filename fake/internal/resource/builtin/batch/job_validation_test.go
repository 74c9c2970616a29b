package batch

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/fake/internal/resource/validate/validatetest"
)

// jobManifest is a valid Job.
const jobManifest = `
metadata: {name: j}
spec:
  template:
    spec: {restartPolicy: Never, containers: [{name: c, image: i}], initContainers: [{name: init, image: i}]}
`

// setFields replaces the fields of an object by those of a YAML document.
func setFields(t testing.TB, obj any, text string) {
	t.Helper()
	require.NoError(t, yaml.UnmarshalStrict([]byte(text), obj))
}

// newJob returns a Job as a server creates it: jobManifest with the fields of a YAML document.
func newJob(t testing.TB, text string) *batchv1.Job {
	t.Helper()
	job := &batchv1.Job{}
	setFields(t, job, jobManifest)
	setFields(t, job, text)
	job.UID, job.Generation = "u", 1
	setJobDefaults(job)
	prepareJobForCreate(t.Context(), job)
	return job
}

// validationCase has fields of an object and the errors for them.
type validationCase struct {
	fields string
	want   []string
}

const (
	negative  = "must be greater than or equal to 0"
	immutable = "field is immutable"
	noMatch   = "spec.template.metadata.labels: Invalid value: null: `selector` does not match template `labels`"
)

func TestValidateJob(t *testing.T) {
	const label = `spec.template.metadata.labels[%s]: Required value: must be 'u'`
	for _, test := range []validationCase{
		{`{}`, nil},
		{`spec: {template: {spec: {restartPolicy: OnFailure}}, parallelism: 0, completions: 0, activeDeadlineSeconds: 0, backoffLimit: 0, ttlSecondsAfterFinished: 0, suspend: true, managedBy: example.com/x}`, nil},
		{`spec: {parallelism: -1, completions: -1, activeDeadlineSeconds: -1, backoffLimit: -1, ttlSecondsAfterFinished: -1}`, []string{
			"spec.parallelism: Invalid value: -1: " + negative,
			"spec.completions: Invalid value: -1: " + negative,
			"spec.activeDeadlineSeconds: Invalid value: -1: " + negative,
			"spec.backoffLimit: Invalid value: -1: " + negative,
			"spec.ttlSecondsAfterFinished: Invalid value: -1: " + negative}},
		{`spec: {managedBy: example.com}`, []string{`spec.managedBy: Invalid value: "example.com": must be a domain-prefixed path (such as "acme.io/foo")`}},
		{`spec: {managedBy: example.com/` + strings.Repeat("x", 51) + `}`, nil},
		{`spec: {managedBy: example.com/` + strings.Repeat("x", 52) + `}`, []string{`spec.managedBy: Too long: may not be more than 63 bytes`}},
		{`spec: {template: {spec: {restartPolicy: Always}}}`, []string{`spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"`}},
		{`spec: {template: {spec: {restartPolicy: Any}}}`, []string{
			`spec.template.spec.restartPolicy: Unsupported value: "Any": supported values: "Always", "OnFailure", "Never"`,
			`spec.template.spec.restartPolicy: Unsupported value: "Any": supported values: "OnFailure", "Never"`}},
		{`spec: {template: {spec: {dnsPolicy: Any}}}`, []string{
			`spec.template.spec.dnsPolicy: Unsupported value: "Any": supported values: "ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"`}},
		{`spec: {podReplacementPolicy: Failed}`, nil},
		{`spec: {podReplacementPolicy: Any}`, []string{`spec.podReplacementPolicy: Unsupported value: "Any": supported values: "Failed", "TerminatingOrFailed"`}},

		// The completion mode and what depends on it.
		{`spec: {completionMode: Any}`, []string{`spec.completionMode: Unsupported value: "Any": supported values: "NonIndexed", "Indexed"`}},
		{`spec: {backoffLimitPerIndex: 1, maxFailedIndexes: 1}`, []string{
			"spec.backoffLimitPerIndex: Invalid value: 1: requires indexed completion mode",
			"spec.maxFailedIndexes: Invalid value: 1: requires indexed completion mode"}},
		{`spec: {completionMode: Indexed, parallelism: 1}`, []string{"spec.completions: Required value: when completion mode is Indexed"}},
		{`spec: {completionMode: Indexed, completions: 3, backoffLimitPerIndex: 0, maxFailedIndexes: 3}`, nil},
		{`spec: {completionMode: Indexed, completions: 3, backoffLimitPerIndex: -1, maxFailedIndexes: -1}`, []string{
			"spec.backoffLimitPerIndex: Invalid value: -1: " + negative,
			"spec.maxFailedIndexes: Invalid value: -1: " + negative}},
		{`spec: {completionMode: Indexed, completions: 3, maxFailedIndexes: 4}`, []string{
			"spec.backoffLimitPerIndex: Required value: when maxFailedIndexes is specified",
			"spec.maxFailedIndexes: Invalid value: 4: must be less than or equal to completions"}},
		{`spec: {completionMode: Indexed, completions: 100000, parallelism: 100000, backoffLimitPerIndex: 1, maxFailedIndexes: 100000}`, nil},
		{`spec: {completionMode: Indexed, completions: 100001, parallelism: 100001}`, []string{
			"spec.parallelism: Invalid value: 100001: must be less than or equal to 100000 when completion mode is Indexed"}},
		{`spec: {completionMode: Indexed, completions: 100001, parallelism: 10000, backoffLimitPerIndex: 1, maxFailedIndexes: 10000}`, nil},
		{`spec: {completionMode: Indexed, completions: 100001, backoffLimitPerIndex: 1}`, []string{
			"spec.maxFailedIndexes: Required value: must be specified when completions is above 100000"}},
		{`spec: {completionMode: Indexed, completions: 100001, parallelism: 10001, backoffLimitPerIndex: 1, maxFailedIndexes: 100001}`, []string{
			"spec.maxFailedIndexes: Invalid value: 100001: must be less than or equal to 100000",
			"spec.parallelism: Invalid value: 10001: must be less than or equal to 10000 when completions are above 100000 and used with backoff limit per index",
			"spec.maxFailedIndexes: Invalid value: 100001: must be less than or equal to 10000 when completions are above 100000 and used with backoff limit per index"}},
		{`{metadata: {name: ` + strings.Repeat("j", 61) + `}, spec: {completionMode: Indexed, completions: 10}}`, nil},
		{`{metadata: {name: ` + strings.Repeat("j", 61) + `}, spec: {completionMode: Indexed, completions: 11}}`, []string{
			`metadata.name: Invalid value: "` + strings.Repeat("j", 61) + `": will not able to create pod with invalid DNS label: ` + strings.Repeat("j", 61) + "-10"}},
		{`{metadata: {name: j.k}, spec: {completionMode: Indexed, completions: 1}}`, []string{
			`metadata.name: Invalid value: "j.k": will not able to create pod with invalid DNS label: j.k-0`}},

		// The selector and the labels that are generated.
		{`spec: {manualSelector: true}`, []string{"spec.selector: Required value", noMatch}},
		{`spec: {manualSelector: true, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}}}`, nil},
		{`spec: {manualSelector: true, selector: {matchLabels: {a: b}}}`, []string{
			noMatch}},
		{`spec: {manualSelector: true, selector: {matchExpressions: [{key: a, operator: Is}]}}`, []string{
			`spec.selector.matchExpressions[0].operator: Invalid value: "Is": not a valid selector operator`}},
		{`spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}}}`, []string{
			"spec.selector: Invalid value: {\"matchLabels\":{\"a\":\"b\",\"batch.kubernetes.io/controller-uid\":\"u\"}}: `selector` not auto-generated"}},
		{`spec: {template: {metadata: {labels: {job-name: k}}}}`, []string{
			`spec.template.metadata.labels[job-name]: Invalid value: {"batch.kubernetes.io/controller-uid":"u","batch.kubernetes.io/job-name":"j","controller-uid":"u","job-name":"k"}: must be 'j'`}},
	} {
		t.Run(test.fields, func(t *testing.T) {
			validatetest.RequireErrors(t, validateJob(newJob(t, test.fields)), test.want...)
		})
	}
	job := newJob(t, "{}")
	job.Spec.Template.Labels, job.UID = nil, ""
	validatetest.RequireErrors(t, validateJob(job),
		"metadata.uid: Required value",
		strings.Replace(fmt.Sprintf(label, "controller-uid"), "'u'", "''", 1),
		strings.Replace(fmt.Sprintf(label, "job-name"), "'u'", "'j'", 1),
		strings.Replace(fmt.Sprintf(label, "batch.kubernetes.io/controller-uid"), "'u'", "''", 1),
		strings.Replace(fmt.Sprintf(label, "batch.kubernetes.io/job-name"), "'u'", "'j'", 1),
		"spec.selector: Invalid value: {\"matchLabels\":{\"batch.kubernetes.io/controller-uid\":\"u\"}}: `selector` not auto-generated",
		noMatch)
}

func TestValidatePodFailurePolicy(t *testing.T) {
	const rule = "spec.podFailurePolicy.rules[0]"
	for _, test := range []validationCase{
		{`{action: FailJob, onExitCodes: {operator: In, values: [1, 2, 255]}}`, nil},
		{`{action: Count, onExitCodes: {containerName: init, operator: NotIn, values: [0]}}`, nil},
		{`{action: Ignore, onPodConditions: [{type: DisruptionTarget}, {type: a/b, status: Unknown}]}`, nil},
		{`{action: FailIndex, onExitCodes: {containerName: x, operator: In, values: []}}`, []string{
			rule + `.action: Invalid value: "FailIndex": requires the backoffLimitPerIndex to be set`,
			rule + `.onExitCodes.containerName: Invalid value: "x": must be one of the container or initContainer names in the pod template`,
			rule + `.onExitCodes.values: Invalid value: []: at least one value is required`}},
		{`{onExitCodes: {values: [1]}}`, []string{
			rule + `.action: Required value: valid values: ["Count" "FailIndex" "FailJob" "Ignore"]`,
			rule + `.onExitCodes.operator: Required value: valid values: ["In" "NotIn"]`}},
		{`{action: Any, onExitCodes: {operator: Any, values: [2, 0, 2]}}`, []string{
			rule + `.action: Unsupported value: "Any": supported values: "Count", "FailIndex", "FailJob", "Ignore"`,
			rule + `.onExitCodes.operator: Unsupported value: "Any": supported values: "In", "NotIn"`,
			rule + `.onExitCodes.values[2]: Duplicate value: 2`,
			rule + `.onExitCodes.values: Invalid value: [2,0,2]: must be ordered`}},
		{`{action: Count, onExitCodes: {operator: In, values: [0, 1, 1]}}`, []string{
			rule + `.onExitCodes.values[0]: Invalid value: 0: must not be 0 for the In operator`,
			rule + `.onExitCodes.values[2]: Duplicate value: 1`}},
		{`{action: Count, onPodConditions: [{type: "a b", status: Any}]}`, []string{
			rule + `.onPodConditions[0].type: Invalid value: "a b": name part must consist of alphanumeric characters, '-', '_' or '.', ` +
				`and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')`,
			rule + `.onPodConditions[0].status: Unsupported value: "Any": supported values: "False", "True", "Unknown"`}},
		{`{action: Count}`, []string{rule + ": Invalid value: specifying one of OnExitCodes and OnPodConditions is required"}},
		{`{action: Count, onExitCodes: {operator: In, values: [1]}, onPodConditions: [{type: A}]}`, []string{
			rule + ": Invalid value: specifying both OnExitCodes and OnPodConditions is not supported"}},
		{`{action: Count, onExitCodes: {operator: NotIn, values: [` + numbers(256) + `]}}`, []string{
			rule + ".onExitCodes.values: Too many: 256: must have at most 255 items"}},
		{`{action: Count, onPodConditions: [` + strings.Repeat("{type: A}, ", 21) + `]}`, []string{
			rule + ".onPodConditions: Too many: 21: must have at most 20 items"}},
	} {
		t.Run(test.fields[:min(len(test.fields), 100)], func(t *testing.T) {
			validatetest.RequireErrors(t, validateJob(newJob(t, `spec: {podFailurePolicy: {rules: [`+test.fields+`]}}`)), test.want...)
		})
	}
	const one = "{action: Count, onExitCodes: {containerName: c, operator: In, values: [1]}}, "
	validatetest.RequireErrors(t, validateJob(newJob(t, `spec: {podFailurePolicy: {rules: [`+strings.Repeat(one, 20)+strings.Replace(one, ": c", ": x", 1)+`]}}`)),
		"spec.podFailurePolicy.rules: Too many: 21: must have at most 20 items",
		`spec.podFailurePolicy.rules[20].onExitCodes.containerName: Invalid value: "x": must be one of the container or initContainer names in the pod template`)
	validatetest.RequireErrors(t, validateJob(newJob(t, `spec: {completionMode: Indexed, completions: 1, backoffLimitPerIndex: 1, podFailurePolicy: {rules: [`+
		strings.Replace(one, "Count", "FailIndex", 1)+`]}}`)))
	job := newJob(t, `spec: {podFailurePolicy: {rules: []}, podReplacementPolicy: TerminatingOrFailed, template: {spec: {restartPolicy: OnFailure}}}`)
	validatetest.RequireErrors(t, validateJob(job),
		`spec.podReplacementPolicy: Unsupported value: "TerminatingOrFailed": supported values: "Failed"`,
		`spec.template.spec.restartPolicy: Invalid value: "OnFailure": only "Never" is supported when podFailurePolicy is specified`)
	job = newJob(t, "{}")
	job.Spec.PodFailurePolicy = newPodFailurePolicy()
	job.Spec.PodFailurePolicy.Rules[0].OnPodConditions[0].Status = ""
	validatetest.RequireErrors(t, validateJob(job),
		`spec.podFailurePolicy.rules[0].onPodConditions[0].status: Required value: valid values: ["False" "True" "Unknown"]`,
		`spec.podReplacementPolicy: Unsupported value: "TerminatingOrFailed": supported values: "Failed"`)
}

// numbers returns the first numbers as elements of a YAML list.
func numbers(n int) string {
	var list strings.Builder
	for i := range n {
		fmt.Fprintf(&list, "%d, ", i)
	}
	return list.String()
}

func TestValidateSuccessPolicy(t *testing.T) {
	const rule = "spec.successPolicy.rules[0]"
	malformed := func(list, problem string) []string {
		return []string{fmt.Sprintf("%s.succeededIndexes: Invalid value: %q: error parsing succeededIndexes: %s", rule, list, problem)}
	}
	for _, test := range []validationCase{
		{`{succeededCount: 10}`, nil},
		{`{succeededIndexes: "0-2,4,6-9", succeededCount: 8}`, nil},
		{`{succeededIndexes: ""}`, nil},
		{`{}`, []string{rule + ": Required value: at least one of succeededCount or succeededIndexes must be specified"}},
		{`{succeededCount: -1}`, []string{rule + ".succeededCount: Invalid value: -1: " + negative}},
		{`{succeededCount: 11}`, []string{rule + ".succeededCount: Invalid value: 11: must be less than or equal to 10 (the number of specified completions)"}},
		{`{succeededIndexes: "0-2", succeededCount: 4}`, []string{
			rule + ".succeededCount: Invalid value: 4: must be less than or equal to 3 (the number of indexes in the specified succeededIndexes field)"}},
		{`{succeededIndexes: "10"}`, malformed("10", `too large index: "10"`)},
		{`{succeededIndexes: "0-10"}`, malformed("0-10", `too large index: "10"`)},
		{`{succeededIndexes: "x"}`, malformed("x", `cannot convert string to integer for index: "x"`)},
		{`{succeededIndexes: "0,"}`, malformed("0,", `cannot convert string to integer for index: ""`)},
		{`{succeededIndexes: "1,1"}`, malformed("1,1", "non-increasing order, previous: 1, current: 1")},
		{`{succeededIndexes: "3-2"}`, malformed("3-2", "non-increasing order, previous: 3, current: 2")},
		{`{succeededIndexes: "1-2-3"}`, malformed("1-2-3",
			`the fragment "1-2-3" violates the requirement that an index interval can have at most two parts separated by '-'`)},
	} {
		t.Run(test.fields, func(t *testing.T) {
			validatetest.RequireErrors(t, validateJob(newJob(t, `spec: {completionMode: Indexed, completions: 10, successPolicy: {rules: [`+test.fields+`]}}`)), test.want...)
		})
	}
	validatetest.RequireErrors(t, validateJob(newJob(t, `spec: {successPolicy: {rules: []}}`)),
		`spec.successPolicy: Invalid value: {"Rules":[]}: requires indexed completion mode`)
	validatetest.RequireErrors(t, validateJob(newJob(t, `spec: {completionMode: Indexed, completions: 10, successPolicy: {rules: []}}`)),
		"spec.successPolicy.rules: Required value: at least one rules must be specified when the successPolicy is specified")
	rules := strings.Repeat("{succeededCount: 1}, ", 21)
	validatetest.RequireErrors(t, validateJob(newJob(t, `spec: {completionMode: Indexed, completions: 10, successPolicy: {rules: [`+rules+`]}}`)),
		"spec.successPolicy.rules: Too many: 21: must have at most 20 items")
	job := newJob(t, `spec: {completionMode: Indexed, completions: 100000, successPolicy: {rules: [{}]}}`)
	job.Spec.SuccessPolicy.Rules[0].SucceededIndexes = new(strings.ReplaceAll(strings.TrimSuffix(numbers(20_000), ", "), " ", ""))
	validatetest.RequireErrors(t, validateJob(job), "spec.successPolicy.rules[0].succeededIndexes: Too long: may not be more than 65536 bytes")
}

func TestValidateJobUpdate(t *testing.T) {
	const indexed = `spec: {completionMode: Indexed, completions: 3, parallelism: 3}`
	const broken = "spec: {template: {spec: {dnsPolicy: Any}}}"
	const wrongPolicy = `spec.template.spec.dnsPolicy: Unsupported value: "Any": supported values: "ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"`
	for _, test := range []struct {
		old, fields string
		want        []string
	}{
		{`{}`, `spec: {parallelism: 5, suspend: true, activeDeadlineSeconds: 5, backoffLimit: 1, ttlSecondsAfterFinished: 5}`, nil},
		{`{}`, `spec: {parallelism: -1}`, []string{ // a real server reports it twice
			"spec.parallelism: Invalid value: -1: " + negative, "spec.parallelism: Invalid value: -1: " + negative}},
		{`{}`, `spec: {completions: 2}`, []string{"spec.completions: Invalid value: 2: " + immutable}},
		{indexed, `spec: {completions: 5, parallelism: 5}`, nil},
		{indexed, `spec: {completions: 5}`, []string{"spec.completions: Invalid value: 5: can only be modified in tandem with spec.parallelism"}},
		{`{}`, `spec: {completionMode: Indexed}`, []string{`spec.completionMode: Invalid value: "Indexed": ` + immutable}},
		{`{}`, `spec: {managedBy: a/b}`, []string{`spec.managedBy: Invalid value: "a/b": ` + immutable}},
		{indexed, `spec: {backoffLimitPerIndex: 5}`, []string{"spec.backoffLimitPerIndex: Invalid value: 5: " + immutable}},
		{indexed, `spec: {successPolicy: {rules: [{succeededCount: 1}]}}`, []string{
			`spec.successPolicy: Invalid value: {"Rules":[{"SucceededIndexes":null,"SucceededCount":1}]}: ` + immutable}},
		{`{}`, `spec: {podReplacementPolicy: Failed, podFailurePolicy: {rules: []}}`, []string{`spec.podFailurePolicy: Invalid value: {"Rules":[]}: ` + immutable}},
		{`spec: {manualSelector: true, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b, c: d}}}}`, `spec: {selector: {matchLabels: {c: d}}}`, []string{
			`spec.selector: Invalid value: {"matchLabels":{"a":"b","c":"d"}}: ` + immutable}},
		// The pods of a Job may be invalid if they have been before.
		{broken, `spec: {parallelism: 2}`, []string{wrongPolicy, wrongPolicy}},
	} {
		t.Run(test.fields, func(t *testing.T) {
			old := newJob(t, test.old)
			job := old.DeepCopy()
			setFields(t, job, test.fields)
			job.Generation++
			validatetest.RequireErrors(t, validateJobUpdate(t.Context(), job, old, resource.MetadataErrors{}), test.want...)
		})
	}
	// Labels with a prefix are needed only if the old Job has them.
	old := newJob(t, "{}")
	delete(old.Spec.Template.Labels, batchv1.ControllerUidLabel)
	delete(old.Spec.Template.Labels, batchv1.JobNameLabel)
	old.Spec.Selector.MatchLabels = map[string]string{"controller-uid": "u"}
	job := old.DeepCopy()
	job.Spec.Suspend, job.Generation = new(true), 2
	validatetest.RequireErrors(t, validateJobUpdate(t.Context(), job, old, resource.MetadataErrors{}))
}

// The template of a Job can change while the Job is suspended and has no pods, but only in part.
func TestValidateJobTemplateUpdate(t *testing.T) {
	const (
		suspended = `spec: {suspend: true}` // and never started
		stopped   = `{spec: {suspend: true}, status: {conditions: [{type: Suspended, status: "True"}]}}`
	)
	for _, test := range []struct {
		old, fields string
		want        string // the field and the beginning of the error, if there is one
	}{
		{`{}`, `metadata: {labels: {a: b}}`, ""},
		{`{}`, `spec: {template: {metadata: {labels: {a: b}}}}`, "spec.template: Invalid value: "},
		{`{}`, `spec: {template: {spec: {nodeSelector: {a: b}}}}`, "spec.template: Invalid value: "},
		{suspended, `spec: {template: {metadata: {labels: {a: b}, annotations: {c: d}}}}`, ""},
		{stopped, `spec: {template: {metadata: {labels: {a: b}, annotations: {c: d}}}}`, ""},
		{suspended, `spec: {template: {spec: {nodeSelector: {a: b}, tolerations: [{operator: Exists}], schedulingGates: [{name: a}]}}}`, ""},
		{stopped, `spec: {template: {spec: {nodeSelector: {a: b}, tolerations: [{operator: Exists}], schedulingGates: [{name: a}]}}}`, ""},
		{suspended, `spec: {template: {spec: {affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{}]}}}}}}`, ""},
		{stopped, `spec: {template: {spec: {affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{}]}}}}}}`, ""},
		{stopped, `spec: {template: {spec: {containers: [{name: c, image: i, resources: {requests: {cpu: 1}}}]}}}`, ""},
		{suspended, `spec: {template: {spec: {containers: [{name: c, image: i, resources: {requests: {cpu: 1}}}]}}}`, "spec.template: Invalid value: "},
		{stopped, `spec: {template: {spec: {initContainers: [{name: init, image: i, resources: {limits: {cpu: 1}, requests: {cpu: 1}}}]}}}`, ""},
		{suspended, `spec: {template: {spec: {initContainers: [{name: init, image: i, resources: {limits: {cpu: 1}, requests: {cpu: 1}}}]}}}`, "spec.template: Invalid value: "},
		{stopped, `spec: {template: {spec: {containers: [{name: d, image: i}]}}}`, "spec.template.spec: Invalid value: "},
		{suspended, `spec: {template: {spec: {containers: [{name: d, image: i}]}}}`, "spec.template: Invalid value: "},
		{stopped, `spec: {template: {spec: {containers: [{name: c, image: i}, {name: d, image: i}]}}}`, "spec.template.spec: Invalid value: "},
		{suspended, `spec: {template: {spec: {containers: [{name: c, image: i}, {name: d, image: i}]}}}`, "spec.template: Invalid value: "},
		{stopped, `spec: {template: {spec: {containers: [{name: c, image: other}]}}}`, "spec.template.spec: Invalid value: "},
		{suspended, `spec: {template: {spec: {containers: [{name: c, image: other}]}}}`, "spec.template: Invalid value: "},
		{stopped, `spec: {template: {spec: {priorityClassName: a}}}`, "spec.template.spec: Invalid value: "},
		{suspended, `spec: {template: {spec: {priorityClassName: a}}}`, "spec.template: Invalid value: "},
		{stopped, `spec: {template: {spec: {affinity: {podAffinity: {}}}}}`, "spec.template.spec: Invalid value: "},
		{suspended, `spec: {template: {spec: {affinity: {podAffinity: {}}}}}`, "spec.template: Invalid value: "},
		{`{spec: {suspend: true}, status: {active: 1}}`, `spec: {template: {spec: {nodeSelector: {a: b}}}}`, ""},
		{`{spec: {suspend: true}, status: {active: 1, startTime: "2026-01-01T00:00:00Z", conditions: [{type: Suspended, status: "True"}]}}`, `spec: {template: {spec: {nodeSelector: {a: b}}}}`, "spec.template: Invalid value: "},
		{`{spec: {suspend: true}, status: {startTime: "2026-01-01T00:00:00Z"}}`, `spec: {template: {spec: {nodeSelector: {a: b}}}}`, "spec.template: Invalid value: "},
		{`{spec: {suspend: true}, status: {startTime: "2026-01-01T00:00:00Z", conditions: [{type: Suspended, status: "True"}]}}`, `spec: {template: {spec: {nodeSelector: {a: b}}}}`, ""},
		{`{spec: {suspend: true, template: {spec: {affinity: {nodeAffinity: {}}}}}}`, `spec: {template: {spec: {affinity: null}}}`, ""},
		{`{spec: {suspend: true, template: {spec: {affinity: {podAffinity: {}}}}}}`, `spec: {template: {spec: {affinity: null}}}`, "spec.template: Invalid value: "},
	} {
		t.Run(test.old+" "+test.fields, func(t *testing.T) {
			old := newJob(t, test.old)
			job := old.DeepCopy()
			var change batchv1.Job // without the elements of the old lists
			setFields(t, &change, test.fields)
			if len(change.Spec.Template.Spec.Containers) > 0 {
				job.Spec.Template.Spec.Containers = nil
			}
			if len(change.Spec.Template.Spec.InitContainers) > 0 {
				job.Spec.Template.Spec.InitContainers = nil
			}
			setFields(t, job, test.fields)
			setJobDefaults(job)
			if len(change.Labels) == 0 {
				job.Generation++
			}
			errs := validateJobUpdate(t.Context(), job, old, resource.MetadataErrors{})
			if test.want == "" {
				validatetest.RequireErrors(t, errs)
				return
			}
			require.Len(t, errs, 1)
			require.True(t, strings.HasPrefix(errs[0].Error(), test.want), errs[0])
			require.True(t, strings.HasSuffix(errs[0].Error(), ": "+immutable), errs[0])
		})
	}
}

// A Job cannot be replaced by its original manifest, which has neither the labels nor the selector
// that the server has generated.
func TestReplaceJobByItsManifest(t *testing.T) {
	old := newJob(t, "{}")
	job := &batchv1.Job{}
	setFields(t, job, jobManifest)
	job.UID, job.Generation = old.UID, 2
	setJobDefaults(job)
	prepareJobForUpdate(t.Context(), job, old)
	errs := validateJobUpdate(t.Context(), job, old, resource.MetadataErrors{})
	require.Len(t, errs, 6)
	validatetest.RequireErrors(t, errs[:5], "spec.selector: Required value", noMatch, "spec.selector: Required value", noMatch,
		"spec.selector: Invalid value: null: "+immutable)
	require.Equal(t, "spec.template", errs[5].Field)
	require.Equal(t, immutable, errs[5].Detail)
}

func TestJobWarnings(t *testing.T) {
	const many = "spec: In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, " +
		"Kubernetes might not be able to track completedIndexes when a big number of indexes fail"
	const selector = `spec.template.spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use "kubernetes.io/os" instead`
	const name = "metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior; " +
		"a DNS label is recommended: [must not contain dots]"
	job := newJob(t, `{metadata: {name: a.b}, spec: {completionMode: Indexed, completions: 100001, parallelism: 10001, template: {spec: {nodeSelector: {beta.kubernetes.io/os: linux}}}}}`)
	require.Equal(t, []string{name, many, selector}, jobWarnings(job))
	require.Equal(t, []string{many, selector}, jobUpdateWarnings(job, &batchv1.Job{}))
	require.Empty(t, jobUpdateWarnings(job, job))
	require.Empty(t, jobWarnings(newJob(t, `spec: {completionMode: Indexed, completions: 100001, parallelism: 10000}`)))
	require.Empty(t, jobWarnings(newJob(t, `spec: {completionMode: Indexed, completions: 100000, parallelism: 10001}`)))
}

// The validation of a valid Job allocates nothing, also if only metadata changes.
func TestJobValidationAllocatesNothing(t *testing.T) {
	old := newJob(t, "{}")
	indexed := newJob(t, `spec: {completionMode: Indexed, completions: 5, backoffLimitPerIndex: 1, maxFailedIndexes: 5, podFailurePolicy: {rules: [{action: FailJob, onExitCodes: {containerName: c, operator: In, values: [1, 2]}}, {action: Ignore, onPodConditions: [{type: DisruptionTarget}]}]}, successPolicy: {rules: [{succeededIndexes: "0,2-3", succeededCount: 1}]}}`)
	labelled := old.DeepCopy()
	labelled.Labels["a"] = "b"
	running := old.DeepCopy()
	running.Status = batchv1.JobStatus{StartTime: new(metav1.Now()), Active: 1, Ready: new(int32(1)), UncountedTerminatedPods: &batchv1.UncountedTerminatedPods{},
		Conditions: []batchv1.JobCondition{{Type: batchv1.JobSuspended, Status: corev1.ConditionFalse}}}
	for name, validation := range map[string]func() field.ErrorList{
		"create":            func() field.ErrorList { return validateJob(old) },
		"create with rules": func() field.ErrorList { return validateJob(indexed) },
		"update": func() field.ErrorList {
			return validateJobUpdate(t.Context(), labelled, old, resource.MetadataErrors{})
		},
	} {
		require.Empty(t, validation(), name)
		assert.Zero(t, validatetest.AllocsPerRun(100, func() { validation() }), name)
	}
	require.Empty(t, validateJobStatusUpdate(running, old))
	require.Zero(t, validatetest.AllocsPerRun(100, func() { jobWarnings(old); jobUpdateWarnings(labelled, old) }), "warnings")
}
