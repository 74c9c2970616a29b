package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/util/cert"
)

// request sends a request with an Accept header and returns the code, the Content-Type and the
// body.
func (r running) request(t *testing.T, method, path, accept, body string) (code int, contentType, text string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, r.url+path, strings.NewReader(body))
	require.NoError(t, err)
	request.Header.Set("Accept", accept)
	request.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	defer func() { _ = answer.Body.Close() }()
	content, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	return answer.StatusCode, answer.Header.Get("Content-Type"), string(content)
}

// code returns the code of a GET.
func (r running) code(t *testing.T, path string) int {
	t.Helper()
	code, _, _ := r.request(t, http.MethodGet, path, "application/json", "")
	return code
}

// create creates a ConfigMap with a value of some size and returns it.
func (r running) create(t *testing.T, name string, size int) metav1.ObjectMeta {
	t.Helper()
	var made metav1.PartialObjectMetadata
	code, _, text := r.request(t, http.MethodPost, configMaps, "application/json", fmt.Sprintf(`{"metadata":{"name":%q},"data":{"k":%q}}`, name, strings.Repeat("x", size)))
	require.Equal(t, http.StatusCreated, code, text)
	require.Equal(t, http.StatusOK, r.get(t, configMaps+"/"+name, &made))
	return made.ObjectMeta
}

// requireEventually requires that a GET is answered with a code.
func (r running) requireEventually(t *testing.T, want int, path string) {
	t.Helper()
	require.Eventually(t, func() bool { return r.code(t, path) == want }, time.Minute, 5*time.Millisecond, path)
}

const (
	watchList           = "/api/v1/pods?watch=true&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&timeoutSeconds=1"
	aggregatedDiscovery = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json"
)

func TestServeFeatureGates(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		args             []string
		cbor, watchList  int
		discoveryInGroup bool
	}{
		{nil, http.StatusNotAcceptable, http.StatusOK, true},
		{[]string{"--cbor"}, http.StatusOK, http.StatusOK, true},
		{[]string{"--feature-gates", "WatchList=false, CBORServingAndStorage=true"}, http.StatusOK, http.StatusUnprocessableEntity, true},
		{[]string{"--feature-gates=AggregatedDiscoveryEndpoint=false", "--feature-gates=WatchList=false", "--feature-gates=WatchList=true"}, http.StatusNotAcceptable, http.StatusOK, false},
	} {
		t.Run(strings.Join(test.args, " "), func(t *testing.T) {
			r := start(t, append([]string{"serve"}, test.args...)...)
			code, _, _ := r.request(t, http.MethodGet, configMaps, "application/cbor", "")
			require.Equal(t, test.cbor, code)
			require.Equal(t, test.watchList, r.code(t, watchList))
			_, contentType, _ := r.request(t, http.MethodGet, "/apis", aggregatedDiscovery, "")
			require.Equal(t, test.discoveryInGroup, strings.Contains(contentType, "as=APIGroupDiscoveryList"))
			require.Equal(t, cleanExit, r.stop())
		})
	}
}

// Each limit of the history makes a past resourceVersion expire.
func TestServeHistory(t *testing.T) {
	const exact = configMaps + "?resourceVersionMatch=Exact&resourceVersion="
	for _, flags := range []string{"--etcd-compaction-interval=20ms", "--auto-compaction-retention=3", "--history-bytes=20000"} {
		t.Run(flags, func(t *testing.T) {
			r := start(t, flags)
			first := r.create(t, "first", 1)
			for i := range 30 {
				r.create(t, fmt.Sprintf("more-%d", i), 1000)
			}
			r.requireEventually(t, http.StatusGone, exact+first.ResourceVersion)
			require.Equal(t, cleanExit, r.stop())
		})
	}
	r := start(t, "--etcd-compaction-interval=0", "--auto-compaction-retention=0", "--history-bytes=0")
	first := r.create(t, "first", 1)
	for i := range 30 {
		r.create(t, fmt.Sprintf("more-%d", i), 1000)
	}
	require.Equal(t, http.StatusOK, r.code(t, exact+first.ResourceVersion))
	require.Equal(t, cleanExit, r.stop())

	r = start(t, "--continue-token-lifetime", "20ms")
	r.create(t, "a", 1)
	r.create(t, "b", 1)
	var page metav1.List
	r.get(t, configMaps+"?limit=1", &page)
	require.NotEmpty(t, page.Continue)
	r.requireEventually(t, http.StatusGone, configMaps+"?limit=1&continue="+page.Continue)
	require.Equal(t, cleanExit, r.stop())
}

