package faults_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/fakeapi/faults"
	"example.com/fakeapi/internal/requestinfo"
)

// The responses of plainHandler.
const (
	onePod              = `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","namespace":"ns"}}` + "\n"
	aggregatedDiscovery = `{"kind":"APIGroupDiscoveryList","items":[{"versions":[{"version":"v1","resources":[],"freshness":"Current"}]}]}` + "\n"
	deletedEvent        = `{"type":"DELETED","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","namespace":"ns","resourceVersion":"14"}}}` + "\n"
	admissionReview     = `{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{"uid":"1","object":{"metadata":{"name":"a"}}}}`
	groupList           = `{"kind":"APIGroupList","groups":[]}` + "\n"
)

// plainHandler serves a minimal API. The header X-Query has the query of the request.
func plainHandler(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("X-Query", r.URL.RawQuery)
	say := func(s string) {
		_, _ = io.WriteString(w, s)
		w.(http.Flusher).Flush()
	}
	accept := r.Header.Get("Accept")
	switch {
	case r.URL.Query().Get("watch") != "":
		w.WriteHeader(http.StatusOK)
		w.(http.Flusher).Flush()
		time.Sleep(time.Second)
		for _, frame := range []string{podA, podB, initialEventsEndEvent, bookmark} {
			say(frame)
		}
		if r.URL.Query().Get("resourceVersion") == "10" {
			say(deletedEvent)
		}
	case r.Method == http.MethodPost:
		w.WriteHeader(http.StatusCreated)
		say(onePod)
	case r.URL.Path == "/apis" && strings.Contains(accept, "as=APIGroupDiscoveryList"):
		say(aggregatedDiscovery)
	case r.URL.Path == "/apis":
		say(groupList)
	case r.Method != http.MethodGet || !strings.HasSuffix(r.URL.Path, "s"):
		if accept == "application/vnd.kubernetes.protobuf" {
			h.Set("Content-Type", accept)
			say("k8s\x00body")
			return
		}
		say(onePod)
	default:
		say(podList)
	}
}

// pipeListener is an in-memory listener, for servers in a synctest bubble.
type pipeListener struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once // closes done
}

func (p *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}
func (p *pipeListener) Close() error   { p.once.Do(func() { close(p.done) }); return nil }
func (p *pipeListener) Addr() net.Addr { return &net.UnixAddr{Name: "memory", Net: "unix"} }

func (p *pipeListener) dial(context.Context, string, string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	p.conns <- theirs
	return ours, nil
}

// response is what the client received.
type response struct {
	code       int
	header     http.Header
	body       string
	incomplete bool          // there is no response, or it breaks off or never ends
	headerTime time.Duration // until the header was received
	totalTime  time.Duration // until the body was complete
}

// sendRequests adds a rule in front of plainHandler, sends requests over HTTP on virtual time, and
// returns the last response. A request is "METHOD URL" or "METHOD URL ACCEPT".
func sendRequests(t *testing.T, rule string, requests ...string) (g response) {
	synctest.Test(t, func(t *testing.T) {
		var set faults.Set
		_, err := set.AddText(rule)
		require.NoError(t, err)
		p := &pipeListener{conns: make(chan net.Conn), done: make(chan struct{})}
		server := &httptest.Server{Listener: p, Config: &http.Server{Handler: faults.Handler(&set, http.HandlerFunc(plainHandler))}}
		server.Start()
		defer server.Close()
		client := &http.Client{
			Transport:     &http.Transport{DialContext: p.dial, DisableKeepAlives: true},
			Timeout:       time.Hour,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		}
		for _, request := range requests {
			if hook, ok := strings.CutPrefix(request, "CALL "); ok {
				g = callWebhook(t, &set, hook)
				continue
			}
			g = send(t, client, request)
		}
		set.MustHit(t)
	})
	return g
}

// callWebhook calls a webhook for the creation of a pod, as an API server does, and returns what it
// receives.
func callWebhook(t *testing.T, set *faults.Set, name string) response {
	cause := requestinfo.WithRequestInfo(httptest.NewRequestWithContext(t.Context(), http.MethodPost, pods, nil))
	req, err := http.NewRequestWithContext(cause.Context(), http.MethodPost, "https://hook/", strings.NewReader(admissionReview))
	require.NoError(t, err)
	hook := &testWebhook{}
	return do(&http.Client{Timeout: 10 * time.Second, Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
		return set.WebhookCall(name, r, hook)
	})}, req)
}

func send(t *testing.T, client *http.Client, request string) response {
	words := append(strings.Fields(request), "")
	req, err := http.NewRequestWithContext(t.Context(), words[0], "http://memory"+words[1], strings.NewReader(`{"kind":"Pod"}`))
	require.NoError(t, err)
	if words[2] != "" {
		req.Header.Set("Accept", words[2])
	}
	return do(client, req)
}

// do sends a request and returns what the client receives.
func do(client *http.Client, req *http.Request) (g response) {
	start := time.Now()
	resp, err := client.Do(req)
	if err != nil {
		return response{incomplete: true, totalTime: time.Since(start)}
	}
	defer resp.Body.Close()
	g = response{code: resp.StatusCode, header: resp.Header, headerTime: time.Since(start)}
	if resp.Close {
		g.header.Set("Connection", "close")
	}
	body, err := io.ReadAll(resp.Body)
	g.body, g.incomplete, g.totalTime = string(body), err != nil, time.Since(start)
	return g
}
