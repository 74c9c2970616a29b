package differential

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/fakeapi/internal/cmd/httpdiff"
)

// The same seed results in the same definitions and steps.
func TestSeed(t *testing.T) {
	text := func(seed uint64) string {
		r := rand.New(rand.NewPCG(seed, 1))
		d := newDefinition(r)
		return d.body + jsonText(newSequence(r, d, 100))
	}
	require.Equal(t, text(1), text(1))
	require.NotEqual(t, text(1), text(2))
	require.True(t, json.Valid([]byte(newDefinition(rand.New(rand.NewPCG(3, 1))).body)))
}

func TestMemory(t *testing.T) {
	m := newMemory("n", "example.com")
	require.Equal(t, "n example.com none none {}", m.expand("{ns} {group} {rv widgets/a} {uid widgets/a} {}"))
	require.Equal(t, "{}", string(m.body(Step{Resend: "widgets/a"})))
	m.add("widgets", []byte(`{"metadata":{"name":"a","uid":"u","resourceVersion":"1"},"x":2.0}`))
	m.add("widgets", []byte(`{"metadata":{"name":"a","uid":"u","resourceVersion":"3"},"x":2.0}`))
	m.add("widgets", []byte(`{"metadata":{"resourceVersion":"5","continue":"c"},"items":[]}`))
	m.add("widgets", []byte(`no JSON`))
	require.Equal(t, "1 3 u 5 c", m.expand("{rv0 widgets/a} {rv widgets/a} {uid widgets/a} {rv list} {continue}"))
	require.Equal(t, `{"metadata":{"name":"a","uid":"u","resourceVersion":"3"},"x":2.0}`, string(m.body(Step{Resend: "widgets/a"})))
	require.JSONEq(t, `{"metadata":{"name":"a","uid":"u"},"x":2.0}`, string(m.body(Step{Resend: "widgets/a", Body: `{"metadata":{"resourceVersion":null}}`})))
	m.add("widgets", []byte(`{"metadata":{"name":"a","uid":"v","resourceVersion":"7"}}`))
	require.Equal(t, "7", m.expand("{rv0 widgets/a}"), "another object with the same name")
}

func TestSignature(t *testing.T) {
	patch := Step{Method: "PATCH", Path: "/apis/{group}/v1/namespaces/{ns}/widgets/a/status", ContentType: "application/merge-patch+json"}
	for _, test := range []struct {
		step Step
		d    httpdiff.Differences
		want string
	}{
		{patch, httpdiff.Differences{{At: "code", Left: `422 Invalid: "a" is invalid: spec.string12: 5`, Right: "200 {}"}},
			`PATCH /apis/{group}/v1/widgets/NAME/status merge-patch+json code: 422 Invalid: "…" is invalid: spec.string: N | 200`},
		{patch, httpdiff.Differences{{At: "body.metadata.uid", Left: `"a"`, Right: `"b"`}, {At: "body.spec.maplist3[2].k", Left: `1`}},
			`PATCH /apis/{group}/v1/widgets/NAME/status merge-patch+json body.spec.maplist[].k: number | nothing`},
		{Step{Method: "GET", Path: "/api/v1/namespaces/{ns}/configmaps", Watch: true}, httpdiff.Differences{{At: "events", Left: "[1]", Right: "[]", Note: "1 and 0 events"}},
			`GET watch /api/v1/configmaps events: list | list N and N events`},
	} {
		require.Equal(t, test.want, signature(test.step, test.d))
	}
}

func TestKeyOrder(t *testing.T) {
	require.Equal(t, "{b {c {}}a {{d }}}", keyOrder([]byte(`{"b":{"c":{}},"a":[1,{"d":null}]}`)))
	require.NotEqual(t, keyOrder([]byte(`{"a":1,"b":2}`)), keyOrder([]byte(`{"b":2,"a":1}`)))
	require.Empty(t, keyOrder([]byte(`{"a":`)))
}

// simplify removes all that the condition does not need.
func TestSimplify(t *testing.T) {
	value := parseObject(`{"a":[1,{"b":{"c":5,"d":6}},3],"e":{"f":null},"g":7}`)
	var smallest string
	simplify(value, func(smaller any) bool {
		text := jsonText(smaller)
		if !strings.Contains(text, `"d":6`) {
			return false
		}
		smallest = text
		return true
	})
	require.Equal(t, `{"a":[{"b":{"d":6}}]}`, smallest)
}

// The values of keywords and the fields of rules are JSON.
func TestKeywords(t *testing.T) {
	for _, one := range keywords() {
		values, err := parse(one.values)
		require.NoError(t, err, one.name)
		require.NotEmpty(t, values, one.name)
	}
	for _, fields := range ruleFields() {
		require.NotEmpty(t, parseObject(fields), fields)
	}
}
