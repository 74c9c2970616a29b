package scenario

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	fakeapi "example.com/fakeapi/fake"
)

// playText runs a text and gives the transcript, and the message if it failed.
func playText(t *testing.T, config Config, text string) (transcript, failure string) {
	t.Helper()
	s, err := parseScript("it.txtar", text)
	require.NoError(t, err, text)
	synctest.Test(t, func(t *testing.T) {
		log, err := playWithTB(t, func(err error) { failure = err.Error() }, config, s)
		transcript = log.String()
		if err != nil {
			failure = err.Error()
		}
	})
	return transcript, failure
}

const object = "\n-- a --\n" + manifest

// failingTexts are texts with a step that fails, and what is said of it.
func failingTexts() []struct{ text, want string } {
	return []struct{ text, want string }{
		{"apply a\nexpect cm/a metadata.name=b\n" + object,
			"it.txtar:2: expect cm/a metadata.name=b\n    expected metadata.name=b; saw metadata.name=a\n"},
		{"apply a\nexpect cm/a data.k=1 metadata.name=b\n" + object, "expected data.k=1; saw no such field\nexpected metadata.name=b"},
		{"apply a\nexpect cm/a metadata.name[0]=b\n" + object, "saw no such field"},
		{"expect cm/a", "it.txtar:1: expect cm/a\n    expected cm/a; saw none\n"},
		{"expect pods/a -n nowhere", "expected pods/a; saw none\n"},
		{"expect foo/a", `expected a kind that is served, found "foo"`},
		{"expect namespace/default -n x", `expected no namespace, found "x": namespaces have none`},
		{"apply a\n-- a --\napiVersion: v1\nkind: Foo\nmetadata: {name: a}\n", "expected a kind that is served, found /v1, Kind=Foo"},
		{"apply a\n-- a --\n" + manifest + "color: red\n", `ConfigMap a: 400 BadRequest: `},
		{"apply a\n-- a --\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: A}\n", "ConfigMap A: 422 Invalid: "},
		{"apply a\nexpect absent cm/a" + object, "expected no cm/a; saw one with resourceVersion "},
		{"apply a\ndelete cm/a\nexpect absent cm/a\n-- a --\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, finalizers: [a.b/c]}\n",
			"which is being deleted; finalizers: a.b/c"},
		{"delete cm/a", `404 NotFound: configmaps "a" not found`},
		{"apply a\nexpect list cm" + object, "expected the cm list []; saw [a]"},
		{"expect list cm a --selector x=y", "expected the cm list [a]; saw []"},
		{"apply a\nexpect same cm default kube-system" + object,
			`expected cm/a to be the same in default and kube-system; saw in default {"apiVersion":"v1","kind":"ConfigMap"}, in kube-system none`},
		{"fault when verb(list) do status(403)\nexpect list cm", "403 Forbidden: "},
		{"expect events w", `there is no watch "w"`},
		{"watch w cm\nwatch w cm", `there is a watch "w" already`},
		{"fault when verb(watch) do status(410)\nwatch w cm", "410 Expired: "},
		{"watch w cm\napply a\nexpect events w DELETED a" + object, "expected of watch w [DELETED a]; saw [ADDED a]"},
		{"watch w cm\napply a\nexpect events w" + object, "expected of watch w []; saw [ADDED a]"},
		{"watch w cm\nexpect events w END", "expected of watch w [END]; saw []"},
		{"fault no: when verb(get) do status(403)\nexpect error Forbidden expect cm/a\nexpect hits no 2", "expected 2 hits of rule no; saw 1"},
		{"expect error x compact", "expected an error with x; saw none"},
		{"expect error zzz expect cm/a", "expected an error with zzz; saw expected cm/a; saw none"},
		{"eventually 5s expect cm/a", "attempt 6, after 5s: expected cm/a; saw none"},
		{"fault when verb(get) do hang\nexpect cm/a", "no answer within 1m0s"},
		{"fault when verb(watch) do hang\nwatch w cm", "no answer within 1m0s"},
		{"run nobody", `there is no client "nobody" in the Config; there are: fails, loops, maker, polls, stays, waits`},
		{"expect done fails", `no client "fails" was started`},
		{"run waits\nrun waits", "expected client waits to have returned, so that it can be run again; saw it still runs"},
		{"run fails\nrun fails", "expected client fails to have returned, so that it can be run again without an error; saw out of luck"},
		{"stop waits", `no client "waits" was started`},
		{"run fails\nstop fails", "expected client fails to run; saw it has returned: out of luck"},
		{"run waits\nadvance 1m\nstop waits", "expected client waits to run; saw it has returned without an error"},
		{"run stays\nstop stays", "it.txtar:2: stop stays\n    expected client stays to return when its context ends; saw it still runs 1m0s later"},
		{"clear fault a", "expected a rule a; saw there are none"},
		{"fault b: when verb(get) do reset\nclear fault a", "expected a rule a; saw b"},
		{"snapshot a\nsnapshot a", `there is a snapshot "a" already`},
		{"restore a", "expected a snapshot a; saw there are none"},
		{"snapshot b\nrestore a", "expected a snapshot a; saw b"},
		{"snapshot b\nrestore b 9223372036854775807", "is more than a resourceVersion can be"},
		{"replica b\nreplica b", `there is a server "b" already`},
		{"replica main", `there is a server "main" already`},
		{"on b compact", "expected a replica b; saw main"},
		{"replica b\non b expect cm/a", "it.txtar:2: on b expect cm/a\n    expected cm/a; saw none"},
		{"replica c\nfreeze b", "expected a replica b; saw main, c"},
		{"catch up main", `expected a replica, found "main", which is always current`},
		{"run waits --on b", "expected a replica b; saw main"},
		{"switch waits main", `no client "waits" was started`},
		{"run waits\nswitch waits b", "expected a replica b; saw main"},
		{"run waits\nadvance 1m\nswitch waits main", "expected client waits to run; saw it has returned without an error"},
		{"apply a\ncreate a" + object, "ConfigMap a: 409 AlreadyExists: "},
		{"create a\n-- a --\n" + generated + "color: red\n", "ConfigMap a-: 400 BadRequest: "},
		{"update a" + object, "ConfigMap a: 404 NotFound: "},
		{"create a\nupdate b" + object + "-- b --\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, resourceVersion: \"1\"}\n",
			"ConfigMap a: 409 Conflict: "},
		{"update a --subresource status" + object, "ConfigMap a: 404 NotFound: "},
		{"patch cm/a {}", "404 NotFound: "},
		{"patch foo/a {}", `expected a kind that is served, found "foo"`},
		{"create a\npatch cm/a {color: red}" + object, "it.txtar:2: patch cm/a {\"color\":\"red\"}\n    "},
		{"create a\npatch cm/a --type json [{op: test, path: /data, value: 1}]" + object, "422 Invalid: "},
		{"apply a --server-side --manager ann\napply b --server-side\n-- a --\n" + manifest + "data: {k: a}\n-- b --\n" + manifest + "data: {k: b}\n",
			`ConfigMap a: 409 Conflict: Apply failed with 1 conflict: conflict with "ann"`},
		{"apply a --server-side\n-- a --\n" + manifest + "color: red\n", "ConfigMap a: "},
		{"discovery hide nothing", `"nothing" is no group of /apis`},
		{"feature Magic on", `feature "Magic" cannot be switched`},
		{"expire token x", "fakeapi: "},
		{"not ready 2m\nwatch w cm", "429 TooManyRequests: "},
		{"shutdown\nexpect absent cm/a", "connection refused"},
		{"shutdown\nrestart 2m\nexpect absent cm/a", "503 ServiceUnavailable: "},
		{"create a\nalways 5s expect absent cm/a" + object, "always 5s expect absent cm/a\n    after 0s: expected no cm/a; saw one with"},
		{"run maker\nalways 5s expect absent cm/made", "after 4s: expected no cm/made; saw one with"},
		{"run polls\nexpect requests polls GET 0 --in 1m", "expected 0 requests of client polls with GET in 1m0s; saw 60"},
		{"run polls\nadvance 10m\nexpect requests polls GET 0 --in 10m", "client polls has made more than 1000 requests"},
		{"watch w cm\ncreate a\nexpect events w ... DELETED a ..." + object, "expected of watch w [... DELETED a ...]; saw [ADDED a]"},
		{"watch w cm\ncreate a\nexpect events w ADDED a ... ADDED a" + object, "expected of watch w [ADDED a ... ADDED a]; saw [ADDED a]"},
		{"expect hits a >=1", "expected >=1 hits of rule a; saw 0"},
		{"fault a: when verb(get) do status(403)\nexpect error Forbidden expect cm/a\nexpect hits a <=0", "expected <=0 hits of rule a; saw 1"},
		{"run waits\nexpect requests waits GET >=1", "expected >=1 requests of client waits with GET; saw 0"},
		{"run waits\nexpect done waits", "expected client waits to have returned without an error; saw it still runs"},
		{"run fails\nexpect done fails", "expected client fails to have returned without an error; saw out of luck"},
		{"run fails\nadvance 1s", "at the end: expected no error of client fails; saw out of luck"},
		{"run fails\nexpect failed fails rain", "expected client fails to have failed with rain; saw out of luck"},
		{"run waits\nexpect failed waits", `expected client waits to have failed with ""; saw it still runs`},
		{"run waits\nadvance 2m\nexpect failed waits", `saw it returned without an error`},
		{"run stays", "at the end: expected client stays to return when its context ends; saw it still runs 1m0s later"},
		{"run loops", "run loops\n    expected client loops to pause; saw more than 5000 requests at one time"},
		{"run waits\nexpect requests waits GET 1", "expected 1 requests of client waits with GET; saw 0"},
		{"expect requests waits GET 0", `no client "waits" was started`},
	}
}