func TestServeQuota(t *testing.T) {
	large := `{"metadata":{"name":"large"},"data":{"k":"` + strings.Repeat("x", 200_000) + `"}}`
	for quota, want := range map[string]int{"150000": http.StatusInternalServerError, "0": http.StatusCreated, "-1": http.StatusCreated} {
		r := start(t, "--quota-backend-bytes", quota)
		code, _, text := r.request(t, http.MethodPost, configMaps, "application/json", large)
		require.Equal(t, want, code, quota)
		require.Equal(t, want != http.StatusCreated, strings.Contains(text, "etcdserver: mvcc: database space exceeded"), text)
		require.Equal(t, cleanExit, r.stop())
	}
}

// A request above a limit of requests in flight gets 429. The ones in flight are delayed by a rule.
func TestServeRequestsInFlight(t *testing.T) {
	rules := manifest(t, "rules", "slow: when resource(secrets) do delay(1h)\n")
	const secrets = "/api/v1/namespaces/default/secrets"
	r := start(t, "--faults", rules, "--max-requests-inflight=1", "--max-mutating-requests-inflight", "1", "--max-watches=1")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	// hold keeps a request in flight. It may have to try again while another request is served.
	hold := func(method, path string) {
		go func() {
			for ctx.Err() == nil {
				request, err := http.NewRequestWithContext(ctx, method, r.url+path, strings.NewReader("{}"))
				if err != nil {
					return
				}
				if answer, err := http.DefaultClient.Do(request); err == nil {
					_ = answer.Body.Close()
				}
			}
		}()
	}
	postCode := func() int {
		code, _, _ := r.request(t, http.MethodPost, configMaps, "application/json", "{}")
		return code
	}
	require.Equal(t, http.StatusOK, r.code(t, configMaps))
	require.Equal(t, http.StatusUnprocessableEntity, postCode())
	hold(http.MethodGet, secrets)
	r.requireEventually(t, http.StatusTooManyRequests, configMaps)
	hold(http.MethodPost, secrets)
	require.Eventually(t, func() bool { return postCode() == http.StatusTooManyRequests }, time.Minute, 5*time.Millisecond)
	watch, err := http.Get(r.url + configMaps + "?watch=true")
	require.NoError(t, err)
	defer func() { _ = watch.Body.Close() }()
	require.Equal(t, http.StatusOK, watch.StatusCode)
	require.Equal(t, http.StatusTooManyRequests, r.code(t, "/api/v1/pods?watch=true&timeoutSeconds=1"))
	cancel()
	require.Equal(t, cleanExit, r.stop())
}

func TestServeWatchTimes(t *testing.T) {
	t.Parallel()
	r := start(t, "--bookmark-interval=10ms", "--min-request-timeout", "1")
	// The watch for a bookmark does not end by itself, which could be before the bookmark.
	answer, err := http.Get(r.url + configMaps + "?watch=true&allowWatchBookmarks=true&timeoutSeconds=3600")
	require.NoError(t, err)
	line, err := bufio.NewReader(answer.Body).ReadString('\n')
	require.NoError(t, err)
	require.Contains(t, line, `"type":"BOOKMARK"`)
	require.NoError(t, answer.Body.Close())

	began := time.Now()
	answer, err = http.Get(r.url + configMaps + "?watch=true&allowWatchBookmarks=true")
	require.NoError(t, err)
	defer func() { _ = answer.Body.Close() }()
	_, err = io.Copy(io.Discard, answer.Body) // until the server ends the watch
	require.NoError(t, err)
	require.GreaterOrEqual(t, time.Since(began), time.Second)
	require.Equal(t, cleanExit, r.stop())
}

func TestServeResourceVersionTimeout(t *testing.T) {
	r := start(t, "--resource-version-timeout=1ms")
	// With the default no request takes less than three seconds. On a busy machine, some may take
	// longer with the flag, too.
	for attempt := 1; ; attempt++ {
		began := time.Now()
		require.Equal(t, http.StatusGatewayTimeout, r.code(t, configMaps+"?resourceVersion=1000000"))
		if time.Since(began) < 3*time.Second {
			break
		}
		require.Less(t, attempt, 20, "all requests take as long as with the default")
	}
	require.Equal(t, cleanExit, r.stop())
}

