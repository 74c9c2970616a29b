package fakeapi_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	fakeapi "example.com/fakeapi/fake"
	"example.com/fakeapi/fake/internal/admission/plugins"
)

type (
	admissionRequest  = admissionv1.AdmissionRequest
	admissionResponse = admissionv1.AdmissionResponse
)

func allow() *admissionResponse { return &admissionResponse{Allowed: true} }

// patchResponse returns a response with a JSON patch.
func patchResponse(operations string) *admissionResponse {
	kind := admissionv1.PatchTypeJSONPatch
	return &admissionResponse{Allowed: true, Patch: []byte(operations), PatchType: &kind}
}

// reviewer is an admission function that records its requests and allows them.
type reviewer struct {
	mu       sync.Mutex
	requests []*admissionRequest
}

func (w *reviewer) review(_ context.Context, request *admissionRequest) *admissionResponse {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.requests = append(w.requests, request)
	return allow()
}

func (w *reviewer) last() *admissionRequest { return w.requests[len(w.requests)-1] }

func startWithAdmission(t *testing.T, functions ...fakeapi.Admission) (*fakeapi.Server, kubernetes.Interface) {
	srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithAdmission(functions...))
	return srv, kubernetes.NewForConfigOrDie(srv.RESTConfig())
}

func newConfigMap(name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: map[string]string{"a": "1"}}
}

func TestMutatingAdmission(t *testing.T) {
	label := func(_ context.Context, request *admissionRequest) *admissionResponse {
		if request.Operation == admissionv1.Delete {
			return allow()
		}
		return patchResponse(`[{"op":"add","path":"/metadata/labels","value":{"by":"` + string(request.Operation) + `"}}]`)
	}
	_, client := startWithAdmission(t, fakeapi.Admission{Name: "label.example.com", Mutating: true, Review: label})
	maps := client.CoreV1().ConfigMaps("default")
	created, err := maps.Create(t.Context(), newConfigMap("one"), metav1.CreateOptions{})
	require.NoError(t, err)
	require.Equal(t, map[string]string{"by": "CREATE"}, created.Labels)

	created.Data["a"] = "2"
	updated, err := maps.Update(t.Context(), created, metav1.UpdateOptions{})
	require.NoError(t, err)
	require.Equal(t, map[string]string{"by": "UPDATE"}, updated.Labels)
	patched, err := maps.Patch(t.Context(), "one", types.MergePatchType, []byte(`{"metadata":{"labels":null}}`), metav1.PatchOptions{})
	require.NoError(t, err)
	require.Equal(t, map[string]string{"by": "UPDATE"}, patched.Labels)
	require.Equal(t, updated.ResourceVersion, patched.ResourceVersion, "the function added what the patch removed")
	require.NoError(t, maps.Delete(t.Context(), "one", metav1.DeleteOptions{}))
}

func TestAdmissionRequest(t *testing.T) {
	var first, second reviewer
	_, client := startWithAdmission(t,
		fakeapi.Admission{Name: "validates.example.com", Review: second.review},
		fakeapi.Admission{Name: "mutates.example.com", Mutating: true, Review: func(ctx context.Context, request *admissionRequest) *admissionResponse {
			first.review(ctx, request)
			return patchResponse(`[{"op":"add","path":"/data/b","value":"2"}]`)
		}})
	maps := client.CoreV1().ConfigMaps("default")
	_, err := maps.Create(t.Context(), newConfigMap("one"), metav1.CreateOptions{FieldManager: "me"})
	require.NoError(t, err)

	request := first.last()
	require.Equal(t, admissionv1.Create, request.Operation)
	require.Equal(t, metav1.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}, request.Kind)
	require.Equal(t, metav1.GroupVersionResource{Version: "v1", Resource: "configmaps"}, request.Resource)
	require.Equal(t, "default/one", request.Namespace+"/"+request.Name)
	require.NotEmpty(t, request.UID)
	require.NotEmpty(t, request.UserInfo.Username)
	require.False(t, *request.DryRun)
	require.Empty(t, request.OldObject.Raw)
	var options metav1.CreateOptions
	require.NoError(t, json.Unmarshal(request.Options.Raw, &options))
	require.Equal(t, "me", options.FieldManager)
	require.Equal(t, "CreateOptions", options.Kind)

	object := func(raw []byte) (cm corev1.ConfigMap) {
		require.NoError(t, json.Unmarshal(raw, &cm))
		require.Equal(t, "v1 ConfigMap", cm.APIVersion+" "+cm.Kind)
		return cm
	}
	require.Empty(t, object(request.Object.Raw).UID, "the server sets the uid after mutating admission")
	stored := object(second.last().Object.Raw)
	require.NotEmpty(t, stored.UID)
	require.Equal(t, map[string]string{"a": "1", "b": "2"}, stored.Data)

	_, err = maps.Patch(t.Context(), "one", types.MergePatchType, []byte(`{"data":{"a":"3"}}`), metav1.PatchOptions{})
	require.NoError(t, err)
	require.Equal(t, admissionv1.Update, second.last().Operation)
	require.Equal(t, "1", object(second.last().OldObject.Raw).Data["a"])
	require.Equal(t, "3", object(second.last().Object.Raw).Data["a"])
}

