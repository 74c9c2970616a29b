package scenario

import (
	"context"
	_ "embed"
	"flag"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

var update = flag.Bool("update", false, "write the recorded transcript anew")

// fullScenario is a scenario without a client under test. Among other faults it has 410 on a watch,
// 504 with Retry-After, dropped bookmarks, a broken stream and a lost response.
const fullScenario = `
apply all.yaml
watch here cm
watch everywhere configmaps -A --selector app=web
watch old cm --from 1
expect events old ERROR Expired END
fault behind: when verb(list) && first(2) do status(504, Timeout, cause(ResourceVersionTooLarge, "Too large resource version"), retryAfter(2s))
expect list cm a b
fault drop: when event(BOOKMARK) && userAgent(scenario/here) && nth(2) do drop
advance 3m30s
expect events here ADDED a ADDED b BOOKMARK BOOKMARK BOOKMARK
expect events everywhere ADDED default/b ADDED x/c BOOKMARK BOOKMARK BOOKMARK BOOKMARK
fault slow: when event(BOOKMARK) do delay(1s)
fault break: when event(MODIFIED) && name(a) do reset
fault twice: when event(MODIFIED) && name(b) do duplicate, delay(90s)
apply changed.yaml
expect events here END
eventually 2m expect events everywhere MODIFIED default/b MODIFIED default/b
fault lost: when verb(delete) && during(committed) do reset
expect error "" delete cm/c -n x
expect absent cm/c -n x
eventually 5s expect events everywhere DELETED x/c
clear faults
watch again cm
watch and-again cm
fault twice: when verb(watch) && event(BOOKMARK) do duplicate
compact
expire
advance 3m
expect events again ADDED a ADDED b
expect events everywhere
expect hits behind 2
snapshot before
replica late --delay 10s
on late watch there cm
on late fault shy: when event(BOOKMARK) && first(1) do drop
watch here-again cm
apply changed.yaml --server-side --manager ann --force
patch cm/b {data: {v: "3"}}
advance 10s
expect events there ADDED a ADDED b MODIFIED a MODIFIED b MODIFIED b
eventually 3m expect events here-again ... BOOKMARK
not ready 3s
expect events there
expect events here-again END
restore before 100
expect events there END
shutdown
restart 3s
expect list cm a b
on late expect cm/b data.v=2
expect hits shy 1
-- all.yaml --
apiVersion: v1
kind: Namespace
metadata: {name: x}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: a}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: b, labels: {app: web}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: c, namespace: x, labels: {app: web}}
-- changed.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: a}
data: {v: "2"}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: b, labels: {app: web}}
data: {v: "2"}
`

//go:embed testdata/full_scenario.transcript
var recordedTranscript string

// The transcript is the same as that of another process, which is recorded in a file. go test
// -update writes it.
func TestTranscriptIsReproducible(t *testing.T) {
	for i := range 20 {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			transcript, failure := playText(t, Config{Seed: 42}, fullScenario)
			require.Empty(t, failure)
			if *update {
				require.NoError(t, os.WriteFile("testdata/full_scenario.transcript", []byte(transcript), 0o644))
				return
			}
			require.Equal(t, recordedTranscript, transcript)
		})
	}
}

// A request of a step is ordered after the simultaneous actions of clients, however long they take.
// The GET of the step is repeated at the time when the client creates the object.
func TestTranscriptOfOneInstant(t *testing.T) {
	late := func(ctx context.Context, config *rest.Config) error {
		client, err := kubernetes.NewForConfig(config)
		if err == nil {
			err = sleep(ctx, time.Minute)
		}
		for range 100 {
			if err == nil {
				_, err = client.CoreV1().Namespaces().Get(ctx, "default", metav1.GetOptions{})
			}
		}
		if err == nil {
			made := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a"}}
			_, err = client.CoreV1().ConfigMaps("default").Create(ctx, made, metav1.CreateOptions{})
		}
		return err
	}
	_, failure := playText(t, Config{Clients: map[string]Client{"late": late}}, `
run late
advance 59s
fault busy: when userAgent(scenario) && verb(get) && first(1) do status(429, retryAfter(1s))
expect cm/a
expect hits busy 1
`)
	require.Empty(t, failure)
}
