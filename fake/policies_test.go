package fakeapi_test

import (
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	fakeapi "example.com/fakeapi/fake"
)

// policyServer is a server with a client.
type policyServer struct {
	*testing.T
	srv    *fakeapi.Server
	client kubernetes.Interface
}

func startWithPolicies(t *testing.T, opts ...fakeapi.Option) policyServer {
	srv, client := startClient(t, append(opts, fakeapi.WithoutControllers())...)
	return policyServer{t, srv, client}
}

// on returns p for another server.
func (p policyServer) on(srv *fakeapi.Server) policyServer {
	return policyServer{p.T, srv, kubernetes.NewForConfigOrDie(srv.RESTConfig())}
}

// create creates policies and bindings.
func (p policyServer) create(objects ...any) {
	p.Helper()
	registration, ctx := p.client.AdmissionregistrationV1(), p.Context()
	for _, obj := range objects {
		var err error
		switch obj := obj.(type) {
		case *admissionregistrationv1.ValidatingAdmissionPolicy:
			_, err = registration.ValidatingAdmissionPolicies().Create(ctx, obj, metav1.CreateOptions{})
		case *admissionregistrationv1.ValidatingAdmissionPolicyBinding:
			_, err = registration.ValidatingAdmissionPolicyBindings().Create(ctx, obj, metav1.CreateOptions{})
		case *admissionregistrationv1.MutatingAdmissionPolicy:
			_, err = registration.MutatingAdmissionPolicies().Create(ctx, obj, metav1.CreateOptions{})
		case *admissionregistrationv1.MutatingAdmissionPolicyBinding:
			_, err = registration.MutatingAdmissionPolicyBindings().Create(ctx, obj, metav1.CreateOptions{})
		}
		require.NoError(p, err)
	}
}