// Each step that can fail does, and says where, what it expected and what it saw.
func TestFailures(t *testing.T) {
	for _, test := range failingTexts() {
		_, failure := playText(t, Config{Clients: badClients()}, test.text)
		require.Contains(t, failure, test.want, test.text)
		require.Contains(t, failure, "transcript so far:\n    seed 0\n", test.text)
	}
}

// badClients are clients under test that do what should not be done.
func badClients() map[string]Client {
	return map[string]Client{
		"fails": func(context.Context, *rest.Config) error { return errors.New("out of luck") },
		"loops": func(ctx context.Context, config *rest.Config) error {
			client, err := kubernetes.NewForConfig(config)
			for err == nil && ctx.Err() == nil {
				_, err = client.CoreV1().Namespaces().Get(ctx, "nowhere", metav1.GetOptions{})
				if err != nil && ctx.Err() == nil {
					err = nil // try again at once
				}
			}
			return err
		},
		"polls": func(ctx context.Context, config *rest.Config) error {
			client, err := kubernetes.NewForConfig(config)
			for ; err == nil; err = sleep(ctx, time.Second) {
				if _, err = client.CoreV1().Namespaces().Get(ctx, "default", metav1.GetOptions{}); err != nil {
					return err
				}
			}
			return err
		},
		"maker": func(ctx context.Context, config *rest.Config) error {
			client, err := kubernetes.NewForConfig(config)
			if err == nil {
				err = sleep(ctx, 3500*time.Millisecond)
			}
			if err == nil {
				made := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "made"}}
				_, err = client.CoreV1().ConfigMaps("default").Create(ctx, made, metav1.CreateOptions{})
			}
			return err
		},
		"stays": func(context.Context, *rest.Config) error { time.Sleep(24 * time.Hour); return nil },
		"waits": func(ctx context.Context, _ *rest.Config) error { return sleep(ctx, time.Minute) },
	}
}

