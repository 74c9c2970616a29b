package policy_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"

	"example.com/fakeapi/fake/internal/admission"
)

// TestDecisions tests what is reported for the create of a ConfigMap.
func TestDecisions(t *testing.T) {
	const deny = `{"validationActions":["Deny"]}`
	validating := func(spec, binding string) []runtime.Object {
		return []runtime.Object{validatingPolicy("p", spec), validatingBinding("b", "p", binding)}
	}
	mutating := func(spec string) []runtime.Object {
		return []runtime.Object{mutatingPolicy("p", spec), mutatingBinding("b", "p", `{}`)}
	}
	const divide = `object.data.size() / 0 == 1`
	const unknownKind = `"paramKind":{"apiVersion":"example.com/v1","kind":"None"}`
	const configMapKind = `"paramKind":{"apiVersion":"v1","kind":"ConfigMap"}`
	const failed = `expression '` + divide + `' resulted in error: division by zero`
	for name, c := range map[string]struct {
		objects []runtime.Object
		refused bool
		want    []admission.Decision
	}{
		"allowed": {
			objects: validating(`{"validations":[{"expression":"true"},{"expression":"true"}]}`, deny),
			want:    []admission.Decision{{Configuration: "b", Outcome: admission.Allowed, Code: 200}},
		},
		"not selected by a condition": {
			objects: validating(`{"matchConditions":[{"name":"c","expression":"false"}],"validations":[{"expression":"false"}]}`, deny),
		},
		"denied": {
			objects: validating(`{"validations":[{"expression":"false","reason":"Forbidden","message":"no"},{"expression":"true"},{"expression":"1 == 2"}]}`, deny),
			refused: true,
			want: []admission.Decision{
				{Configuration: "b", Outcome: admission.Denied, Code: 403, ErrorType: "invalid_error", Message: "no"},
				{Configuration: "b", Outcome: admission.Denied, Code: 422, ErrorType: "invalid_error", Message: "failed expression: 1 == 2"},
			},
		},
		"warned and audited": {
			objects: validating(`{"validations":[{"expression":"false","message":"no"}]}`, `{"validationActions":["Warn","Audit"]}`),
			want: []admission.Decision{
				{Configuration: "b", Outcome: admission.Warned, ErrorType: "invalid_error", Message: "no"},
				{Configuration: "b", Outcome: admission.Audited, ErrorType: "invalid_error", Message: "no"},
			},
		},
		"failed": {
			objects: validating(`{"validations":[{"expression":"`+divide+`"}]}`, deny), refused: true,
			want: []admission.Decision{{Configuration: "b", Outcome: admission.Failed, Code: 422, ErrorType: "invalid_error", Message: failed}},
		},
		"ignored": {
			objects: validating(`{"failurePolicy":"Ignore","validations":[{"expression":"`+divide+`"}]}`, deny),
			want:    []admission.Decision{{Configuration: "b", Outcome: admission.Ignored, ErrorType: "invalid_error", Message: failed}},
		},
		"annotated": {
			objects: validating(`{"auditAnnotations":[{"key":"k","valueExpression":"'v'"},{"key":"none","valueExpression":"null"}]}`, deny),
			want:    []admission.Decision{{Configuration: "b", Outcome: admission.Allowed, Code: 200, AuditAnnotations: map[string]string{"p/k": "v"}}},
		},
		"annotation failed": {
			objects: validating(`{"auditAnnotations":[{"key":"k","valueExpression":"string(1 / 0)"}]}`, `{"validationActions":["Warn"]}`), refused: true,
			want: []admission.Decision{{Configuration: "b", Outcome: admission.Failed, Code: 422, ErrorType: "invalid_error", Message: "expression 'string(1 / 0)' resulted in error: division by zero"}},
		},
		"unknown kind of parameters": {
			objects: validating(`{`+unknownKind+`,"validations":[{"expression":"true"}]}`, deny), refused: true,
			want: []admission.Decision{{Outcome: admission.Failed, Message: "failed to find resource referenced by paramKind: 'example.com/v1, Kind=None'"}},
		},
		"unknown kind of parameters, ignored": {
			objects: validating(`{"failurePolicy":"Ignore",`+unknownKind+`,"validations":[{"expression":"true"}]}`, deny),
			want:    []admission.Decision{{Outcome: admission.Ignored, Message: "failed to find resource referenced by paramKind: 'example.com/v1, Kind=None'"}},
		},
		"no parameters": {
			objects: validating(`{`+configMapKind+`,"validations":[{"expression":"true"}]}`, `{"validationActions":["Deny"],"paramRef":{"name":"none","parameterNotFoundAction":"Deny"}}`),
			refused: true,
			want:    []admission.Decision{{Configuration: "b", Outcome: admission.Failed, Message: "no params found for policy binding with `Deny` parameterNotFoundAction"}},
		},
		"changed": {
			objects: mutating(`{"mutations":[
				{"patchType":"ApplyConfiguration","applyConfiguration":{"expression":"Object{metadata: Object.metadata{labels: {'a/b': 'c'}}}"}},
				{"patchType":"JSONPatch","jsonPatch":{"expression":"[JSONPatch{op: 'remove', path: '/data/a'}]"}},
				{"patchType":"JSONPatch","jsonPatch":{"expression":"[JSONPatch{op: 'test', path: '/metadata/name', value: 'y'}]"}}]}`),
			want: []admission.Decision{
				{Configuration: "b", Outcome: admission.Allowed, Code: 200, ErrorType: "no_error", Changes: []admission.Change{
					{Op: "add", Path: "/metadata/labels", Value: `{"a/b":"c"}`},
				}},
				{Configuration: "b", Outcome: admission.Allowed, Code: 200, ErrorType: "no_error", Changes: []admission.Change{{Op: "remove", Path: "/data"}}},
				{Configuration: "b", Outcome: admission.Allowed, Code: 200, ErrorType: "no_error"},
			},
		},
		"patch failed": {
			objects: mutating(`{"mutations":[{"patchType":"JSONPatch","jsonPatch":{"expression":"[JSONPatch{op: 'remove', path: '/data/b'}]"}}]}`), refused: true,
			want: []admission.Decision{{Configuration: "b", Outcome: admission.Failed, Code: 403, ErrorType: "invalid_error", Message: "JSON Patch: error in remove for path"}},
		},
		"patch failed, ignored": {
			objects: mutating(`{"failurePolicy":"Ignore","mutations":[{"patchType":"JSONPatch","jsonPatch":{"expression":"[JSONPatch{op: 'remove', path: '/data/b'}]"}}]}`),
			want:    []admission.Decision{{Configuration: "b", Outcome: admission.Ignored, ErrorType: "invalid_error", Message: "JSON Patch: error in remove for path"}},
		},
		"patched to another type": { // which is refused whatever the failurePolicy is
			objects: mutating(`{"failurePolicy":"Ignore","mutations":[{"patchType":"JSONPatch","jsonPatch":{"expression":"[JSONPatch{op: 'add', path: '/data/b', value: 1}]"}}]}`),
			refused: true,
			want:    []admission.Decision{{Configuration: "b", Outcome: admission.Failed, Code: 500, ErrorType: "invalid_error", Message: "Internal error occurred"}},
		},
		"condition of a mutation failed": {
			objects: mutating(`{"matchConditions":[{"name":"c","expression":"` + divide + `"}],"mutations":[{"patchType":"JSONPatch","jsonPatch":{"expression":"[JSONPatch{op: 'remove', path: '/data'}]"}}]}`), refused: true,
			want: []admission.Decision{{Configuration: "b", Outcome: admission.Failed, Code: 403, Message: failed}},
		},
		"unknown kind of parameters of a mutation": {
			objects: append(mutating(`{`+unknownKind+`,"mutations":[{"patchType":"JSONPatch","jsonPatch":{"expression":"[JSONPatch{op: 'remove', path: '/data'}]"}}]}`), mutatingBinding("b2", "p", `{}`)), refused: true,
			want: []admission.Decision{{Outcome: admission.Failed, Message: "failed to find resource referenced by paramKind: 'example.com/v1, Kind=None'"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, c.objects...)
			begin := time.Now()
			_, err := f.create("x")
			require.Equal(t, c.refused, err != nil, "%v", err)
			require.Len(t, f.decisions, len(c.want))
			for i, got := range f.decisions {
				want := c.want[i]
				require.True(t, strings.HasPrefix(got.Message, want.Message), got.Message)
				require.Equal(t, []string{"CREATE", "p", "configmaps", "x"}, []string{got.Operation, got.Name, got.Resource.Resource, got.ObjectName})
				require.WithinRange(t, got.Begin, begin, time.Now())
				want.Message = got.Message
				got = admission.Decision{
					Configuration: got.Configuration, Outcome: got.Outcome, Code: got.Code, ErrorType: got.ErrorType, Message: got.Message,
					Changes: got.Changes, AuditAnnotations: got.AuditAnnotations,
				}
				require.Equal(t, want, got)
			}
		})
	}
}