// try creates a ConfigMap as a dry run.
func (p policyServer) try() (*corev1.ConfigMap, error) {
	return p.client.CoreV1().ConfigMaps("default").Create(p.Context(), newConfigMap("x"), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
}

// requireDenied checks whether a create of a ConfigMap is denied.
func (p policyServer) requireDenied(want bool) {
	p.Helper()
	_, err := p.try()
	require.Equal(p, want, apierrors.IsInvalid(err), "%v", err)
	if !want {
		require.NoError(p, err)
	}
}

// A policy denies every verb that writes, with the status of a real server. Without its binding it
// does nothing.
func TestValidatingPolicy(t *testing.T) {
	p := startWithPolicies(t, fakeapi.WithObjects(configMap("old", "1")))
	policy := validatingPolicy("p", "configmaps", "object != null && has(object.data.k) && object.data.k == '1'")
	policy.Spec.MatchConstraints.ResourceRules[0].Operations = []admissionregistrationv1.OperationType{admissionregistrationv1.OperationAll}
	policy.Spec.Validations[0].Message = "k has to be 1"
	p.create(policy)
	p.requireDenied(false)
	p.create(validatingBinding("p"))

	maps := p.client.CoreV1().ConfigMaps("default")
	_, createErr := maps.Create(t.Context(), newConfigMap("new"), metav1.CreateOptions{})
	_, updateErr := maps.Update(t.Context(), configMap("old", "2"), metav1.UpdateOptions{})
	_, patchErr := maps.Patch(t.Context(), "old", types.MergePatchType, []byte(`{"data":{"k":"2"}}`), metav1.PatchOptions{})
	_, applyErr := maps.Patch(t.Context(), "old", types.ApplyPatchType,
		[]byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"old"},"data":{"k":"2"}}`), metav1.PatchOptions{FieldManager: "m", Force: new(true)})
	deleteErr := maps.Delete(t.Context(), "old", metav1.DeleteOptions{})
	for verb, err := range map[string]error{"create": createErr, "update": updateErr, "patch": patchErr, "apply": applyErr, "delete": deleteErr} {
		name := "old"
		if verb == "create" {
			name = "new"
		}
		message := "ValidatingAdmissionPolicy 'p' with binding 'p' denied request: k has to be 1"
		status := apierrors.APIStatus(nil)
		require.ErrorAs(t, err, &status, verb)
		require.Equal(t, metav1.Status{
			Status: metav1.StatusFailure, Code: http.StatusUnprocessableEntity, Reason: metav1.StatusReasonInvalid,
			Message: `configmaps "` + name + `" is forbidden: ` + message,
			Details: &metav1.StatusDetails{Name: name, Kind: "configmaps", Causes: []metav1.StatusCause{{Message: message}}},
		}, status.Status(), verb)
	}
	_, err := maps.Patch(t.Context(), "old", types.MergePatchType, []byte(`{"metadata":{"labels":{"a":"b"}}}`), metav1.PatchOptions{})
	require.NoError(t, err)

	require.NoError(t, p.client.AdmissionregistrationV1().ValidatingAdmissionPolicyBindings().Delete(t.Context(), "p", metav1.DeleteOptions{}))
	require.NoError(t, maps.Delete(t.Context(), "old", metav1.DeleteOptions{}))
}

// Policies are part of the state of the store: they follow it in forks, after Restore and on
// replicas. A dry run stores none.
func TestPoliciesOfState(t *testing.T) {
	p := startWithPolicies(t)
	without := p.srv.Snapshot()
	p.create(validatingPolicy("p", "configmaps", "false"))
	dry := metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}
	_, err := p.client.AdmissionregistrationV1().ValidatingAdmissionPolicyBindings().Create(t.Context(), validatingBinding("p"), dry)
	require.NoError(t, err)
	p.requireDenied(false)
	replica, err := p.srv.Replica(fakeapi.WithInMemoryNetwork())
	require.NoError(t, err)
	replica.Freeze()
	p.create(validatingBinding("p"))
	p.requireDenied(true)
	p.on(replica.Server).requireDenied(false)
	replica.CatchUp()
	p.on(replica.Server).requireDenied(true)

	with := p.srv.Snapshot()
	fork, err := p.srv.Fork(fakeapi.WithInMemoryNetwork())
	require.NoError(t, err)
	defer func() { require.NoError(t, fork.Close()) }()
	require.NoError(t, p.srv.Restore(without, 1))
	p.requireDenied(false)
	p.on(fork).requireDenied(true)
	require.NoError(t, fork.Restore(without, 1))
	p.on(fork).requireDenied(false)
	require.NoError(t, p.srv.Restore(with, 1))
	p.requireDenied(true)
}

// WithAdmissionDelay delays policies.
func TestPolicyDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := startWithPolicies(t, fakeapi.WithAdmissionDelay(0, time.Second))
		p.create(validatingPolicy("p", "configmaps", "false"), validatingBinding("p"))
		time.Sleep(999 * time.Millisecond)
		p.requireDenied(false)
		time.Sleep(time.Millisecond)
		p.requireDenied(true)
	})
}

// A policy whose parameters are custom resources refuses writes until the definition is there.
func TestPolicyParamsOfCustomResources(t *testing.T) {
	p := startWithPolicies(t)
	policy := validatingPolicy("p", "configmaps", "params.spec.size > 2")
	policy.Spec.ParamKind = &admissionregistrationv1.ParamKind{APIVersion: "shop.example.com/v1", Kind: "Widget"}
	binding := validatingBinding("p")
	binding.Spec.ParamRef = &admissionregistrationv1.ParamRef{
		Namespace: "team", Selector: &metav1.LabelSelector{}, ParameterNotFoundAction: new(admissionregistrationv1.DenyAction),
	}
	p.create(policy, binding)
	_, err := p.try()
	require.ErrorContains(t, err, "failed to configure policy: failed to find resource referenced by paramKind: 'shop.example.com/v1, Kind=Widget'")
	require.NoError(t, p.srv.LoadCRDs(fakeapi.CRDsFromObjects(decodeCRD(t, widgetCRD))))
	_, err = p.try()
	require.ErrorContains(t, err, "no params found for policy binding with `Deny` parameterNotFoundAction")
	require.NoError(t, p.srv.Load(&corev1.Namespace{ObjectMeta: named("team")}))
	require.Equal(t, 201, p.post(teamWidgets, `{"metadata":{"name":"a"},"spec":{"size":3}}`))
	p.requireDenied(false)
	require.Equal(t, 201, p.post(teamWidgets, `{"metadata":{"name":"b"},"spec":{"size":1}}`))
	p.requireDenied(true)
	deleteWidgetCRD(t, p.srv)
	_, err = p.try()
	require.ErrorContains(t, err, "failed to find resource referenced by paramKind")
}

func (p policyServer) post(path, body string) int {
	code, _, _ := send(p.T, p.srv, http.MethodPost, path, mediaJSON, []byte(`{"apiVersion":"shop.example.com/v1","kind":"Widget",`+body[1:]))
	return code
}

// The changes of a mutating policy are validated, seen by validating policies, and have no field
// manager.
func TestMutatingPolicy(t *testing.T) {
	p := startWithPolicies(t)
	p.create(
		mutatingPolicy("set", "configmaps", `Object{data: {"set": object.metadata.name + " by " + request.operation}}`), mutatingBinding("set"),
		validatingPolicy("check", "configmaps", "object.data.set == 'a by ' + request.operation"), validatingBinding("check"),
	)
	maps := p.client.CoreV1().ConfigMaps("default")
	cm, err := maps.Create(t.Context(), newConfigMap("a"), metav1.CreateOptions{FieldManager: "m"})
	require.NoError(t, err)
	require.Equal(t, map[string]string{"a": "1", "set": "a by CREATE"}, cm.Data)
	require.JSONEq(t, `{"f:data":{".":{},"f:a":{}}}`, cm.ManagedFields[0].FieldsV1.GetRawString())
	cm.Data["a"] = "2"
	cm, err = maps.Update(t.Context(), cm, metav1.UpdateOptions{FieldManager: "m"})
	require.NoError(t, err)
	require.Equal(t, map[string]string{"a": "2", "set": "a by UPDATE"}, cm.Data)
	require.JSONEq(t, `{"f:data":{".":{},"f:a":{}}}`, cm.ManagedFields[0].FieldsV1.GetRawString())
	_, err = maps.Create(t.Context(), newConfigMap("b"), metav1.CreateOptions{})
	require.True(t, apierrors.IsInvalid(err), "%v", err)

	p.create(mutatingPolicy("bad", "secrets", `Object{metadata: Object.metadata{labels: {"not a label": ""}}}`), mutatingBinding("bad"))
	_, err = p.client.CoreV1().Secrets("default").Create(t.Context(), &corev1.Secret{ObjectMeta: named("s")}, metav1.CreateOptions{})
	require.ErrorContains(t, err, `metadata.labels: Invalid value: "not a label"`)
}

// A mutating policy of another version sees and changes the object in that version.
func TestMutatingPolicyOfOtherVersion(t *testing.T) {
	p := startWithPolicies(t)
	policy := mutatingPolicy("p", "horizontalpodautoscalers", `Object{spec: Object.spec{minReplicas: object.spec.maxReplicas - 1}}`)
	policy.Spec.MatchConstraints.ResourceRules[0].APIVersions = []string{"v1"}
	p.create(policy, mutatingBinding("p"))
	code, _, body := send(t, p.srv, http.MethodPost, "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers", mediaJSON,
		[]byte(`{"metadata":{"name":"a"},"spec":{"maxReplicas":5,"scaleTargetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"d"}}}`))
	require.Equal(t, http.StatusCreated, code, string(body))
	require.Contains(t, string(body), `"minReplicas":4`)
}

// A custom resource that a policy has changed is validated as it is, with nulls and unknown fields.
// They are pruned when it is stored.
func TestMutatingPolicyOfCustomResources(t *testing.T) {
	p := startWithPolicies(t, fakeapi.WithCRDs(fakeapi.CRDsFromObjects(decodeCRD(t, widgetCRD))), fakeapi.WithObjects(&corev1.Namespace{ObjectMeta: named("team")}))
	for name, c := range map[string]struct {
		patch, want string
		code        int
	}{
		"unknown":      {"{op: 'add', path: '/spec/unknown', value: 1}", `"spec":{"color":"red"}`, 201},
		"default":      {"{op: 'remove', path: '/spec/color'}", `"spec":{"color":"red"}`, 201},
		"null":         {"{op: 'add', path: '/spec/size', value: null}", `spec.size in body must be of type integer: \"null\"`, 422},
		"no metadata":  {"{op: 'add', path: '/metadata', value: null}", "system metadata was not initialized", 500},
		"other kind":   {"{op: 'add', path: '/kind', value: 'Other'}", `Other.shop.example.com \"a\" is invalid: kind: Invalid value: \"Other\": must be Widget`, 422},
		"no version":   {"{op: 'add', path: '/apiVersion', value: 'shop.example.com/v9'}", "request to convert CR from an invalid group/version: shop.example.com/v9", 500},
		"other group":  {"{op: 'add', path: '/apiVersion', value: 'v1'}", `/v1, Kind=Widget is unstructured and is not suitable for converting to \"shop.example.com/v1\"`, 500},
		"other values": {"{op: 'add', path: '/spec', value: {'size': 7}}", `"spec":{"color":"red","size":7}`, 201},
	} {
		t.Run(name, func(t *testing.T) {
			srv, err := p.srv.Fork(fakeapi.WithInMemoryNetwork(), fakeapi.WithoutControllers())
			require.NoError(t, err)
			defer func() { require.NoError(t, srv.Close()) }()
			p := policyServer{t, srv, kubernetes.NewForConfigOrDie(srv.RESTConfig())}
			policy := mutatingPolicy("p", "widgets", "")
			policy.Spec.Mutations[0] = admissionregistrationv1.Mutation{
				PatchType: admissionregistrationv1.PatchTypeJSONPatch,
				JSONPatch: &admissionregistrationv1.JSONPatch{Expression: "[JSONPatch" + c.patch + "]"},
			}
			p.create(policy, mutatingBinding("p"), validatingPolicy("seen", "widgets", "object.metadata.name == 'a' || has(object.spec.unknown)"), validatingBinding("seen"))
			for _, object := range []string{"a", "b"} {
				if object == "b" && name != "unknown" {
					continue
				}
				code, _, body := send(t, srv, http.MethodPost, teamWidgets, mediaJSON,
					[]byte(`{"apiVersion":"shop.example.com/v1","kind":"Widget","metadata":{"name":"`+object+`"},"spec":{}}`))
				require.Equal(t, c.code, code, string(body))
				require.Contains(t, string(body), c.want)
			}
		})
	}
}

// Writes at the same time as changes of policies see the policies of their state: one that begins
// after a policy was stored and ends before it is removed is denied.
func TestPoliciesConcurrently(t *testing.T) {
	p := startWithPolicies(t)
	policies, bindings := p.client.AdmissionregistrationV1().ValidatingAdmissionPolicies(), p.client.AdmissionregistrationV1().ValidatingAdmissionPolicyBindings()
	p.create(validatingPolicy("always", "configmaps", "false"), validatingBinding("always"))
	var writers sync.WaitGroup
	for range 4 {
		writers.Go(func() {
			for range 20 {
				if _, err := p.try(); !apierrors.IsInvalid(err) {
					t.Errorf("not denied: %v", err)
				}
			}
		})
	}
	for range 10 {
		p.create(validatingPolicy("other", "configmaps", "false"), validatingBinding("other"))
		require.NoError(t, policies.Delete(t.Context(), "other", metav1.DeleteOptions{}))
		require.NoError(t, bindings.Delete(t.Context(), "other", metav1.DeleteOptions{}))
	}
	writers.Wait()
	require.NoError(t, policies.Delete(t.Context(), "always", metav1.DeleteOptions{}))
	p.requireDenied(false)
}

// The controllers check the types of expressions, once for each generation, also of fixtures.
func TestPolicyTypeChecking(t *testing.T) {
	p := startWithPolicies(t, fakeapi.WithObjects(validatingPolicy("loaded", "configmaps", "object.data.all(k, k != 1)")))
	policy := validatingPolicy("p", "pods", "object.spec.nodename == ''", "object.spec.containers.all(c, c.image != '')")
	policy.Spec.MatchConstraints.ResourceRules[0].APIGroups = []string{""}
	policy.Spec.MatchConstraints.ResourceRules[0].APIVersions = []string{"v1"}
	p.create(policy)
	require.NoError(t, p.srv.RunControllers(t.Context()))

	policies := p.client.AdmissionregistrationV1().ValidatingAdmissionPolicies()
	got, err := policies.Get(t.Context(), "p", metav1.GetOptions{})
	require.NoError(t, err)
	require.Equal(t, admissionregistrationv1.ValidatingAdmissionPolicyStatus{
		ObservedGeneration: 1,
		TypeChecking: &admissionregistrationv1.TypeChecking{ExpressionWarnings: []admissionregistrationv1.ExpressionWarning{{
			FieldRef: "spec.validations[0].expression",
			Warning:  "/v1, Kind=Pod: ERROR: <input>:1:12: undefined field 'nodename'\n | object.spec.nodename == ''\n | ...........^\n",
		}}},
	}, got.Status)

	got.Spec.Validations = got.Spec.Validations[1:]
	_, err = policies.Update(t.Context(), got, metav1.UpdateOptions{})
	require.NoError(t, err)
	require.NoError(t, p.srv.RunControllers(t.Context()))
	revision := p.srv.ResourceVersion()
	require.NoError(t, p.srv.RunControllers(t.Context()))
	require.Equal(t, revision, p.srv.ResourceVersion())
	got, err = policies.Get(t.Context(), "p", metav1.GetOptions{})
	require.NoError(t, err)
	require.Equal(t, admissionregistrationv1.ValidatingAdmissionPolicyStatus{ObservedGeneration: 2}, got.Status, "the apply removes what it owned")
	got, err = policies.Get(t.Context(), "loaded", metav1.GetOptions{})
	require.NoError(t, err)
	require.Equal(t, got.Generation, got.Status.ObservedGeneration)
}
