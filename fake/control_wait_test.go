package fakeapi_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	fakeapi "example.com/fakeapi/fake"
)

// listed is a list of the control API.
type listed struct {
	Requests []struct {
		Seq, Order, Code                             int
		Verb, Path, Resource, Name, Namespace, Group string
		User, UserAgent                              string
	}
	Hits []struct {
		Rule  string
		Order int
	}
	Exchanges []struct {
		Seq    int
		Frames []struct{ Type string }
	}
	Notes []struct {
		Source, Text string
		Order        int
	}
	Next int
	Met  *bool
}

// list reads a list as JSON, and checks that the headers have the same as its fields.
func (r controlClient) list(path string) listed {
	r.Helper()
	got, err := r.tryList(r.Context(), path)
	require.NoError(r, err)
	return got
}

func (r controlClient) tryList(ctx context.Context, path string) (got listed, err error) {
	request, err := http.NewRequestWithContext(ctx, "GET", r.srv.URL()+"/fakeapi/v1/"+path, nil)
	if err != nil {
		return got, err
	}
	request.Header.Set("Accept", "application/json")
	response, err := r.srv.Client().Do(request)
	if err != nil {
		return got, err
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return got, err
	}
	if response.StatusCode != http.StatusOK {
		return got, fmt.Errorf("%d %s", response.StatusCode, body)
	}
	if err := json.Unmarshal(body, &got); err != nil {
		return got, err
	}
	if next := response.Header.Get("Fakeapi-Next"); next != strconv.Itoa(got.Next) {
		return got, fmt.Errorf("the header has the next number %q and the body %d", next, got.Next)
	}
	if met := response.Header.Get("Fakeapi-Met"); (met != "") != (got.Met != nil) || got.Met != nil && met != strconv.FormatBool(*got.Met) {
		return got, fmt.Errorf("met is %q in the header and %v in the body", met, got.Met)
	}
	return got, nil
}

// With since, lists have what happened after the response with that number. Numbers are those of
// all lists.
func TestControlSince(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newControlClient(t, fakeapi.WithObjects(configMap("a", "0")))
		c.call(201, "POST", "faults", "busy: when path(/livez) do status(503)")
		stream := openWatch(t, t.Context(), c.srv, "/api/v1/configmaps?watch=1&resourceVersion="+c.srv.ResourceVersion())
		defer func() { _ = stream.Body.Close() }()
		send(t, c.srv, "GET", "/livez", "", nil)
		first := c.list("hits")
		require.Len(t, first.Hits, 1)
		for _, path := range []string{"hits", "requests", "timeline"} {
			now := c.list(fmt.Sprintf("%s?since=%d", path, first.Next))
			require.Empty(t, now.Hits)
			require.Empty(t, now.Requests)
			require.Empty(t, now.Exchanges)
			require.Empty(t, now.Notes)
			require.Equal(t, first.Next, now.Next)
		}

		code, _, _ := send(t, c.srv, "PATCH", "/api/v1/namespaces/default/configmaps/a", "application/merge-patch+json", []byte(`{"data":{"k":"1"}}`))
		require.Equal(t, 200, code)
		synctest.Wait()
		send(t, c.srv, "GET", "/livez?n=2", "", nil)
		c.call(204, "POST", "compact", "")
		hits, requests, line := c.list(fmt.Sprintf("hits?since=%d", first.Next)), c.list(fmt.Sprintf("requests?since=%d", first.Next)), c.list(fmt.Sprintf("timeline?since=%d", first.Next))
		require.Len(t, hits.Hits, 1)
		require.Len(t, requests.Requests, 2)
		patch := requests.Requests[0]
		require.Equal(t, []string{"patch", "configmaps", "default", "a", "system:admin"}, []string{patch.Verb, patch.Resource, patch.Namespace, patch.Name, patch.User})
		require.Equal(t, 3, patch.Seq)
		require.Equal(t, "/livez?n=2", requests.Requests[1].Path)
		require.Len(t, line.Exchanges, 3, "the watch had an event")
		require.Equal(t, "MODIFIED", line.Exchanges[0].Frames[0].Type)
		require.Empty(t, c.list(fmt.Sprintf("timeline?since=%d", requests.Next)).Exchanges, "the frames before it")
		require.Len(t, line.Hits, 1)
		require.Equal(t, "Compact", line.Notes[0].Text)
		require.Empty(t, c.list(fmt.Sprintf("requests?since=%d", patch.Order)).Requests[1:], "the number of a request")

		_, header, _ := send(t, c.srv, "POST", "/fakeapi/v1/compact", "", nil)
		require.NotEmpty(t, header.Get("Fakeapi-Next"), "every response has the number")
		require.Contains(t, c.call(400, "GET", "requests?since=-1", ""), "since: ")
		require.Contains(t, c.call(400, "GET", "hits?since=99999", ""), "is not a number of this server")
	})
}

