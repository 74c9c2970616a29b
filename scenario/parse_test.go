package scenario

import (
	"errors"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"

	fakeapi "example.com/fakeapi/fake"
	"example.com/fakeapi/faults"
)

// generated is a manifest that only create takes.
const generated = "apiVersion: v1\nkind: ConfigMap\nmetadata: {generateName: a-}\n"

const manifest = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"

// texts are lines, the steps they stand for, and how these print if not so.
func stepTexts(t *testing.T) []struct {
	text  string
	step  Step
	print string
} {
	rule, err := faults.Parse(`"a b": when verb(list) && name("#") do status(410)`)
	require.NoError(t, err)
	a := Ref{Kind: "configmap", Name: "a"}
	return []struct {
		text  string
		step  Step
		print string
	}{
		{"advance 5m", Advance(5 * time.Minute), "advance 5m0s"},
		{"  advance\t1ns # a remark", Advance(1), "advance 1ns"},
		{"always 30s expect absent configmap/a", Always(30*time.Second, ExpectAbsent(a)), ""},
		{"apply a.yaml", Apply("a.yaml", manifest), ""},
		{`apply "b c.yaml"`, Apply("b c.yaml", manifest), ""},
		{"apply --force --manager ann a.yaml --server-side", ServerSideApply("a.yaml", manifest, "ann", true),
			"apply a.yaml --server-side --manager ann --force"},
		{"apply a.yaml --server-side", ServerSideApply("a.yaml", manifest, "", false), ""},
		{"catch up b", CatchUp("b"), ""},
		{"clear fault lost", ClearFault("lost"), ""},
		{"clear faults", ClearFaults(), ""},
		{"compact", Compact(), ""},
		{"create a.yaml", Create("a.yaml", manifest), ""},
		{"delete configmap/a", Delete(a), ""},
		{"delete -n x deploy.apps/a", Delete(Ref{"deploy.apps", "a", "x"}), "delete deploy.apps/a -n x"},
		{`delete "a b/c/d" -n "-n"`, Delete(Ref{"a b", "c/d", "-n"}), ""},
		{"discovery hide apps batch", Discovery("hide", "apps", "batch"), ""},
		{"discovery reset", Discovery("reset"), ""},
		{"eventually 30s compact", Eventually(30*time.Second, Compact()), ""},
		{"eventually 1s eventually 2s apply a.yaml # so", Eventually(time.Second, Eventually(2*time.Second, Apply("a.yaml", manifest))),
			"eventually 1s eventually 2s apply a.yaml"},
		{"expect configmap/a", Expect(a), ""},
		{"expect configmap/a data.k=1 -n default", Expect(Ref{"configmap", "a", "default"}, Field{"data.k", "1"}), "expect configmap/a -n default data.k=1"},
		{`expect configmap/a data["a b"]="x y" spec.list[0].n=`, Expect(a, Field{`data["a b"]`, "x y"}, Field{"spec.list[0].n", ""}),
			`expect configmap/a data["a b"]="x y" spec.list[0].n=""`},
		{`expect configmap/a metadata.finalizers=["a/b"]`, Expect(a, Field{"metadata.finalizers", `["a/b"]`}),
			`expect configmap/a metadata.finalizers="[\"a/b\"]"`},
		{`expect configmap/a data["="]["]"]==`, Expect(a, Field{`data["="]["]"]`, "="}), ""},
		{"expect absent configmap/a", ExpectAbsent(a), ""},
		{"expect done mine", ExpectDone("mine"), ""},
		{`expect error "409 Conflict" apply a.yaml`, ExpectError("409 Conflict", Apply("a.yaml", manifest)), ""},
		{`expect error "" expire`, ExpectError("", Expire()), ""},
		{"expect events w", ExpectEvents("w"), ""},
		{"expect events w ADDED a MODIFIED x/b BOOKMARK DELETED a ERROR Expired END",
			ExpectEvents("w", Event{"ADDED", "a"}, Event{"MODIFIED", "x/b"}, Event{Type: "BOOKMARK"}, Event{"DELETED", "a"}, Event{"ERROR", "Expired"}, Event{Type: "END"}), ""},
		{"expect events w ... DELETED a ...", ExpectEvents("w", Event{Type: "..."}, Event{"DELETED", "a"}, Event{Type: "..."}), ""},
		{"expect failed mine", ExpectFailed("mine", ""), ""},
		{`expect failed mine "no luck"`, ExpectFailed("mine", "no luck"), ""},
		{"expect hits lost 3", ExpectHits("lost", Exactly(3)), ""},
		{"expect hits lost >=3", ExpectHits("lost", AtLeast(3)), ""},
		{"expect list pods", ExpectList(Collection{Kind: "pods"}), ""},
		{"expect list pods -A x/a x/b", ExpectList(Collection{Kind: "pods", AllNamespaces: true}, "x/a", "x/b"), ""},
		{"expect list pods a --selector 'a in (b)'", nil, ""},
		{`expect list pods a --selector "a in (b)" b`, ExpectList(Collection{Kind: "pods", Selector: "a in (b)"}, "a", "b"),
			`expect list pods --selector "a in (b)" a b`},
		{`expect requests mine "POST " 0`, ExpectRequests("mine", "POST ", Exactly(0)), ""},
		{`expect requests mine "POST " <=2`, ExpectRequests("mine", "POST ", AtMost(2)), ""},
		{"expect requests mine GET <=2 --in 1m", ExpectRequestsIn(time.Minute, "mine", "GET", AtMost(2)), "expect requests mine GET <=2 --in 1m0s"},
		{"expect same cm default b", ExpectSame("cm", "default", "b"), ""},
		{"expire", Expire(), ""},
		{"expire token s3cret", ExpireToken("s3cret"), ""},
		{`fault "a b": when verb(list) && name("#") do status(410) # so`, Fault(rule), `fault "a b": when verb(list) && name("#") do status(410)`},
		{"feature WatchList off", Feature(fakeapi.WatchList, false), ""},
		{"feature WatchList on", Feature(fakeapi.WatchList, true), ""},
		{"freeze b", Freeze("b"), ""},
		{"not ready 90s", NotReady(90 * time.Second), "not ready 1m30s"},
		{`on "a b" apply a.yaml # so`, On("a b", Apply("a.yaml", manifest)), `on "a b" apply a.yaml`},
		{"on b eventually 1s on main compact", On("b", Eventually(time.Second, On("main", Compact()))), ""},
		{`patch configmap/a {"data":{"k":"v w"}}`, Patch(a, types.MergePatchType, `{data: {k: v w}}`), ""},
		{`patch configmap/a -n default --subresource status { b : [ 1.0 , "#" ] , a: ~} # so`,
			PatchSubresource(Ref{"configmap", "a", "default"}, "status", types.MergePatchType, `{"a":null,"b":[1,"#"]}`),
			`patch configmap/a -n default --subresource status {"a":null,"b":[1,"#"]}`},
		{`patch --type json configmap/a [{op: remove, path: /data/k}]`, Patch(a, types.JSONPatchType, `[{"op":"remove","path":"/data/k"}]`),
			`patch configmap/a --type json [{"op":"remove","path":"/data/k"}]`},
		{"patch configmap/a --type strategic {}", Patch(a, types.StrategicMergePatchType, "{}"), ""},
		{"replica b", Replica("b", Current()), ""},
		{"replica --frozen b", Replica("b", Frozen()), "replica b --frozen"},
		{"replica b --lag 03", Replica("b", Lag(3)), "replica b --lag 3"},
		{"replica b --delay 90s", Replica("b", Delay(90*time.Second)), "replica b --delay 1m30s"},
		{"restart", Restart(0), ""},
		{"restart 5s", Restart(5 * time.Second), ""},
		{"restore backup", Restore("backup", 0), ""},
		{"restore backup 1000", Restore("backup", 1000), ""},
		{"run mine", RunClient("mine"), ""},
		{"run --on b mine", RunClientOn("mine", "b"), "run mine --on b"},
		{"shutdown", Shutdown(), ""},
		{"skew -5m", Skew(-5 * time.Minute), "skew -5m0s"},
		{"skew 0s", Skew(0), ""},
		{"snapshot backup", Snapshot("backup"), ""},
		{"stop mine", StopClient("mine"), ""},
		{"switch mine b", SwitchClient("mine", "b"), ""},
		{"update a.yaml", Update("a.yaml", manifest), ""},
		{"update a.yaml --subresource status", UpdateSubresource("a.yaml", manifest, "status"), ""},
		{"watch w pods", Watch("w", Collection{Kind: "pods"}), ""},
		{"watch w pods --from 1 --selector a=b -n x", WatchFrom("w", Collection{Kind: "pods", Namespace: "x", Selector: "a=b"}, "1"),
			"watch w pods -n x --selector a=b --from 1"},
	}
}

