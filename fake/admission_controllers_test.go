package fakeapi_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	fakeapi "example.com/fakeapi/fake"
)

// byUser returns the calls of the validating webhook with their users.
func byUser(calls []webhookCall) (texts []string) {
	for _, c := range calls {
		if c.path == "/validate" {
			texts = append(texts, strings.TrimPrefix(c.String(), "validate: ")+" "+c.UserInfo.Username)
		}
	}
	return texts
}

// Webhooks review the writes of controllers, whose users are those of a cluster.
func TestReviewsOfControllers(t *testing.T) {
	const system = "system:serviceaccount:kube-system:"
	for name, c := range map[string]struct {
		objects, method, path, body string
		// wait is the time until the controllers have worked.
		wait time.Duration
		want []string
	}{
		"garbage collector": {
			`{apiVersion: v1, kind: ConfigMap, metadata: {name: owner, namespace: default, uid: o}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: owned, namespace: default, ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: owner, uid: o}]}}`,
			"DELETE", "/api/v1/namespaces/default/configmaps/owner", ``, 0,
			[]string{"DELETE configmaps owner system:admin", "DELETE configmaps owned " + system + "generic-garbage-collector"},
		},
		"orphans": {
			`{apiVersion: v1, kind: ConfigMap, metadata: {name: owner, namespace: default, uid: o}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: owned, namespace: default, ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: owner, uid: o}]}}`,
			"DELETE", "/api/v1/namespaces/default/configmaps/owner", `{"propagationPolicy":"Orphan"}`, 0,
			[]string{
				"DELETE configmaps owner system:admin",
				"UPDATE configmaps owned " + system + "generic-garbage-collector", "UPDATE configmaps owner " + system + "generic-garbage-collector",
			},
		},
		"namespace controller": {
			`{apiVersion: v1, kind: Namespace, metadata: {name: team}, spec: {finalizers: [kubernetes]}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: team}}`,
			"DELETE", "/api/v1/namespaces/team", ``, time.Minute,
			[]string{
				"DELETE namespaces team system:admin", "DELETE configmaps a " + system + "namespace-controller",
				"UPDATE namespaces/status team " + system + "namespace-controller", "UPDATE namespaces/finalize team " + system + "namespace-controller",
			},
		},
		"kubelet": {
			`{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: default}, spec: {nodeName: n1, containers: [{name: c, image: i}]}}`,
			"DELETE", "/api/v1/namespaces/default/pods/p", `{"gracePeriodSeconds":20}`, 21 * time.Second,
			[]string{"DELETE pods p system:admin", "DELETE pods p system:node:n1", "DELETE pods p system:node:n1"},
		},
		"quota": {
			`{apiVersion: v1, kind: ResourceQuota, metadata: {name: q, namespace: default}, spec: {hard: {configmaps: 5}}, status: {hard: {configmaps: 5}, used: {configmaps: 0}}}`,
			"POST", "/api/v1/namespaces/default/configmaps", `{"metadata":{"name":"a"}}`, 0,
			[]string{"CREATE configmaps a system:admin", "UPDATE resourcequotas/status q " + system + "resourcequota-controller"},
		},
		"claim": {
			`{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: c, namespace: default, finalizers: [kubernetes.io/pvc-protection]}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}`,
			"DELETE", "/api/v1/namespaces/default/persistentvolumeclaims/c", ``, 0,
			[]string{"DELETE persistentvolumeclaims c system:admin", "UPDATE persistentvolumeclaims c " + system + "pvc-protection-controller"},
		},
		"volume": {
			`{apiVersion: v1, kind: PersistentVolume, metadata: {name: v, finalizers: [kubernetes.io/pv-protection]}, spec: {accessModes: [ReadWriteOnce], capacity: {storage: 1Gi}, hostPath: {path: /x}}}`,
			"DELETE", "/api/v1/persistentvolumes/v", ``, 0,
			[]string{"DELETE persistentvolumes v system:admin", "UPDATE persistentvolumes v " + system + "pv-protection-controller"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv, h := startReviewed(t)
				require.NoError(t, srv.LoadYAML(c.objects))
				synctest.Wait()
				h.take()
				code, _, body := send(t, srv, c.method, c.path, "application/json", []byte(c.body))
				require.Less(t, code, 300, "%s", body)
				synctest.Wait()
				time.Sleep(c.wait)
				synctest.Wait()
				calls := h.take()
				require.Equal(t, c.want, byUser(calls))
				last := calls[len(calls)-1]
				require.NotContains(t, last.UserInfo.Groups, "system:masters")
				require.Contains(t, last.UserInfo.Groups, "system:authenticated")
			})
		})
	}
}