func TestServeServiceRanges(t *testing.T) {
	r := start(t, "--service-cluster-ip-range=fd00::/120,10.0.0.0/24", "--service-node-port-range", "31000-31000")
	code, _, text := r.request(t, http.MethodPost, "/api/v1/namespaces/default/services", "application/json",
		`{"metadata":{"name":"a"},"spec":{"type":"NodePort","ipFamilyPolicy":"RequireDualStack","ports":[{"port":80}]}}`)
	require.Equal(t, http.StatusCreated, code, text)
	require.Contains(t, text, `"clusterIP":"fd00::`)
	require.Contains(t, text, `"10.0.0.`)
	require.Contains(t, text, `"nodePort":31000`)
	require.Equal(t, cleanExit, r.stop())

	failed := runCommand(t, "serve", "--service-cluster-ip-range=10.0.0.0/24,10.1.0.0/24")
	require.Contains(t, failed.stderr, "the two ranges of addresses must be of different IP family")
}

func TestServeSeed(t *testing.T) {
	uid := func(args ...string) string {
		r := start(t, args...)
		made := r.create(t, "a", 1)
		require.Equal(t, cleanExit, r.stop())
		return string(made.UID)
	}
	same := uid("--seed", "7")
	require.Equal(t, same, uid("--seed=7"))
	require.NotEqual(t, same, uid("--seed=8"))
	require.NotEqual(t, same, uid())
}

func TestServeRecordsRequests(t *testing.T) {
	for _, args := range [][]string{{"serve"}, {"serve", "--timeline=false", "-v=3"}, {"serve", "-v", "2"}} {
		r := start(t, args...)
		require.Equal(t, http.StatusOK, r.code(t, configMaps))
		var recorded struct{ Requests []any }
		_, _, text := r.request(t, http.MethodGet, "/fakeapi/v1/requests", "application/json", "")
		require.NoError(t, json.Unmarshal([]byte(text), &recorded), text)
		require.Equal(t, slices.Contains(args, "--timeline=false"), len(recorded.Requests) == 0)
		ended := r.stop()
		require.Equal(t, exitOK, ended.status)
		if args[len(args)-1] == "-v=3" {
			require.Regexp(t, `(?m)^time=\S+ level=DEBUG msg=request method=GET url=`+configMaps+` .* code=200 `, ended.stderr)
		} else {
			require.Empty(t, ended.stderr)
		}
	}
}

// A conversion webhook behind a Service is called at the address of its flag.
func TestServeWebhookService(t *testing.T) {
	authority, key, err := cert.GenerateSelfSignedCertKey("conv.shop.svc", nil, nil)
	require.NoError(t, err)
	certificate, err := tls.X509KeyPair(authority, key)
	require.NoError(t, err)
	webhook := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var review apiextensionsv1.ConversionReview
		if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		review.Response = &apiextensionsv1.ConversionResponse{UID: review.Request.UID, Result: metav1.Status{Status: metav1.StatusSuccess}}
		for _, object := range review.Request.Objects {
			converted := strings.Replace(string(object.Raw), "shop.example.com/v1", review.Request.DesiredAPIVersion, 1)
			review.Response.ConvertedObjects = append(review.Response.ConvertedObjects, runtime.RawExtension{Raw: []byte(converted)})
		}
		_ = json.NewEncoder(w).Encode(review)
	}))
	webhook.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12}
	webhook.StartTLS()
	defer webhook.Close()
	version := "\n  - {name: v2, served: true, storage: false, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}\n" +
		"  conversion: {strategy: Webhook, webhook: {conversionReviewVersions: [v1], clientConfig: {caBundle: " +
		base64.StdEncoding.EncodeToString(authority) + ", service: {namespace: shop, name: conv}}}}\n"
	manifests := manifest(t, "gizmos.yaml", strings.TrimRight(crdManifest, "\n")+version+"---\n"+gizmoManifest)
	const gizmo = "/apis/shop.example.com/v2/namespaces/default/gizmos/a"

	r := start(t, "--load", manifests, "--webhook-service", "shop/conv="+webhook.Listener.Addr().String())
	code, _, text := r.request(t, http.MethodGet, gizmo, "application/json", "")
	require.Equal(t, http.StatusOK, code, text)
	require.Contains(t, text, `"apiVersion":"shop.example.com/v2"`)
	require.Equal(t, cleanExit, r.stop())

	r = start(t, "--load", manifests, "--webhook-service=other/conv=127.0.0.1:1")
	code, _, text = r.request(t, http.MethodGet, gizmo, "application/json", "")
	require.Equal(t, http.StatusInternalServerError, code)
	require.Contains(t, text, "no --webhook-service for shop/conv")
	require.Equal(t, cleanExit, r.stop())
}