const stepFiles = "-- a.yaml --\n" + manifest + "-- b c.yaml --\n" + manifest

// withFiles adds the files that a line uses.
func withFiles(line string) string {
	a := parseArchive(stepFiles)
	var used []file
	for _, f := range a.files {
		if strings.Contains(line+" ", " "+quote(f.name)+" ") {
			used = append(used, f)
		}
	}
	return archive{line + "\n", used}.String()
}

func TestStepsParseAndPrint(t *testing.T) {
	covered := map[string]bool{}
	for _, test := range stepTexts(t) {
		got, err := Parse(withFiles(test.text))
		if test.step == nil {
			require.Error(t, err, test.text)
			continue
		}
		require.NoError(t, err, test.text)
		require.Equal(t, []Step{test.step}, got, test.text)
		want := test.print
		if want == "" {
			want = test.text
		}
		require.Equal(t, want, test.step.String())
		text, err := Print(test.step)
		require.NoError(t, err, test.text)
		require.Equal(t, withFiles(want), text)
		c, _, err := findStepKind(test.text)
		require.NoError(t, err)
		covered[c.name] = true
	}
	for _, c := range stepKinds() {
		require.True(t, covered[c.name], "no row for %q", c.name)
	}
}

// All steps in one archive, with files that are used twice and stand once.
func TestParsePrintIsIdentity(t *testing.T) {
	var steps []Step
	for _, test := range stepTexts(t) {
		if test.step != nil {
			steps = append(steps, test.step)
		}
	}
	text, err := Print(steps...)
	require.NoError(t, err)
	require.Equal(t, 1, strings.Count(text, "-- a.yaml --"))
	back, err := Parse(text)
	require.NoError(t, err)
	require.Equal(t, steps, back)
	again, err := Print(back...)
	require.NoError(t, err)
	require.Equal(t, text, again)
}