func TestAdmissionDenies(t *testing.T) {
	deny := func(operation admissionv1.Operation, result *metav1.Status) fakeapi.AdmissionFunc {
		return func(_ context.Context, request *admissionRequest) *admissionResponse {
			return &admissionResponse{Allowed: request.Operation != operation || request.Namespace != "default", Result: result}
		}
	}
	for name, c := range map[string]struct {
		result  *metav1.Status
		code    int32
		message string
	}{
		"no result": {nil, http.StatusBadRequest, `admission webhook "no.example.com" denied the request without explanation`},
		"with a message": {&metav1.Status{Message: "not allowed", Code: http.StatusForbidden, Reason: metav1.StatusReasonForbidden},
			http.StatusForbidden, `admission webhook "no.example.com" denied the request: not allowed`},
		"with a reason": {&metav1.Status{Reason: "Busy", Code: http.StatusOK}, http.StatusBadRequest, `admission webhook "no.example.com" denied the request: Busy`},
	} {
		for _, operation := range []admissionv1.Operation{admissionv1.Create, admissionv1.Update, admissionv1.Delete} {
			for kind, mutating := range map[string]bool{"mutating": true, "validating": false} {
				t.Run(name+" "+kind+" "+string(operation), func(t *testing.T) {
					_, client := startWithAdmission(t, fakeapi.Admission{Name: "no.example.com", Mutating: mutating, Review: deny(operation, c.result)})
					err := writeAll(t, client)
					require.Error(t, err)
					status := err.(apierrors.APIStatus).Status()
					require.Equal(t, c.code, status.Code)
					require.Equal(t, c.message, status.Message)
				})
			}
		}
	}
}

// writeAll creates, updates and deletes an object and returns the first error. It checks that a
// write that failed changed nothing.
func writeAll(t *testing.T, client kubernetes.Interface) error {
	maps := client.CoreV1().ConfigMaps("default")
	created, err := maps.Create(t.Context(), newConfigMap("one"), metav1.CreateOptions{})
	if err != nil {
		_, notFound := maps.Get(t.Context(), "one", metav1.GetOptions{})
		require.True(t, apierrors.IsNotFound(notFound))
		return err
	}
	created.Data["a"] = "2"
	updated, err := maps.Update(t.Context(), created, metav1.UpdateOptions{})
	if err != nil {
		current, missing := maps.Get(t.Context(), "one", metav1.GetOptions{})
		require.NoError(t, missing)
		require.Equal(t, "1", current.Data["a"])
		return err
	}
	if err := maps.Delete(t.Context(), "one", metav1.DeleteOptions{}); err != nil {
		current, missing := maps.Get(t.Context(), "one", metav1.GetOptions{})
		require.NoError(t, missing)
		require.Equal(t, updated.ResourceVersion, current.ResourceVersion)
		return err
	}
	return nil
}