// Objects that are loaded, and the writes of the server itself, are not reviewed.
func TestLoadedObjectsAreNotReviewed(t *testing.T) {
	srv, h := startReviewed(t, withWidgets())
	h.respondWith(func(*http.Request, *admissionRequest) *admissionResponse { return deny(403, "no") })
	require.NoError(t, srv.LoadYAML(`{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: default}}`))
	deleteWidgetCRD(t, srv) // it deletes the widgets
	requireNoWidgets(t, srv)
	require.Empty(t, h.take())
}

// What a webhook changes in the write of a controller is stored, but not outside of what the
// subresource writes.
func TestWebhooksChangeWritesOfControllers(t *testing.T) {
	srv, h := startReviewed(t)
	h.respondWith(func(r *http.Request, request *admissionRequest) *admissionResponse {
		switch {
		case r.URL.Path != "/mutate" || request.Operation != "UPDATE":
			return allow()
		case request.SubResource == "status":
			return patchResponse(`[{"op":"add","path":"/spec/hard/pods","value":"1"},{"op":"add","path":"/status/used/configmaps","value":"7"}]`)
		}
		return patchResponse(`[{"op":"add","path":"/metadata/labels","value":{"seen":"true"}}]`)
	})
	require.NoError(t, srv.LoadYAML(`{apiVersion: v1, kind: ConfigMap, metadata: {name: owner, namespace: default, uid: o}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: owned, namespace: default, ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: owner, uid: o}]}}`))
	requireCode(t, srv, 200, "DELETE", "/api/v1/namespaces/default/configmaps/owner", `{"propagationPolicy":"Orphan"}`)
	require.NoError(t, srv.RunControllers(t.Context()))
	owned := requireCode(t, srv, 200, "GET", "/api/v1/namespaces/default/configmaps/owned", "")
	require.Equal(t, map[string]string{"seen": "true"}, owned.GetLabels())
	require.Empty(t, owned.GetOwnerReferences())

	require.NoError(t, srv.LoadYAML(`{apiVersion: v1, kind: ResourceQuota, metadata: {name: q, namespace: default}, spec: {hard: {configmaps: 5}}}`))
	require.NoError(t, srv.RunControllers(t.Context()))
	quota, err := requireCode(t, srv, 200, "GET", "/api/v1/namespaces/default/resourcequotas/q", "").MarshalJSON()
	require.NoError(t, err)
	require.Contains(t, string(quota), `"spec":{"hard":{"configmaps":"5"}}`)
	require.Contains(t, string(quota), `"used":{"configmaps":"7"}`)
}

// A write of a controller that is refused is done again, after twice the time of each failure, and
// others go on.
func TestRefusedWritesOfControllersAreRetried(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, h := startReviewed(t)
		begin := time.Now()
		h.respondWith(func(_ *http.Request, request *admissionRequest) *admissionResponse {
			if strings.HasPrefix(request.Name, "held") && time.Since(begin) < time.Hour {
				return deny(409, "not now") // it is no conflict that ends with the next attempt
			}
			return allow()
		})
		var objects []string
		for _, name := range []string{"held-a", "free", "held-b"} {
			objects = append(objects, `{apiVersion: v1, kind: ConfigMap, metadata: {name: `+name+`, namespace: default, ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: owner, uid: o}]}}`)
		}
		require.NoError(t, srv.LoadYAML(strings.Join(objects, "\n---\n")))
		synctest.Wait()
		requireCode(t, srv, 404, "GET", "/api/v1/namespaces/default/configmaps/free", "")
		requireCode(t, srv, 200, "GET", "/api/v1/namespaces/default/configmaps/held-a", "")

		require.ErrorContains(t, srv.RunControllers(t.Context()), `configmaps/default/held-b: admission webhook "mutate.example.com" denied the request: not now`)
		h.take()
		time.Sleep(time.Hour)
		synctest.Wait()
		calls := h.takeTexts()
		require.Less(t, len(calls), 2*25)
		require.Greater(t, len(calls), 2*15)
		time.Sleep(20 * time.Minute)
		synctest.Wait()
		for _, name := range []string{"held-a", "held-b"} {
			requireCode(t, srv, 404, "GET", "/api/v1/namespaces/default/configmaps/"+name, "")
		}
		require.NoError(t, srv.RunControllers(t.Context()))
		h.take()
		time.Sleep(24 * time.Hour)
		require.Empty(t, h.take())
	})
}

