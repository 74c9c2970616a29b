package fakeapi_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	fakeapi "example.com/fakeapi/fake"
)

// requireRefused checks that the next ConfigMap is refused, or not. It is a dry run.
func requireRefused(t *testing.T, srv *fakeapi.Server, want bool, message string) {
	t.Helper()
	code, _, body := send(t, srv, "POST", configMapsPath+"?dryRun=All", "application/json", []byte(`{"metadata":{"generateName":"g-"}}`))
	if want {
		require.GreaterOrEqual(t, code, 400, message)
	} else {
		require.Equal(t, 201, code, "%s: %s", message, body)
	}
}

const (
	policiesPath = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies"
	denyPolicy   = `{"metadata":{"name":"p"},"spec":{"matchConstraints":{"resourceRules":[{"operations":["*"],"apiGroups":[""],"apiVersions":["*"],"resources":["configmaps"]}]},
		"validations":[{"expression":"false"}]}}`
	denyBinding = `{"metadata":{"name":"b"},"spec":{"policyName":"p","validationActions":["Deny"]}}`
)

// Changes of webhook configurations and of policies take effect after the delay, and without a
// delay with the next write, also if the watch cache is late.
func TestAdmissionDelay(t *testing.T) {
	for name, c := range map[string]struct {
		opts  []fakeapi.Option
		delay time.Duration
		// begin and end start and end the refusal of ConfigMaps.
		begin, end func(t *testing.T, srv *fakeapi.Server, h *webhookServer)
	}{
		"webhook":             {nil, 0, createDenyingWebhook, deleteDenyingWebhook},
		"policy":              {nil, 0, createDenyingPolicy, deleteDenyingPolicy},
		"webhook, late cache": {[]fakeapi.Option{fakeapi.WithWatchCacheDelay(time.Second)}, 0, createDenyingWebhook, deleteDenyingWebhook},
		"policy, late cache":  {[]fakeapi.Option{fakeapi.WithWatchCacheDelay(time.Second)}, 0, createDenyingPolicy, deleteDenyingPolicy},
		"delayed webhook":     {[]fakeapi.Option{fakeapi.WithAdmissionDelay(100*time.Millisecond, time.Second)}, 100 * time.Millisecond, createDenyingWebhook, deleteDenyingWebhook},
		"delayed policy":      {[]fakeapi.Option{fakeapi.WithAdmissionDelay(100*time.Millisecond, time.Second)}, time.Second, createDenyingPolicy, deleteDenyingPolicy},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv, h := startWithWebhooks(t, c.opts...)
				h.review("no", func(*admissionRequest) *admissionResponse { return deny(403, "no") })
				time.Sleep(time.Minute)
				for _, step := range []struct {
					do      func(*testing.T, *fakeapi.Server, *webhookServer)
					refuses bool
				}{{c.begin, true}, {c.end, false}} {
					step.do(t, srv, h)
					if c.delay > 0 {
						requireRefused(t, srv, !step.refuses, "at once")
						time.Sleep(c.delay - time.Millisecond)
						requireCode(t, srv, 200, "PATCH", "/api/v1/namespaces/default", `{"metadata":{"labels":{"noise":"`+name[:3]+`"}}}`)
						requireRefused(t, srv, !step.refuses, "before the delay")
						time.Sleep(time.Millisecond)
					}
					requireRefused(t, srv, step.refuses, "after the delay")
					time.Sleep(time.Minute)
					requireRefused(t, srv, step.refuses, "later")
				}
			})
		})
	}
}

func createDenyingWebhook(t *testing.T, srv *fakeapi.Server, h *webhookServer) {
	requireCode(t, srv, 201, "POST", validatingPath, configuration("v", h.webhook(t, "no", "")))
}

func deleteDenyingWebhook(t *testing.T, srv *fakeapi.Server, _ *webhookServer) {
	requireCode(t, srv, 200, "DELETE", validatingPath+"/v", "")
}

func createDenyingPolicy(t *testing.T, srv *fakeapi.Server, _ *webhookServer) {
	requireCode(t, srv, 201, "POST", policiesPath, denyPolicy)
	requireCode(t, srv, 201, "POST", "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings", denyBinding)
}

func deleteDenyingPolicy(t *testing.T, srv *fakeapi.Server, _ *webhookServer) {
	requireCode(t, srv, 200, "DELETE", policiesPath+"/p", "")
}

// What a restored state has is in force at once, with and without a delay, because there is no
// history before it. A fork begins with the state of its original.
func TestAdmissionOfRestoredState(t *testing.T) {
	for _, delay := range []time.Duration{0, 100 * time.Millisecond} {
		synctest.Test(t, func(t *testing.T) {
			srv, h := startWithWebhooks(t, fakeapi.WithAdmissionDelay(delay, delay))
			h.review("no", func(*admissionRequest) *admissionResponse { return deny(403, "no") })
			empty := srv.Snapshot()
			createDenyingWebhook(t, srv, h)
			time.Sleep(time.Second)
			refusing := srv.Snapshot()
			fork, err := srv.Fork()
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, fork.Close()) })
			requireRefused(t, fork, true, "fork")
			require.NoError(t, srv.Restore(empty, 0))
			requireRefused(t, srv, false, "restored without")
			require.NoError(t, srv.Restore(refusing, 1000))
			requireRefused(t, srv, true, "restored with")
			requireRefused(t, fork, true, "fork later")
		})
	}
}

// A replica calls the webhooks that its own view has.
func TestAdmissionOfReplicas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, h := startWithWebhooks(t)
		h.review("no", func(*admissionRequest) *admissionResponse { return deny(403, "no") })
		replica, err := srv.Replica(fakeapi.WithInMemoryNetwork())
		require.NoError(t, err)
		replica.Delay(time.Minute)
		createDenyingWebhook(t, srv, h)
		requireRefused(t, srv, true, "original")
		requireRefused(t, replica.Server, false, "replica before its lag")
		time.Sleep(time.Minute)
		requireRefused(t, replica.Server, true, "replica after its lag")
		replica.Freeze()
		deleteDenyingWebhook(t, srv, h)
		time.Sleep(time.Hour)
		requireRefused(t, srv, false, "original")
		requireRefused(t, replica.Server, true, "frozen replica")
	})
}