func TestAdmissionErrors(t *testing.T) {
	for message, review := range map[string]fakeapi.AdmissionFunc{
		"it gave no response": func(context.Context, *admissionRequest) *admissionResponse { return nil },
		"it panicked: ouch":   func(context.Context, *admissionRequest) *admissionResponse { panic("ouch") },
		"the type of its patch is not JSONPatch": func(context.Context, *admissionRequest) *admissionResponse {
			return &admissionResponse{Allowed: true, Patch: []byte(`[]`)}
		},
		"invalid JSON patch": func(context.Context, *admissionRequest) *admissionResponse { return patchResponse(`[`) },
		`cannot be handled as a ConfigMap`: func(context.Context, *admissionRequest) *admissionResponse {
			return patchResponse(`[{"op":"add","path":"/data","value":7}]`)
		},
		"the server rejected our request due to an": func(context.Context, *admissionRequest) *admissionResponse {
			return patchResponse(`[{"op":"remove","path":"/nowhere"}]`)
		},
	} {
		t.Run(message, func(t *testing.T) {
			_, client := startWithAdmission(t, fakeapi.Admission{Name: "broken.example.com", Mutating: true, Review: review})
			_, err := client.CoreV1().ConfigMaps("default").Create(t.Context(), newConfigMap("one"), metav1.CreateOptions{})
			require.True(t, apierrors.IsInternalError(err), "%v", err)
			require.ErrorContains(t, err, `Internal error occurred: failed calling webhook "broken.example.com": `)
			require.ErrorContains(t, err, message)
		})
	}
}

func TestDryRunWithSideEffects(t *testing.T) { // DR-07
	var w reviewer
	_, client := startWithAdmission(t, fakeapi.Admission{Name: "mails.example.com", Review: w.review, SideEffects: true})
	maps := client.CoreV1().ConfigMaps("default")
	dry := []string{metav1.DryRunAll}
	refused := func(err error) {
		t.Helper()
		require.True(t, apierrors.IsBadRequest(err), "%v", err)
		require.EqualError(t, err, `admission webhook "mails.example.com" does not support dry run`)
	}
	_, err := maps.Create(t.Context(), newConfigMap("one"), metav1.CreateOptions{DryRun: dry})
	refused(err)
	created, err := maps.Create(t.Context(), newConfigMap("one"), metav1.CreateOptions{})
	require.NoError(t, err)
	created.Data["a"] = "2"
	_, err = maps.Update(t.Context(), created, metav1.UpdateOptions{DryRun: dry})
	refused(err)
	refused(maps.Delete(t.Context(), "one", metav1.DeleteOptions{DryRun: dry}))
	refused(maps.DeleteCollection(t.Context(), metav1.DeleteOptions{DryRun: dry}, metav1.ListOptions{}))
	require.Len(t, w.requests, 1)

	var withoutEffects reviewer
	_, client = startWithAdmission(t, fakeapi.Admission{Name: "looks.example.com", Review: withoutEffects.review})
	_, err = client.CoreV1().ConfigMaps("default").Create(t.Context(), newConfigMap("one"), metav1.CreateOptions{DryRun: dry})
	require.NoError(t, err)
	require.True(t, *withoutEffects.last().DryRun)
}

func TestAdmissionWarnings(t *testing.T) { // WN-06
	warn := func(text string) fakeapi.AdmissionFunc {
		return func(context.Context, *admissionRequest) *admissionResponse {
			return &admissionResponse{Allowed: true, Warnings: []string{text}}
		}
	}
	srv, _ := startWithAdmission(t, fakeapi.Admission{Name: "b", Review: warn("second")}, fakeapi.Admission{Name: "a", Mutating: true, Review: warn("first")})
	var warnings warningTexts
	config := srv.RESTConfig()
	config.WarningHandler = &warnings
	_, err := kubernetes.NewForConfigOrDie(config).CoreV1().ConfigMaps("default").Create(t.Context(), newConfigMap("one"), metav1.CreateOptions{})
	require.NoError(t, err)
	require.Equal(t, []string{"first", "second"}, warnings.texts)
}