// RunControllers does refused work again without waiting.
func TestRunControllersRetriesRefusedWrites(t *testing.T) {
	srv, h := startReviewed(t, fakeapi.WithoutControllers())
	h.respondWith(func(*http.Request, *admissionRequest) *admissionResponse { return deny(403, "no") })
	require.NoError(t, srv.LoadYAML(`{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: default, ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: o, uid: o}]}}`))
	for range 2 {
		require.EqualError(t, srv.RunControllers(t.Context()), `fakeapi: run controllers: configmaps/default/a: admission webhook "mutate.example.com" denied the request: no`)
		require.Equal(t, []string{"mutate: DELETE configmaps a"}, h.takeTexts())
	}
	h.respondWith(nil)
	require.NoError(t, srv.RunControllers(t.Context()))
	requireCode(t, srv, 404, "GET", "/api/v1/namespaces/default/configmaps/a", "")
}

// A namespace whose content cannot be deleted says so in its status, also if the reason is another
// one each time, and is examined again after some time.
func TestWebhookBlocksNamespaceDeletion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, h := startReviewed(t, fakeapi.WithNamespaceDeletionDelay(0))
		begin, refusals := time.Now(), 0
		h.respondWith(func(_ *http.Request, request *admissionRequest) *admissionResponse {
			if request.Operation == "DELETE" && request.Resource.Resource == "configmaps" && time.Since(begin) < 10*time.Minute {
				refusals++
				return deny(403, fmt.Sprint("refusal ", refusals))
			}
			return allow()
		})
		requireCode(t, srv, 201, "POST", "/api/v1/namespaces", `{"metadata":{"name":"team"}}`)
		requireCode(t, srv, 201, "POST", "/api/v1/namespaces/team/configmaps", `{"metadata":{"name":"a"}}`)
		requireCode(t, srv, 200, "DELETE", "/api/v1/namespaces/team", "")
		time.Sleep(time.Second)
		synctest.Wait()
		require.Less(t, refusals, 12)
		status, err := requireCode(t, srv, 200, "GET", "/api/v1/namespaces/team", "").MarshalJSON()
		require.NoError(t, err)
		require.Contains(t, string(status), `admission webhook \"mutate.example.com\" denied the request: refusal`)
		require.Contains(t, string(status), `"type":"NamespaceDeletionContentFailure"`)
		time.Sleep(30 * time.Minute)
		synctest.Wait()
		require.Less(t, refusals, 25)
		requireCode(t, srv, 404, "GET", "/api/v1/namespaces/team", "")
	})
}

// A pod whose removal a webhook refuses after its grace period is removed later.
func TestWebhookRefusesRemovalOfPod(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, h := startReviewed(t)
		requireCode(t, srv, 201, "POST", "/api/v1/namespaces/default/pods", scheduledJSON)
		requireCode(t, srv, 200, "DELETE", "/api/v1/namespaces/default/pods/p", `{"gracePeriodSeconds":10}`)
		begin := time.Now()
		h.respondWith(func(_ *http.Request, request *admissionRequest) *admissionResponse {
			if slices.Contains(request.UserInfo.Groups, "system:nodes") && time.Since(begin) < time.Minute {
				return deny(500, "no")
			}
			return allow()
		})
		time.Sleep(59 * time.Second)
		requireCode(t, srv, 200, "GET", "/api/v1/namespaces/default/pods/p", "")
		require.Less(t, len(h.take()), 20)
		time.Sleep(2 * time.Minute)
		requireCode(t, srv, 404, "GET", "/api/v1/namespaces/default/pods/p", "")
	})
}

// A webhook that does not respond does not keep the server from closing.
func TestCloseDuringReviewOfController(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, h := startReviewed(t)
		h.respondWith(func(r *http.Request, _ *admissionRequest) *admissionResponse {
			<-r.Context().Done()
			return allow()
		})
		require.NoError(t, srv.LoadYAML(`{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: default, ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: o, uid: o}]}}`))
		synctest.Wait()
		require.Len(t, h.take(), 1, "the controller waits for the webhook")
		begin := time.Now()
		require.NoError(t, srv.Close())
		require.Less(t, time.Since(begin), time.Second)
	})
}
