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
	var told struct {
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
	c.getJSON("timeline", &told)
	require.NotEmpty(t, told.Begin)
	require.NotEmpty(t, told.End)
	require.Len(t, told.Hits, 1)
	require.Equal(t, "delete configmaps a in default", told.Hits[0].Operation)
	require.Len(t, told.Exchanges, 3)
	remove, watch, get := told.Exchanges[0], told.Exchanges[1], told.Exchanges[2]
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
	var told struct{ Requests, Exchanges, Hits []any }
	c.getJSON("requests", &told)
	c.getJSON("timeline", &told)
	require.Empty(t, told.Requests)
	require.Empty(t, told.Exchanges)
}