// An admission function may write to the server that calls it. No write is lost.
func TestAdmissionWritesToServer(t *testing.T) {
	var srv *fakeapi.Server
	inner := sync.OnceValue(func() kubernetes.Interface { return kubernetes.NewForConfigOrDie(srv.RESTConfig()) })
	once := sync.OnceFunc(func() {
		_, err := inner().CoreV1().ConfigMaps("default").Patch(t.Context(), "one", types.MergePatchType, []byte(`{"data":{"inner":"1"}}`), metav1.PatchOptions{})
		if err != nil {
			t.Error(err)
		}
	})
	calls := 0
	srv, client := startWithAdmission(t, fakeapi.Admission{Name: "writes.example.com", Mutating: true, Review: func(_ context.Context, request *admissionRequest) *admissionResponse {
		var sent corev1.ConfigMap
		if err := json.Unmarshal(request.Object.Raw, &sent); err != nil {
			t.Error(err)
		}
		if sent.Data["outer"] != "" {
			calls++
			once()
		}
		return allow()
	}})
	maps := client.CoreV1().ConfigMaps("default")
	_, err := maps.Create(t.Context(), newConfigMap("one"), metav1.CreateOptions{})
	require.NoError(t, err)
	patched, err := maps.Patch(t.Context(), "one", types.MergePatchType, []byte(`{"data":{"outer":"1"}}`), metav1.PatchOptions{})
	require.NoError(t, err)
	require.Equal(t, map[string]string{"a": "1", "inner": "1", "outer": "1"}, patched.Data)
	require.Equal(t, 2, calls, "called again after the concurrent write")
}