// foreignStep is a step that no file can have.
type foreignStep struct{ Step }

func (foreignStep) String() string { return "compact" }

func TestPrintRefuses(t *testing.T) {
	for name, test := range map[string]struct {
		steps []Step
		says  string
	}{
		"two contents of a file":  {[]Step{Apply("a", manifest), Apply("a", manifest+"data: {}\n")}, `found "a" twice`},
		"an archive in a file":    {[]Step{Apply("a", manifest+"-- b --\n")}, "uses the file"},
		"no manifest":             {[]Step{Apply("a", "")}, "expected an object"},
		"a name that is no name":  {[]Step{Apply("a\nb", manifest)}, "expected a file"},
		"a name with blanks":      {[]Step{Apply(" a", manifest)}, "expected a file"},
		"a step of somebody else": {[]Step{foreignStep{}}, "they would be others"},
		"a path that is no path":  {[]Step{Expect(Ref{"cm", "a", ""}, Field{"a b", "1"})}, "PATH=VALUE"},
		"no kind":                 {[]Step{Delete(Ref{Name: "a"})}, "KIND/NAME"},
		"no time":                 {[]Step{Advance(0)}, "at least"},
		"no patch":                {[]Step{Patch(Ref{"cm", "a", ""}, types.MergePatchType, "{a")}, "a patch in JSON or YAML"},
		"a patch of another type": {[]Step{Patch(Ref{"cm", "a", ""}, types.MergePatchType, "[]")}, "a list of operations for --type json"},
		"an unknown patch type":   {[]Step{Patch(Ref{"cm", "a", ""}, types.ApplyYAMLPatchType, "{}")}, "behind --type"},
		"an object with no name":  {[]Step{Apply("a", generated)}, "which create takes"},
	} {
		text, err := Print(test.steps...)
		require.ErrorContains(t, err, test.says, name)
		require.Empty(t, text, name)
	}
}

func TestParseRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"\n# remark\n\nfly\n": `line 4: expected a step (advance, always, apply,`,
		"expect":              "line 1: expected KIND/NAME, found the end of the line (expect KIND/NAME",
		"clear":               `line 1: expected a step (`,
		"compact now":         `line 1: expected the end of the line, found "now" (compact)`,
		"compact -n x":        `line 1: expected no flag, found -n (compact)`,
		"advance":             "line 1: expected a duration, found the end of the line (advance DURATION)",
		"advance -5m":         `line 1: expected a duration of at least 1ns, found -5m0s`,
		"advance 5m 6m":       `line 1: expected the end of the line, found "6m"`,
		`run "a`:              `line 1: expected a closing double quote behind "a`,
		`run "a"b`:            `line 1: expected a blank behind the closing double quote in "a"b`,
		`run ""`:              `line 1: expected the name of a client, found ""`,
		"apply b.yaml\n-- a.yaml --\n" + manifest: `line 1: expected a file of this scenario (a.yaml), found "b.yaml" (apply FILE [`,
		"apply a.yaml":                                                 `line 1: expected a file of this scenario (there are none), found "a.yaml"`,
		"compact\n-- a.yaml --\n" + manifest:                           `line 2: expected a step that uses the file "a.yaml", found none`,
		"apply a\n-- a --\n" + manifest + "-- a --\n":                  `line 6: expected each file once, found "a" twice`,
		"apply a\n-- a --\nkind: Pod\n":                                "line 2: manifest a: document 1: expected apiVersion and kind",
		"apply a\n-- a --\n# nothing\n":                                "line 2: manifest a: expected an object, found nothing",
		"apply a\n-- a --\n" + manifest + "---\n[1]\n":                 "line 2: manifest a: document 2: expected the fields of an object",
		"apply a\n-- a --\na: 1\na: 2\n":                               "line 2: manifest a: document 1: ",
		"apply a\n-- a --\nkind: Pod\napiVersion: v1\n":                "line 2: manifest a: document 1: expected metadata.name",
		"apply a\n-- a --\nkind: PodList\napiVersion: v1\nitems: []\n": "line 2: manifest a: document 1: expected one object a document, found a PodList",
		"delete cm":                             `line 1: expected KIND/NAME, found "cm"`,
		`expect same cm "" b`:                   `line 1: expected a kind and two namespaces, found ""`,
		"delete cm/a b":                         `line 1: expected the end of the line, found "b"`,
		"delete cm/a -n":                        "line 1: expected a value behind -n, found the end of the line",
		"delete cm/a -n x -n y":                 "line 1: expected -n once, found it twice",
		"delete cm/a -A":                        "line 1: expected one of the flags -n, found -A",
		"expect list pods -n x -A":              "line 1: expected -n or -A, found both",
		`expect list pods --selector "a in"`:    `line 1: expected a label selector, found "a in"`,
		"expect cm/a data":                      "line 1: expected PATH=VALUE, found data (",
		"expect cm/a =1":                        "line 1: expected PATH=VALUE, found =1: expected the name of a field",
		"expect cm/a data..k=1":                 "line 1: expected PATH=VALUE, found data..k=1: expected the name of a field",
		"expect cm/a a[x]=1":                    `found a[x]=1: expected a number or a text in double quotes between brackets, found "x"`,
		`expect cm/a a["x"=1`:                   `found a["x"=1: expected "]", found "=1"`,
		"expect cm/a a[0]b=1":                   `found a[0]b=1: expected ".", "[" or "=" before "b=1"`,
		"expect events w CREATED a":             `line 1: expected ADDED, MODIFIED, DELETED, ERROR, BOOKMARK, END or ..., found "CREATED"`,
		"expect events w ADDED":                 "line 1: expected a name behind ADDED",
		"expect hits lost many":                 `line 1: expected a number, or one behind >= or <=, found "many"`,
		"expect hits lost >= 3":                 "line 1: expected the end of the line",
		"expect hits lost <=-3":                 `line 1: expected a number, or one behind >= or <=, found "<=-3"`,
		"clear fault":                           "line 1: expected more, found the end of the line (clear fault NAME)",
		"run mine --on":                         "line 1: expected a value behind --on, found the end of the line (run CLIENT [--on REPLICA])",
		"run --on b":                            "line 1: expected more, found the end of the line",
		"on b":                                  `line 1: expected a step (`,
		"on":                                    "line 1: expected the name of a replica, found the end of the line",
		"replica b --frozen --lag 1":            "line 1: expected one of --frozen, --lag and --delay, found more (replica NAME",
		"replica b --lag -1":                    `line 1: expected a number of changes behind --lag, found "-1"`,
		"replica b --delay soon":                `line 1: expected a duration such as "90s" or "5m", found "soon"`,
		"replica b --delay -1s":                 "line 1: expected a duration of at least 0s, found -1s",
		`replica ""`:                            `line 1: expected a name for the replica, found ""`,
		"freeze":                                "line 1: expected more, found the end of the line (freeze REPLICA)",
		"switch mine":                           "line 1: expected more, found the end of the line (switch CLIENT REPLICA)",
		"apply a --force\n-- a --\n" + manifest: "line 1: expected --server-side beside --manager or --force (apply FILE",
		"apply a\n-- a --\n" + generated:        "line 1: expected metadata.name in a, found generateName, which create takes",
		"update a\n-- a --\n" + generated:       "line 1: expected metadata.name in a, found generateName, which create takes",
		"update":                                "line 1: expected more, found the end of the line (update FILE [--subresource NAME])",
		"create a b":                            `line 1: expected the end of the line, found "b" (create FILE)`,
		"patch cm/a":                            "line 1: expected KIND/NAME and then a patch that begins with { or [, found the end of the line (patch KIND/NAME",
		"patch {}":                              "line 1: expected more, found the end of the line",
		"patch cm {}":                           `line 1: expected KIND/NAME, found "cm"`,
		`patch "cm {}`:                          "line 1: expected a closing double quote",
		"patch cm/a --type apply {}":            `line 1: expected merge, json or strategic behind --type, found "apply"`,
		"patch cm/a []":                         "line 1: expected a list of operations for --type json, and else the fields of an object",
		"patch cm/a --type json {}":             "line 1: expected a list of operations for --type json",
		"patch cm/a {a: 1, a: 2}":               "line 1: expected a patch in JSON or YAML, found {a: 1, a: 2}: ",
		`patch cm/a {"a": 1, "a": 2}`:           `line 1: expected a patch in JSON or YAML, found {"a": 1, "a": 2}: `,
		"patch cm/a {a":                         "line 1: expected a patch in JSON or YAML, found {a: ",
		"patch cm/a {}, b: 1":                   "line 1: expected a patch in JSON or YAML, found {}, b: 1: it is more than what stands in brackets",
		"patch cm/a {}: 1":                      "line 1: expected a patch in JSON or YAML, found {}: 1",
		"discovery":                             "line 1: expected more, found the end of the line (discovery hide|",
		"discovery lose apps":                   `line 1: expected one of fail, flap, hide, reset, stale, found "lose"`,
		"discovery hide":                        "line 1: expected an API group, found none",
		"expire token":                          "line 1: expected more, found the end of the line (expire token TOKEN)",
		"feature WatchList":                     "line 1: expected more, found the end of the line (feature NAME on|off)",
		"feature WatchList of":                  `line 1: expected on or off, found "of"`,
		"not ready -1s":                         "line 1: expected a duration of at least 0s, found -1s (not ready DURATION)",
		"skew":                                  "line 1: expected a duration, found the end of the line (skew DURATION)",
		"skew 1h now":                           `line 1: expected the end of the line, found "now"`,
		"shutdown now":                          `line 1: expected the end of the line, found "now" (shutdown)`,
		"restart soon":                          `line 1: expected a duration such as "90s" or "5m", found "soon" (restart [STARTUP])`,
		"always 1m":                             `line 1: expected a step (`,
		"always 0s compact":                     "line 1: expected a duration of at least 1ns, found 0s",
		"expect requests mine GET 1 --in 0s":    "line 1: expected a duration of at least 1ns, found 0s",
		"restore":                               "line 1: expected more, found the end of the line (restore NAME [BUMP])",
		"restore a -1":                          "line 1: expected no flag, found -1",
		"restore a much":                        `line 1: expected a number of revisions, found "much"`,
		"snapshot a b":                          `line 1: expected the end of the line, found "b"`,
		`stop ""`:                               `line 1: expected the name of a client, found ""`,
		"expect requests mine GET -1":           "line 1: expected one of the flags --in, found -1",
		"watch w pods --from now":               `line 1: expected a resourceVersion behind --from, found "now"`,
		"watch w":                               "line 1: expected more, found the end of the line",
		"eventually 1m":                         `line 1: expected a step (`,
		"eventually 1m compact now":             `found "now" (compact) (eventually DURATION STEP)`,
		"fault when verb(lift) do reset":        "line 1: column 11 of the rule: unknown verb",
		"fault when verb(list) do drop":         `its condition can match in: before, committed; but drop can be applied in: stream`,
		"expect error":                          "line 1: expected a text, found the end of the line",
	} {
		_, err := Parse(text)
		require.ErrorContains(t, err, want, text)
		syntax := (*SyntaxError)(nil)
		require.True(t, errors.As(err, &syntax), text)
	}
	_, err := parseScript("dir/x.txtar", "compact\nfly")
	require.ErrorContains(t, err, "dir/x.txtar:2: expected a step")
}