// passingTexts are texts that are no failure, although they are near to one.
func passingTexts() []string {
	return []string{
		"",
		"run fails\nexpect failed fails",
		"run fails\nexpect failed fails luck",
		"run waits", // its context ends first
		"run waits\nadvance 1m\nexpect done waits",
		"run waits\neventually 2m expect done waits",
		"run waits\nstop waits\nexpect failed waits \"context canceled\"\nrun waits\nadvance 1m\nexpect done waits",
		"run fails\nexpect failed fails\nrun fails\nexpect failed fails",
		"run polls\nadvance 5s\nstop polls\nexpect requests polls GET 6\nadvance 5s\nrun polls\nexpect requests polls GET 7\nexpect requests polls GET >=7",
		"fault a: when verb(get) do status(403)\nfault b: when verb(get) do status(500)\nclear fault a\nexpect error 500 expect cm/a\n" +
			"expect hits a 0\nexpect hits b >=1\nexpect hits b <=1",
		"fault a: when verb(get) do status(403)\nfault b: when verb(get) do status(500)\nclear faults\nexpect absent cm/a\nexpect hits a 0",
		"apply a\ncompact\nexpect cm/a\nexpire\nwatch w cm --from 1\nexpect events w ERROR Expired END" + object,
		"snapshot s\napply a\nrestore s\nexpect absent cm/a\nwatch w cm\napply a\nrestore s 1000\nexpect events w ADDED a END" + object,
		"create a\ncreate a\nexpect error \"expected the cm list\" expect list cm\n-- a --\n" + generated,
		"create a\nupdate a --subresource status\nexpect ns/a status.phase=Active\n-- a --\napiVersion: v1\nkind: Namespace\nmetadata: {name: a}\nstatus: {phase: Active}\n",
		"create a\npatch cm/a {data: {k: 1 2, l: \"\"}}\npatch cm/a --type json [{op: remove, path: /data/l}]\npatch cm/a --type strategic {metadata: {finalizers: [a.b/c]}}\n" +
			"update a\nexpect error \"no such field\" expect cm/a data.k=\"1 2\"" + object,
		"create a\npatch pod/a --subresource status {status: {phase: Failed}}\npatch pod/a {status: {phase: Running}}\nexpect pod/a status.phase=Failed\n" +
			"-- a --\napiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: a, image: b}]}\n",
		"apply a --server-side --manager ann\napply b --server-side --force\nexpect cm/a data.k=b metadata.managedFields[0].manager=scenario\n" +
			"-- a --\n" + manifest + "data: {k: a}\n-- b --\n" + manifest + "data: {k: b}\n",
		"shutdown\nshutdown\nrestart\nrestart\nexpect list cm",
		"watch w cm\napply a\nshutdown\nexpect error refused apply a\nexpect events w ADDED a END\nrestart 5s\nwatch v cm\nexpect events v ADDED a\n" +
			"expect list cm a" + object,
		"watch w cm\nnot ready 1m\nexpect events w END\nexpect absent cm/a\nnot ready 0s\nwatch v cm\nexpect events v",
		"apply a\nskew -24h\napply b\nskew 0s\nexpect cm/a metadata.creationTimestamp=2000-01-01T00:00:00Z\n" +
			"expect cm/b metadata.creationTimestamp=1999-12-31T00:00:00Z" + object + "-- b --\n" + strings.ReplaceAll(manifest, "name: a", "name: b"),
		"feature WatchList off\nfeature WatchList on\ndiscovery fail apps\ndiscovery reset apps\ndiscovery hide apps batch\ndiscovery reset",
		// At a replica they are about that replica.
		"replica b\non b shutdown\nexpect list cm\non b expect error refused expect list cm\non b restart\non b expect list cm",
		"run maker\nalways 3s expect absent cm/made\nadvance 500ms\nexpect cm/made\nalways 1h expect cm/made",
		"run polls\nexpect requests polls GET <=60 --in 1m\nstop polls\nexpect requests polls \"\" 0 --in 1h\nexpect requests polls GET >=60",
		"watch w cm\ncreate a\npatch cm/a {data: {k: v}}\ndelete cm/a\nexpect events w ... DELETED a ...\nexpect events w\nexpect events w ...\n" +
			"create a\nexpect error \"of watch w\" expect events w ... DELETED a ...\nexpect events w ... ADDED a" + object,
		"watch w cm\nadvance 2m\nexpect events w ... BOOKMARK BOOKMARK ...\nadvance 1m\nexpect events w ...",
		// What was missed comes into view; what a step asks for without a revision is current.
		"replica b --frozen\non b watch w cm\napply a\non b expect cm/a\nexpect events w\ncatch up b\nexpect events w ADDED a" + object,
		"replica b\nfreeze b\non b watch w cm\napply a\nexpect events w\non main watch v cm\nexpect events v ADDED a" + object,
		"replica b --lag 1\non b watch w cm\napply a\nexpect events w\napply b\nexpect events w ADDED a" + object + "-- b --\n" +
			strings.ReplaceAll(manifest, "name: a", "name: b"),
		"advance 2s\nreplica b --delay 2s\non b watch w cm\napply a\nadvance 1999ms\nexpect events w\nadvance 1ms\nexpect events w ADDED a" + object,
		// Each server has its own rules; their hits are counted together.
		"replica b\non b fault no: when verb(get) do status(403)\nexpect error NotFound delete cm/a\non b expect error Forbidden expect cm/a\n" +
			"expect error NotFound delete cm/a\nexpect hits no 1\nexpect error \"expected a rule no\" clear fault no\non b clear fault no\non b expect absent cm/a",
		"replica b\nrun polls --on b\nadvance 2s\nexpect requests polls \" 200 on b\" 3\nswitch polls main\nadvance 2s\n" +
			"expect requests polls \" 200 on b\" 3\nexpect requests polls \" 200\" 5",
		"expect error NotFound delete cm/a",
		"fault when verb(watch) do error(500, \"\", broken)\nwatch w cm\nexpect events w ERROR 500 END",
		"apply a\nexpect cm/a metadata.finalizers[1]=x.y/z metadata.finalizers=[\"a.b/c\",\"x.y/z\"] metadata[\"labels\"][\"a.b/c\"]=d" +
			"\n-- a --\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, finalizers: [a.b/c, x.y/z], labels: {a.b/c: d}}\n",
		"expect error \"no such field\" expect ns/default spec.finalizers[1]=a",
		"expect error \"no such field\" expect ns/default spec.finalizers.name=a",
		"expect error \"no such field\" expect ns/default spec.finalizers[0].name=a",
		"expect error none expect error x compact",
		"watch w cm\nadvance 61m\nexpect events w END",
		"watch w cm -A\napply a\nexpect events w ADDED default/a\nexpect list ConfigMaps -A default/a" + object,
		"watch w cm --selector x=y\napply a\nexpect events w\nexpect list cm --selector x=y" + object,
		"apply a\nexpect same cm default kube-system\n-- a --\n" + manifest + "---\n" + strings.Replace(manifest, "}", ", labels: {a: b}, namespace: kube-system}", 1),
		"apply a\napply a\nexpect cm/a kind=ConfigMap metadata.name=a\n-- a --\n" + manifest,
		"expect ns/default status.phase=Active spec.finalizers=[\"kubernetes\"]",
	}
}