// A request for hits waits until the rule has hit often enough, and is answered at once if it has.
func TestControlWaitForHits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newControlClient(t)
		c.call(201, "POST", "faults", "lost: when path(/livez) do status(503)\nother: when path(/readyz) do status(503)\nbad: when verb(list) && during(committed) do set(/kind/x, y)")
		go func() {
			for i := range 3 {
				time.Sleep(time.Second)
				for _, path := range []string{"/readyz", "/livez", "/api/v1/pods"} {
					response, err := c.srv.Client().Get(fmt.Sprintf("%s%s?n=%d", c.srv.URL(), path, i))
					if err == nil {
						_ = response.Body.Close()
					}
				}
			}
		}()
		start := time.Now()
		got := c.list("hits?rule=lost&wait=10s")
		require.Equal(t, time.Second, time.Since(start))
		require.True(t, *got.Met)
		require.Len(t, got.Hits, 1)
		next := got.Next
		got = c.list("hits?rule=lost&wait=10s&count=3")
		require.Equal(t, 3*time.Second, time.Since(start))
		require.Len(t, got.Hits, 3)
		got = c.list(fmt.Sprintf("hits?rule=lost&wait=10s&count=2&since=%d", next))
		require.Equal(t, 3*time.Second, time.Since(start), "it holds already")
		require.Len(t, got.Hits, 2)

		got = c.list("hits?rule=lost&wait=10s&count=4")
		require.Equal(t, 13*time.Second, time.Since(start))
		require.False(t, *got.Met)
		require.Len(t, got.Hits, 3)
		got = c.list("hits?rule=bad&wait=1s")
		require.False(t, *got.Met, "hits that were not applied do not count")
		require.Len(t, got.Hits, 3)
		require.Nil(t, c.list("hits?rule=other").Met)
		require.Equal(t, "lost: before request /livez: status(503)\n", strings.SplitAfter(c.call(200, "GET", "hits?rule=lost&wait=1s", ""), "\n")[0])

		require.Contains(t, c.call(404, "GET", "hits?rule=lots&wait=10s", ""), `faults \"lots\" not found`)
		c.call(204, "DELETE", "faults/lost", "")
		require.Len(t, c.list("hits?rule=lost").Hits, 3, "a rule that was removed has hits")
		for _, query := range []string{"wait=0s", "wait=x", "wait=11m", "wait=-1s", "wait=1s&count=0", "wait=1s&count=1001", "count=2", "wait=1s&count=x", "rules=lost", "wait=1s&wait=2s"} {
			c.call(400, "GET", "hits?"+query, "")
		}
		require.Contains(t, c.call(400, "GET", "hits?rules=a", ""), `unknown parameter \"rules\"; known: rule, since, wait, count`)
	})
}