// An apply to an object that is deleted meanwhile is reviewed again, as a create.
func TestAdmissionOfConcurrentDelete(t *testing.T) {
	var srv *fakeapi.Server
	deleteOnce := sync.OnceFunc(func() {
		inner := kubernetes.NewForConfigOrDie(srv.RESTConfig())
		if err := inner.CoreV1().ConfigMaps("default").Delete(t.Context(), "one", metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	})
	var seen []string
	record := func(phase string, request *admissionRequest) {
		var options metav1.TypeMeta
		if err := json.Unmarshal(request.Options.Raw, &options); err != nil {
			t.Error(err)
		}
		seen = append(seen, fmt.Sprintf("%s %s %s, old: %t", phase, request.Operation, options.Kind, len(request.OldObject.Raw) > 0))
	}
	srv, client := startWithAdmission(t,
		fakeapi.Admission{Name: "mutates.example.com", Mutating: true, Review: func(_ context.Context, request *admissionRequest) *admissionResponse {
			if request.Operation != admissionv1.Delete {
				record("mutate", request)
			}
			return allow()
		}},
		fakeapi.Admission{Name: "validates.example.com", Review: func(_ context.Context, request *admissionRequest) *admissionResponse {
			if request.Operation == admissionv1.Delete {
				return allow()
			}
			record("validate", request)
			if request.Operation == admissionv1.Update {
				deleteOnce()
			}
			return allow()
		}})
	maps := client.CoreV1().ConfigMaps("default")
	_, err := maps.Create(t.Context(), newConfigMap("one"), metav1.CreateOptions{})
	require.NoError(t, err)
	seen = nil
	body := []byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"one"},"data":{"b":"2"}}`)
	applied, err := maps.Patch(t.Context(), "one", types.ApplyPatchType, body, metav1.PatchOptions{FieldManager: "applier"})
	require.NoError(t, err)
	require.Equal(t, map[string]string{"b": "2"}, applied.Data)
	require.Equal(t, []string{
		"mutate UPDATE UpdateOptions, old: true", "validate UPDATE UpdateOptions, old: true",
		"mutate CREATE CreateOptions, old: false", "validate CREATE CreateOptions, old: false",
	}, seen)
}

// The name is generated between the mutating and the validating functions. As on a real server, the
// namespace in the reviews of a Namespace is the name that the request has.
func TestAdmissionOfGeneratedName(t *testing.T) {
	var mutating, validating reviewer
	_, client := startWithAdmission(t,
		fakeapi.Admission{Name: "mutates.example.com", Mutating: true, Review: mutating.review},
		fakeapi.Admission{Name: "validates.example.com", Review: validating.review})
	created, err := client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "n-"}}, metav1.CreateOptions{})
	require.NoError(t, err)
	require.Equal(t, "/", mutating.last().Namespace+"/"+mutating.last().Name)
	require.Equal(t, "/"+created.Name, validating.last().Namespace+"/"+validating.last().Name)
}

// Functions of several options are called in their order, those of a replica after those of its
// server. Patches of functions that do not mutate are ignored. Fixtures and writes of controllers
// are not reviewed.
func TestAdmissionOfSeveralOptions(t *testing.T) {
	var called []string
	function := func(name string, mutating bool) fakeapi.Option {
		return fakeapi.WithAdmission(fakeapi.Admission{Name: name, Mutating: mutating, Review: func(context.Context, *admissionRequest) *admissionResponse {
			called = append(called, name)
			return patchResponse(`[{"op":"add","path":"/data","value":{"by":"` + name + `"}}]`)
		}})
	}
	srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork(), fakeapi.WithoutControllers(), fakeapi.WithObjects(configMap("fixture", "1")),
		function("validates", false), function("first", true), function("second", true))
	replica, err := srv.Replica(fakeapi.WithInMemoryNetwork(), function("of the replica", true))
	require.NoError(t, err)
	created := requireCode(t, replica.Server, 201, "POST", configMapsPath, `{"metadata":{"name":"a"}}`)
	require.Equal(t, map[string]any{"by": "of the replica"}, created.Object["data"])
	require.Equal(t, []string{"first", "second", "of the replica", "validates"}, called)
	dependent := configMap("dependent", "1")
	dependent.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "gone", UID: "u"}}
	require.NoError(t, srv.Load(dependent))
	require.NoError(t, srv.RunControllers(t.Context()))
	require.True(t, apierrors.IsNotFound(srv.Get("", "dependent", &corev1.ConfigMap{})), "the controllers have written")
	require.Len(t, called, 4)
}

func TestAdmissionOptionErrors(t *testing.T) {
	_, err := fakeapi.New(fakeapi.WithAdmission(fakeapi.Admission{Name: "", Review: new(reviewer).review}))
	require.ErrorContains(t, err, "has no name")
	_, err = fakeapi.New(fakeapi.WithAdmission(fakeapi.Admission{Name: "x", Review: nil}))
	require.ErrorContains(t, err, `"x" is nil`)
}

// Admission plugins receive the object of a subresource in the kind of the subresource.
func TestAdmissionOfSubresources(t *testing.T) {
	w := &reviewer{}
	_, client := startWithAdmission(t, fakeapi.Admission{Name: "see.example.com", Review: w.review},
		fakeapi.Admission{Name: "four.example.com", Mutating: true, Review: func(_ context.Context, request *admissionRequest) *admissionResponse {
			if request.Kind.Kind == "Scale" {
				return patchResponse(`[{"op":"replace","path":"/spec/replicas","value":4}]`)
			}
			return allow()
		}})
	ctx := t.Context()
	deployments, pods := client.AppsV1().Deployments("default"), client.CoreV1().Pods("default")
	_, err := deployments.Create(ctx, newDeployment("web"), metav1.CreateOptions{})
	require.NoError(t, err)
	scale, err := deployments.GetScale(ctx, "web", metav1.GetOptions{})
	require.NoError(t, err)
	scale.Spec.Replicas = 9
	scale, err = deployments.UpdateScale(ctx, "web", scale, metav1.UpdateOptions{})
	require.NoError(t, err)
	require.EqualValues(t, 4, scale.Spec.Replicas)
	require.Equal(t, metav1.GroupVersionKind{Group: "autoscaling", Version: "v1", Kind: "Scale"}, w.last().Kind)
	require.Equal(t, metav1.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}, w.last().Resource)
	require.Equal(t, "scale", w.last().SubResource)

	_, err = pods.Create(ctx, newPod("p"), metav1.CreateOptions{})
	require.NoError(t, err)
	require.NoError(t, pods.Bind(ctx, newBinding("p", "n"), metav1.CreateOptions{}))
	require.Equal(t, "Binding", w.last().Kind.Kind)
	require.Equal(t, admissionv1.Create, w.last().Operation)
	require.NoError(t, pods.EvictV1(ctx, newEviction("p")))
	require.Equal(t, "Eviction", w.last().Kind.Kind, "no plugin is called for the delete")
	require.Equal(t, "eviction", w.last().SubResource)
	require.Equal(t, "p", w.last().Name)
}

// The comment of WithAdmissionPlugins lists all plugins in their order, and marks those that are
// not enabled by default.
func TestDocListsEveryAdmissionPlugin(t *testing.T) {
	enabled, err := plugins.Enabled(nil, nil)
	require.NoError(t, err)
	var listed []string
	for _, line := range regexp.MustCompile(`(?m)^//\t([A-Z]\w+)( \*)?  +\S`).FindAllStringSubmatch(readFile(t, "admission.go"), -1) {
		listed = append(listed, line[1])
		require.Equal(t, slices.Contains(enabled, line[1]), line[2] == "", line[1])
	}
	require.Equal(t, fakeapi.AdmissionPlugins(), listed)
}