// What is no failure goes well.
func TestPasses(t *testing.T) {
	for _, text := range passingTexts() {
		_, failure := playText(t, Config{Clients: badClients()}, text)
		require.Empty(t, failure, text)
	}
}

// Each kind of step is in one of these texts.
func TestAllStepsAreRun(t *testing.T) {
	texts := passingTexts()
	for _, test := range failingTexts() {
		texts = append(texts, test.text)
	}
	covered := map[string]bool{}
	for _, text := range texts {
		s, err := parseScript("it.txtar", text)
		require.NoError(t, err)
		for _, p := range s {
			c, _, err := findStepKind(p.step.String())
			require.NoError(t, err)
			covered[c.name] = true
		}
	}
	for _, c := range stepKinds() {
		require.True(t, covered[c.name], "no row for %q", c.name)
	}
}

// More hits in one step than the set remembers, or more requests than are kept,
// are no count.
func TestTooManyToCount(t *testing.T) {
	const begin = "fault all: when verb(get) do delay(1ms)\nrun polls\n"
	clients := Config{Clients: badClients()}
	_, failure := playText(t, clients, begin+"advance 9m\nadvance 9m\nexpect hits all 1079\n")
	require.Empty(t, failure)
	_, failure = playText(t, clients, begin+"advance 18m\nexpect hits all 1079\n")
	require.Contains(t, failure, "the rules acted so often within one step that 54 hits were forgotten")
	_, failure = playText(t, clients, begin+"advance 18m\nexpect requests polls GET 1079\n")
	require.Contains(t, failure, "client polls has made more than 1000 requests, which are not counted any more")
}

