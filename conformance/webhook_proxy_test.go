package conformance_test

import (
	"crypto/tls"
	"encoding/base64"
	"encoding/pem"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// callFault is a handler in front of the webhook of the suite that makes a correct server call it
// wrongly.
type callFault func(next http.Handler) http.Handler

// changeCalls changes the bodies of calls.
func changeCalls(change func(string) string) callFault {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			setBody(r, change(readBody(r)))
			next.ServeHTTP(w, r)
		})
	}
}

// changeAnswers changes the bodies of the responses to calls.
func changeAnswers(change func(string) string) callFault {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			answer := httptest.NewRecorder()
			next.ServeHTTP(answer, r)
			w.Header().Set("Content-Type", answer.Header().Get("Content-Type"))
			w.WriteHeader(answer.Code)
			_, _ = io.WriteString(w, change(answer.Body.String()))
		})
	}
}

// oneUID uses one uid for all calls.
func oneUID(next http.Handler) http.Handler {
	pattern := regexp.MustCompile(`"uid":"([^"]*)"`)
	const uid = "11111111-1111-1111-1111-111111111111"
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body := readBody(r)
		own := pattern.FindStringSubmatch(body)[1]
		setBody(r, strings.Replace(body, own, uid, 1))
		changeAnswers(replaceText(uid, own))(next).ServeHTTP(w, r)
	})
}

// oneByOne makes calls wait for each other.
func oneByOne(next http.Handler) http.Handler {
	turn := make(chan struct{}, 1)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		turn <- struct{}{}
		defer func() { <-turn }()
		next.ServeHTTP(w, r)
	})
}

// twice calls the webhook twice.
func twice(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body := readBody(r)
		setBody(r, body)
		next.ServeHTTP(httptest.NewRecorder(), r)
		setBody(r, body)
		next.ServeHTTP(w, r)
	})
}

// startProxy starts a proxy with a fault on a network that has no listener yet, and returns a
// transport that gives it to the server instead of the webhook of the suite, which is the next
// listener.
func startProxy(t *testing.T, network *webhookNetwork, fault callFault, next http.RoundTripper) http.RoundTripper {
	l, err := network.listen()
	require.NoError(t, err)
	suite := strings.Replace(l.Addr().String(), ":20001", ":20002", 1)
	client := &http.Transport{DialContext: network.dial, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}
	forward := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r = r.Clone(r.Context())
		r.URL.Scheme, r.URL.Host, r.RequestURI = "https", suite, ""
		answer, err := client.RoundTrip(r)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		defer func() { _ = answer.Body.Close() }()
		w.Header().Set("Content-Type", answer.Header.Get("Content-Type"))
		w.WriteHeader(answer.StatusCode)
		_, _ = io.Copy(w, answer.Body)
	})
	proxy := httptest.NewUnstartedServer(fault(forward))
	require.NoError(t, proxy.Listener.Close())
	proxy.Listener = l
	proxy.StartTLS()
	t.Cleanup(proxy.Close)
	caBundle := base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: proxy.Certificate().Raw}))
	viaProxy := replacePattern(`"caBundle":"[^"]*","url":"https://`+regexp.QuoteMeta(suite), `"caBundle":"`+caBundle+`","url":"https://`+l.Addr().String())
	return changeRequestBody(isWebhookConfig, viaProxy)(next)
}

// isWebhookConfig reports whether a request is about configurations of webhooks.
func isWebhookConfig(r *http.Request) bool {
	return strings.HasPrefix(r.URL.Path, "/apis/admissionregistration.k8s.io/") && r.Body != nil
}