// A webhook is called at an address that is not loopback only with the flag. The address is one of
// this machine.
func TestServeAllowRemoteWebhooks(t *testing.T) {
	const configuration = `{"metadata":{"name":"a"},"webhooks":[{"name":"a.example.com","sideEffects":"None","admissionReviewVersions":["v1"],
		"clientConfig":{"url":"https://0.0.0.0:1/"},"rules":[{"operations":["*"],"apiGroups":[""],"apiVersions":["v1"],"resources":["configmaps"]}]}]}`
	const refused = "only loopback addresses are called without WithRemoteWebhooks (fakeapi serve --allow-remote-webhooks)"
	for _, flags := range [][]string{{"serve"}, {"serve", "--allow-remote-webhooks"}} {
		r := start(t, flags...)
		code, _, text := r.request(t, http.MethodPost, "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations", "application/json", configuration)
		require.Equal(t, http.StatusCreated, code, text)
		code, _, text = r.request(t, http.MethodPost, configMaps, "application/json", `{"metadata":{"name":"a"}}`)
		require.Equal(t, http.StatusInternalServerError, code, text)
		require.Contains(t, text, `failed calling webhook \"a.example.com\"`)
		require.Equal(t, len(flags) == 1, strings.Contains(text, refused), text)
		require.Equal(t, exitOK, r.stop().status)
	}
}

// With --admission-delay a configuration is not in force at once.
func TestServeAdmissionDelay(t *testing.T) {
	const configuration = `{"metadata":{"name":"a"},"webhooks":[{"name":"a.example.com","sideEffects":"None","admissionReviewVersions":["v1"],
		"clientConfig":{"url":"https://127.0.0.1:1/"},"rules":[{"operations":["*"],"apiGroups":[""],"apiVersions":["v1"],"resources":["configmaps"]}]}]}`
	for delay, want := range map[string]int{"0s,1h": http.StatusInternalServerError, "1h,0s": http.StatusCreated} {
		r := start(t, "serve", "--admission-delay", delay)
		code, _, text := r.request(t, http.MethodPost, "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations", "application/json", configuration)
		require.Equal(t, http.StatusCreated, code, text)
		code, _, text = r.request(t, http.MethodPost, configMaps, "application/json", `{"metadata":{"name":"a"}}`)
		require.Equal(t, want, code, text)
		require.Equal(t, exitOK, r.stop().status)
	}
}

func TestServeOptionUsage(t *testing.T) {
	for args, want := range map[string]string{
		"--feature-gates Wach=true":                   "flag -feature-gates: unrecognized feature gate: Wach; see",
		"--feature-gates WatchList":                   "flag -feature-gates: missing bool value for WatchList; see",
		"--feature-gates WatchList=maybe":             `flag -feature-gates: invalid value of WatchList: "maybe" is neither true nor false; see`,
		"--etcd-compaction-interval -1s":              "flag -etcd-compaction-interval: it is negative; see",
		"--etcd-compaction-interval 5":                "flag -etcd-compaction-interval: time: missing unit in duration",
		"--auto-compaction-retention=-5":              "flag -auto-compaction-retention: it is negative; see",
		"--history-bytes 1Gi":                         "flag -history-bytes: it is not a number; see",
		"--quota-backend-bytes all":                   "flag -quota-backend-bytes: it is not a number; see",
		"--max-requests-inflight=-1":                  "flag -max-requests-inflight: it is negative; see",
		"--min-request-timeout 0":                     "flag -min-request-timeout: it is not positive; see",
		"--min-request-timeout 30m":                   "flag -min-request-timeout: it is not a number; see",
		"--bookmark-interval 0s":                      "flag -bookmark-interval: it is not positive; see",
		"--webhook-service conv=127.0.0.1:1":          "flag -webhook-service: it is not of the form NAMESPACE/NAME=HOST:PORT; see",
		"--webhook-service a/b=127.0.0.1":             "flag -webhook-service: address 127.0.0.1: missing port in address; see",
		"--webhook-service a/b=127.0.0.1:https":       `flag -webhook-service: "https" is not a port; see`,
		"--admission-delay 1s":                        "flag -admission-delay: it is not of the form TIME,TIME, such as 100ms,1s; see",
		"--admission-delay 0s,-1s":                    "flag -admission-delay: it is negative; see",
		"--service-cluster-ip-range 10.0.0.0":         `flag -service-cluster-ip-range: "10.0.0.0" is not a range of addresses; see`,
		"--service-node-port-range 30000-70000":       "flag -service-node-port-range: the port range cannot be greater than 65535: 30000-70000; see",
		"--seed -1":                                   "flag -seed: it is not a number; see",
		"--max-watches 99999999999999999999999999999": "flag -max-watches: it is not a number; see",
	} {
		got := runCommand(t, append([]string{"serve"}, strings.Fields(args)...)...)
		require.Equal(t, exitUsage, got.status, args)
		require.Contains(t, got.stderr, want)
		require.Empty(t, got.stdout)
	}
}
