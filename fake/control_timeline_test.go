package fakeapi_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	fakeapi "example.com/fakeapi/fake"
)

// The timeline is text, or JSON with bodies as text or Base64. It does not have requests to the
// control API.
func TestControlTimeline(t *testing.T) {
	c := newControlClient(t, fakeapi.WithObjects(configMap("a", "0")))
	const maps = "/api/v1/namespaces/default/configmaps"
	c.call(201, "POST", "faults", "when verb(delete) do status(500)")
	send(t, c.srv, "DELETE", maps+"/a", "application/json", []byte("{}"))
	send(t, c.srv, "GET", maps+"?watch=1&timeoutSeconds=1", "", nil)
	_, err := kubernetes.NewForConfigOrDie(c.srv.RESTConfig()).CoreV1().ConfigMaps("default").Get(t.Context(), "a", metav1.GetOptions{})
	require.NoError(t, err)

	text := c.call(200, "GET", "timeline", "")
	require.Equal(t, c.srv.Timeline().String(), text)
	require.Regexp(t, `#1 Go-http-client/1.1 delete \S+/a -> 500(.|\n)*  ! before delete configmaps a in default: status\(500\)\n(.|\n)*    #2 ADDED default/a rv=`, text)
	require.NotContains(t, text, "/fakeapi/v1/")

	type body struct {
		ContentType, Text string
		Size              int
		Data              []byte
	}
	var got struct {
		Begin, End string
		Exchanges  []struct {
			Seq, Code                        int
			Verb, Path, UserAgent, Time, End string
			ResourceVersion                  string
			Request, Answer                  *body
			Frames                           []struct {
				Time, Type, Namespace, Name, ResourceVersion string
				Body                                         *body
			}
		}
		Hits []struct{ Operation string }
	}
	c.getJSON("timeline", &got)
	require.NotEmpty(t, got.Begin)
	require.NotEmpty(t, got.End)
	require.Len(t, got.Hits, 1)
	require.Equal(t, "delete configmaps a in default", got.Hits[0].Operation)
	require.Len(t, got.Exchanges, 3)
	remove, watch, get := got.Exchanges[0], got.Exchanges[1], got.Exchanges[2]
	require.Equal(t, 500, remove.Code)
	require.Nil(t, remove.Request, "the body was not read")
	require.Contains(t, remove.Answer.Text, `"kind":"Status"`)
	require.Equal(t, "watch", watch.Verb)
	require.Nil(t, watch.Answer)
	require.Len(t, watch.Frames, 1)
	require.Equal(t, "a", watch.Frames[0].Name)
	require.Contains(t, watch.Frames[0].Body.Text, `{"type":"ADDED"`)
	require.Equal(t, "application/vnd.kubernetes.protobuf", get.Answer.ContentType)
	require.Len(t, get.Answer.Data, get.Answer.Size)
	require.Equal(t, watch.Frames[0].ResourceVersion, get.ResourceVersion)
}

// Without a timeline no requests are listed.
func TestControlWithoutTimeline(t *testing.T) {
	c := newControlClient(t, fakeapi.WithoutTimeline())
	send(t, c.srv, "GET", "/livez", "", nil)
	require.Empty(t, c.call(200, "GET", "requests", ""))
	require.Empty(t, c.call(200, "GET", "timeline", ""))
	var got struct{ Requests, Exchanges, Hits []any }
	c.getJSON("requests", &got)
	c.getJSON("timeline", &got)
	require.Empty(t, got.Requests)
	require.Empty(t, got.Exchanges)
}