// A policy that is evaluated again because another has changed the object says so.
func TestReinvokedDecision(t *testing.T) {
	f := newFixture(t,
		mutatingPolicy("a", `{"reinvocationPolicy":"IfNeeded","mutations":[{"patchType":"ApplyConfiguration","applyConfiguration":{"expression":"Object{data: {'a': object.data[?'b'].orValue('none')}}"}}]}`),
		mutatingPolicy("b", `{"mutations":[{"patchType":"ApplyConfiguration","applyConfiguration":{"expression":"Object{data: {'b': 'set'}}"}}]}`),
		mutatingBinding("a", "a", `{}`), mutatingBinding("b", "b", `{}`),
	)
	cm, err := f.create("x")
	require.NoError(t, err)
	require.Equal(t, map[string]string{"a": "set", "b": "set"}, cm.Data)
	require.Len(t, f.decisions, 3)
	for i, want := range []admission.Decision{
		{Name: "a", Changes: []admission.Change{{Op: "replace", Path: "/data/a", Value: `"none"`}}},
		{Name: "b", Changes: []admission.Change{{Op: "add", Path: "/data/b", Value: `"set"`}}},
		{Name: "a", Reinvoked: true, Changes: []admission.Change{{Op: "replace", Path: "/data/a", Value: `"set"`}}},
	} {
		got := f.decisions[i]
		require.Equal(t, want, admission.Decision{Name: got.Name, Reinvoked: got.Reinvoked, Changes: got.Changes})
	}
}