// A request for requests waits until one that the parameters select has a response or has ended.
func TestControlWaitForRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newControlClient(t)
		c.call(201, "POST", "faults", "slow: when verb(create) do delay(5s)\nlost: when verb(delete) do reset")
		go func() {
			time.Sleep(time.Second)
			for method, path := range map[string]string{"POST": "/api/v1/namespaces/default/configmaps", "GET": "/apis/apps/v1/deployments"} {
				request, err := http.NewRequestWithContext(t.Context(), method, c.srv.URL()+path, strings.NewReader(`{"metadata":{"name":"a"}}`))
				if err == nil {
					request.Header.Set("User-Agent", "controller/1")
					go func() {
						response, err := c.srv.Client().Do(request)
						if err == nil {
							_ = response.Body.Close()
						}
					}()
				}
			}
		}()
		start := time.Now()
		got := c.list("requests?verb=create,update&resource=configmaps&namespace=default&wait=1m")
		require.Equal(t, 6*time.Second, time.Since(start), "the response")
		require.True(t, *got.Met)
		require.Len(t, got.Requests, 1)
		require.Equal(t, 201, got.Requests[0].Code)
		got = c.list("requests?userAgent=controller&count=2&wait=1m")
		require.Equal(t, 6*time.Second, time.Since(start))
		require.Len(t, got.Requests, 2)
		for query, want := range map[string]int{
			"resource=deployments.apps": 1, "resource=deployments": 0, "path=/apis/apps": 1, "code=201": 1, "code=404,200": 1, "name=a": 0, "userAgent=other": 0,
			"verb=list&code=201": 0, "path=/api": 2,
		} {
			require.Len(t, c.list("requests?"+query).Requests, want, query)
		}
		got = c.list("requests?resource=deployments&wait=2s")
		require.False(t, *got.Met)
		require.Empty(t, got.Requests)
		require.Equal(t, 8*time.Second, time.Since(start))
		go func() {
			request, err := http.NewRequestWithContext(t.Context(), "DELETE", c.srv.URL()+"/api/v1/namespaces/default/configmaps/a", nil)
			if err == nil {
				if response, err := c.srv.Client().Do(request); err == nil {
					_ = response.Body.Close()
				}
			}
		}()
		got = c.list("requests?verb=delete&wait=1m")
		require.True(t, *got.Met, "it ended without a response")
		require.Equal(t, 8*time.Second, time.Since(start))
		for _, query := range []string{"verb=lst", "code=1", "code=600", "code=x", "resources=pods"} {
			c.call(400, "GET", "requests?"+query, "")
		}
	})
	silent := newControlClient(t, fakeapi.WithoutTimeline())
	require.Contains(t, silent.call(400, "GET", "requests?wait=1s", ""), "WithoutTimeline")
}

// A wait ends when its client has gone, and when the server shuts down or closes. The number of
// waits is limited.
func TestControlWaitEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, err := fakeapi.New(fakeapi.WithInMemoryNetwork(), fakeapi.WithControlAPI())
		require.NoError(t, err)
		c := controlClient{t, srv}
		start := time.Now()
		ctx, cancel := context.WithCancel(t.Context())
		results := make(chan error, 1000)
		wait := func(ctx context.Context) {
			_, err := c.tryList(ctx, "requests?wait=10m")
			results <- err
		}
		for range 256 {
			go wait(ctx)
		}
		synctest.Wait()
		code, header, body := send(t, srv, "GET", "/fakeapi/v1/hits?wait=1s", "", nil)
		require.Equal(t, 429, code)
		require.Equal(t, "1", header.Get("Retry-After"))
		require.Contains(t, string(body), "256 requests of the control API wait already")
		cancel()
		for range 256 {
			require.ErrorIs(t, <-results, context.Canceled)
		}
		synctest.Wait()
		go wait(t.Context())
		synctest.Wait()
		require.NoError(t, srv.Shutdown())
		require.NoError(t, <-results, "the state at the shutdown")
		require.NoError(t, srv.Restart(0))
		require.Equal(t, "/livez", func() string {
			send(t, srv, "GET", "/livez", "", nil)
			return c.list("requests?wait=10s").Requests[0].Path
		}())
		go wait(t.Context())
		synctest.Wait()
		require.NoError(t, srv.Close())
		<-results
		require.Zero(t, time.Since(start))
	})
}
