package page_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	typed "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"

	fakeapi "example.com/fakeapi/fake"
	"example.com/fakeapi/fake/internal/timeline"
	"example.com/fakeapi/faults"
)

// newOutageTimeline returns the timeline of an informer whose list is rejected, and whose watch
// loses an event, is closed and cannot be resumed; of writers that conflict; of a create whose
// response is lost; and of idle minutes.
func newOutageTimeline(t *testing.T) (tl timeline.Timeline) {
	synctest.Test(t, func(t *testing.T) {
		srv := fakeapi.Start(t, fakeapi.WithInMemoryNetwork())
		for _, text := range []string{
			`slow-start: when verb(list, watch) && userAgent("informer") && first(1) do status(504, Timeout, retryAfter(2s))`,
			`lost-event: when event(MODIFIED) && name(db) && first(1) do drop`,
			`lost-reply: when during(committed) && verb(create) && userAgent("editor") && nth(4) do reset`,
			// Both before the timeout of the first watch, which is at least five minutes.
			`cut: when event(BOOKMARK) && after(4m) && first(1) do end`,
			`expired: when verb(watch) && query(resourceVersion) && after(4m) && first(1) do status(410, Expired, "too old resource version")`,
		} {
			rule, err := faults.Parse(text)
			require.NoError(t, err)
			srv.Faults().Add(rule)
		}
		watcher := kubernetes.NewForConfigOrDie(configFor(srv, "informer/v1.4.0 (linux/amd64) kubernetes/7d7e31b", runtime.ContentTypeJSON))
		editor := kubernetes.NewForConfigOrDie(configFor(srv, "editor/v2.0.1 (linux/amd64) kubernetes/7d7e31b", runtime.ContentTypeProtobuf)).CoreV1().ConfigMaps("default")
		scaler := kubernetes.NewForConfigOrDie(configFor(srv, "scaler/v0.9.0 (linux/amd64) kubernetes/7d7e31b", runtime.ContentTypeJSON)).CoreV1().ConfigMaps("default")
		informer := informers.NewSharedInformerFactory(watcher, 0).Core().V1().ConfigMaps().Informer()
		go informer.RunWithContext(t.Context())
		time.Sleep(10 * time.Second)
		require.True(t, informer.HasSynced())

		editConfigMap(t, editor, scaler)
		time.Sleep(12 * time.Minute)
		_, err := editor.Create(t.Context(), configMap("late"), metav1.CreateOptions{})
		require.NoError(t, err)
		time.Sleep(2 * time.Second)
		synctest.Wait()

		tl = recordOf(srv.Timeline())
	})
	return tl
}

// recordOf converts a timeline of the public API.
func recordOf(t fakeapi.Timeline) timeline.Timeline {
	record := timeline.Timeline{Begin: t.Begin, End: t.End, Hits: t.Hits, ExchangesDropped: t.ExchangesDropped}
	for _, n := range t.Notes {
		record.Notes = append(record.Notes, timeline.Note(n))
	}
	for _, e := range t.Exchanges {
		x := timeline.Exchange{
			Seq: e.Seq, Order: e.Order, Begin: e.Begin, End: e.End, UserAgent: e.UserAgent, Method: e.Method, Verb: e.Verb, Path: e.Path,
			StatusCode: e.StatusCode, ResourceVersion: e.ResourceVersion, FramesDropped: e.FramesDropped,
			Request: timeline.Body(e.Request), Response: timeline.Body(e.Response),
		}
		for _, f := range e.Frames {
			x.Frames = append(x.Frames, timeline.Frame{
				Time: f.Time, Order: f.Order, Type: f.Type, Namespace: f.Namespace, Name: f.Name,
				ResourceVersion: f.ResourceVersion, Body: timeline.Body(f.Body),
			})
		}
		record.Exchanges = append(record.Exchanges, x)
	}
	return record
}

func configFor(srv *fakeapi.Server, agent, contentType string) *rest.Config {
	c := srv.RESTConfig()
	c.UserAgent, c.ContentType, c.AcceptContentTypes = agent, contentType, contentType
	return c
}

// editConfigMap lets two writers update the same objects.
func editConfigMap(t *testing.T, editor, scaler typed.ConfigMapInterface) {
	ctx := t.Context()
	for _, name := range []string{"web", "api", "db"} {
		_, err := editor.Create(ctx, configMap(name), metav1.CreateOptions{})
		require.NoError(t, err)
		time.Sleep(40 * time.Millisecond)
	}
	_, err := editor.Create(ctx, configMap("cache"), metav1.CreateOptions{})
	require.Error(t, err, "the answer is lost")
	_, err = editor.Create(ctx, configMap("cache"), metav1.CreateOptions{})
	require.True(t, apierrors.IsAlreadyExists(err))

	for _, name := range []string{"web", "db"} {
		mine, err := editor.Get(ctx, name, metav1.GetOptions{})
		require.NoError(t, err)
		theirs, err := scaler.Get(ctx, name, metav1.GetOptions{})
		require.NoError(t, err)
		theirs.Data["replicas"] = "3"
		_, err = scaler.Update(ctx, theirs, metav1.UpdateOptions{})
		require.NoError(t, err)
		mine.Data["image"] = name + ":2"
		_, err = editor.Update(ctx, mine, metav1.UpdateOptions{})
		require.True(t, apierrors.IsConflict(err))
		time.Sleep(3 * time.Millisecond)
	}
	require.NoError(t, scaler.Delete(ctx, "api", metav1.DeleteOptions{}))
}

func configMap(name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"app": name}}, Data: map[string]string{"replicas": "1"}}
}