func TestCommandsAreSortedAndDocumented(t *testing.T) {
	manual, err := os.ReadFile("doc.go")
	require.NoError(t, err)
	var names []string
	list := ""
	for _, c := range stepKinds() {
		require.True(t, strings.HasPrefix(c.usage, c.name), c.usage)
		names = append(names, c.name)
		list += "//\t" + c.usage + "\n"
	}
	require.True(t, slices.IsSorted(names))
	require.Contains(t, string(manual), "//\n"+list+"//\n")
}

// What parses prints, and what prints parses as the same steps.
func FuzzParse(f *testing.F) {
	f.Add(stepFiles)
	f.Add("advance 5m\r\napply \"b c.yaml\"\r\n-- b c.yaml --\r\n" + manifest)
	f.Add("expect cm/\xff data[\"\\xff\"]=\u2028")
	for _, line := range []string{
		"apply a.yaml", "delete \"a b/c\" -n x", `expect cm/a data["k"]="v w" x[0]=`, "eventually 1s expect absent cm/a",
		`expect error "#" expire`, "expect events w ADDED a BOOKMARK", "expect list po -A --selector a=b c",
		`fault "n": when verb(list) && chance(0.5, 1) do delay(1s), status(410, "", "x")`, "watch w po --from 1", "apply a.yaml --server-side --manager x", `patch cm/a -n x {"a": [1e99, "\x7f", .5], b: \u2028}`,
		"patch cm/a --type json [.nan, 0x1f, 2001-01-01, !!binary aa]", "expect events w ... END", "expect requests m GET 0 --in 1h", "always 1s compact", "discovery hide apps", "feature \"\" on", "skew -1h", "expire token \"#\"", "create a.yaml", "update a.yaml --subresource s", "replica b --lag 1", "replica b --delay 1h", "run mine --on b", "on b freeze \"\"", "restore a 007", `snapshot "a b"`, "expect hits lost >=3", "expect requests m GET <=03",
	} {
		f.Add(withFiles(line))
	}
	f.Fuzz(func(t *testing.T, text string) {
		steps, err := Parse(text)
		if err != nil {
			return
		}
		printed, err := Print(steps...)
		if err != nil {
			t.Fatalf("%q parses, and does not print: %v", text, err)
		}
		back, err := Parse(printed)
		if err != nil {
			t.Fatalf("%q prints as %q, which does not parse: %v", text, printed, err)
		}
		if !reflect.DeepEqual(steps, back) {
			t.Fatalf("%q prints as %q, which are other steps", text, printed)
		}
	})
}