func TestScriptFiles(t *testing.T) {
	empty := &fstest.MapFile{}
	names, err := scriptFiles(fstest.MapFS{"b.txtar": empty, "a.txt": empty, "c/d.txtar": empty, "e.txtar/f": empty})
	require.NoError(t, err)
	require.Equal(t, []string{"b.txtar", "c/d.txtar"}, names)
	_, err = scriptFiles(fstest.MapFS{"a.txt": empty})
	require.EqualError(t, err, "there is no file that ends in .txtar")
}

// The reminder about throttled error handlers appears where it may help.
func TestThrottleHint(t *testing.T) {
	_, failure := playText(t, Config{Clients: badClients()}, "run waits\nexpect cm/a")
	require.NotContains(t, failure, "throttled", "TestMain has taken the throttle out")
	before := utilruntime.ErrorHandlers
	t.Cleanup(func() { utilruntime.ErrorHandlers = before })
	utilruntime.ErrorHandlers = slices.Concat(before, before)
	_, failure = playText(t, Config{Clients: badClients()}, "run waits\nexpect cm/a")
	require.Contains(t, failure, "throttled")
}

// A step of one's own has the server, requests that are noted, and notes.
type generateStep struct{}

func (generateStep) String() string { return "generate a name" }

func (generateStep) Run(ctx context.Context, e *Env) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, e.Server().URL()+"/api/v1/namespaces/default/configmaps",
		strings.NewReader(`{"metadata":{"generateName":"made-"}}`))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	client, err := rest.HTTPClientFor(e.Config())
	if err != nil {
		return err
	}
	answer, err := client.Do(request)
	if err != nil {
		return err
	}
	e.Note("found at %s", answer.Header.Get("Date"))
	return answer.Body.Close()
}

// unknownFieldStep writes a field that is unknown, and takes the warning.
type unknownFieldStep struct{}

func (unknownFieldStep) String() string { return "be sloppy" }

func (unknownFieldStep) Run(ctx context.Context, e *Env) error {
	o := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "a"}, "color": "red",
	}}
	resource, err := e.resourceOf(o)
	if err != nil {
		return err
	}
	_, err = resource.Create(ctx, o, metav1.CreateOptions{FieldValidation: metav1.FieldValidationWarn})
	return err
}

func TestWarningsInTranscript(t *testing.T) {
	require.Contains(t, Run(t, Config{}, unknownFieldStep{}).String(), `warning: unknown field "color"`)
}

func TestRun(t *testing.T) {
	watch := Watch("w", Collection{Kind: "cm"})
	one := Run(t, Config{Seed: 7}, watch, generateStep{}).String()
	require.Equal(t, one, Run(t, Config{Seed: 7, Options: []fakeapi.Option{fakeapi.WithSeed(7)}}, watch, generateStep{}).String())
	other := Run(t, Config{Seed: 8}, watch, generateStep{}).String()
	name := func(log string) string {
		_, behind, found := strings.Cut(log, "ADDED made-")
		require.True(t, found, log)
		return behind[:5]
	}
	require.NotEqual(t, name(one), name(other))
	require.Contains(t, one, "POST /api/v1/namespaces/default/configmaps 201\n")
	require.Contains(t, one, "found at Sat, 01 Jan 2000 00:00:00 GMT\n")
}
