package faults

import (
	_ "embed"
	"flag"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var update = flag.Bool("update", false, "write the expected results in testdata")

//go:embed testdata/rules.txt
var ruleTable string

// TestRules tests the rules of testdata/rules.txt: their phases, canonical form or error.
func TestRules(t *testing.T) {
	var out strings.Builder
	for line := range strings.Lines(ruleTable) {
		if strings.HasPrefix(line, "    ") {
			continue
		}
		out.WriteString(line)
		if text := strings.TrimSpace(line); text != "" && !strings.HasPrefix(text, "#") {
			out.WriteString("    " + describeRule(strings.TrimSuffix(line, "\n")) + "\n")
		}
	}
	if *update {
		require.NoError(t, os.WriteFile("testdata/rules.txt", []byte(out.String()), 0o644))
		return
	}
	require.Equal(t, ruleTable, out.String())
}

// describeRule returns the result of parsing and validating a rule.
func describeRule(text string) string {
	r, err := Parse(text)
	if err != nil {
		return err.Error()
	}
	in, err := r.activePhases()
	if err != nil {
		return "invalid: " + err.Error()
	}
	if r.String() == text {
		return "active: " + in.String()
	}
	return "active: " + in.String() + "; " + r.String()
}

// TestConstructorsPrintAndParse tests that rules built in Go equal the rules parsed from their
// text.
func TestConstructorsPrintAndParse(t *testing.T) {
	rules := []Rule{
		Expire410(Resource("pods"), First(1)),
		Retry504(2e9, Namespace("a")),
		DropBookmarks(),
		RealisticLatency(3, Resource("pods"))[0],
		RevokeFor(5*time.Minute, Resource("pods"))[0],
		RevokeFor(5*time.Minute, Resource("pods"), Every(2))[1],
		RealisticLatency(3, Resource("pods"))[1],
		ExpireContinue(Every(3)),
		TooBusy(1500e6), TooBusy(0, Verb("get")), BadGateway(),
		{"odd \"name\"\n", Or(And(Verb("get"), Not(Or(Name("a"), Name("ü")))), Path("/healthz")), []Effect{Delay(1), Hang()}},
		{"", Not(Not(nil)), []Effect{Raw(502, "text/html", "<html>\x00\xff", Header{"X", ""})}},
		{"", And(Code(201, 200), Chance(1e-7, 1<<63)), []Effect{Truncate(0)}},
		{"", And(During(Before, Committed), After(1)), []Effect{Reset()}},
		{"", And(Event("ADDED"), Nth(7)), []Effect{Duplicate(), Delay(0), End()}},
		{"", UserAgent("x"), []Effect{Reply(TooManyRequests(1500e6))}},
		{"", Event("ADDED"), []Effect{SetField("/type", "ü<\xff"), SetField("/a~1b/~0", map[string]any{"z": 1, "a": nil}), RemoveField("/object"), Reorder()}},
		{"", Event("ADDED"), []Effect{Inject("\x00\n"), Overwrite(3, "\xff"), Jitter(1, 1<<63), Throttle(1, 0)}},
		{"", Verb("get"), []Effect{SetHeader("Date"), SetHeader("X", "", "a, b"), Warn("a", "b c"), Skew(-1), Truncate(3)}},
		{"", Verb("get"), []Effect{SetRequestHeader("Accept", "a/b"), Ignore("limit"), Redirect("http://[::1]:80")}},
		{"", Verb("watch"), []Effect{LateHeader()}},
		{"", And(Webhook("a.example.com", "b*"), First(1)), []Effect{Delay(1), Reset()}},
		{"", Webhook("a"), []Effect{Allow(), Deny("ü"), Patch(`{"z": [1], "a": {"b": null}}`)}},
	}
	for _, s := range []metav1.Status{
		Expired(), Gone(), Timeout504(0), TooManyRequests(0), Conflict(), InternalError(),
		Unavailable(5e9), Unauthorized(), Forbidden(),
		{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Code: 400},
		{Code: 404, Details: &metav1.StatusDetails{Name: "n", Causes: []metav1.StatusCause{}}},
		{Code: 404, Details: &metav1.StatusDetails{Group: "g"}}, {Code: 404, Details: &metav1.StatusDetails{Kind: "k"}},
		{Code: 404, Details: &metav1.StatusDetails{UID: "u"}},
		{Code: 422, Reason: "Invalid", Details: &metav1.StatusDetails{Causes: []metav1.StatusCause{{Field: "f"}}}},
		{Code: 410, ListMeta: metav1.ListMeta{Continue: "abc=="}, Status: "Failure", Details: &metav1.StatusDetails{}},
	} {
		rules = append(rules, Rule{"s", Verb("get"), []Effect{Reply(s)}}, Rule{"e", Verb("watch"), []Effect{ErrorEvent(s)}})
	}
	for _, r := range rules {
		require.NoError(t, r.Validate(), r.String())
		back, err := Parse(r.String())
		require.NoError(t, err, r.String())
		require.True(t, reflect.DeepEqual(r, back), "%s\nwas read as\n%s", r, back)
	}
}

func TestRuleWithoutConditionIsAlways(t *testing.T) {
	r := Rule{Do: []Effect{Reset()}}
	require.NoError(t, r.Validate())
	require.Equal(t, "when always do reset", r.String())
	require.Equal(t, "always", And(nil, nil).String())
	require.Equal(t, "!always", Or().String())
}

// TestGroupsAreFlat tests that an And in an And and an Or in an Or are flattened.
func TestGroupsAreFlat(t *testing.T) {
	a, b, c := Name("a"), Name("b"), Name("c")
	require.Equal(t, And(a, b, c), And(And(a, b), nil, c))
	require.Equal(t, Or(a, b, c), Or(Or(a, b), nil, c))
	require.Equal(t, "name(a) && (name(b) || name(c))", And(a, Or(nil, b, c)).String())
}

func TestInvalidRules(t *testing.T) {
	require.ErrorContains(t, Rule{Name: "idle"}.Validate(), `fault rule "idle": it has no effects`)
	require.EqualError(t, Rule{Do: []Effect{nil}}.Validate(), `fault rule "when always do nil": an effect is nil`)
	require.ErrorContains(t, Rule{Do: []Effect{Reset(), nil}}.Validate(), "an effect is nil")
	require.ErrorContains(t, Rule{Do: []Effect{Reply(metav1.Status{Code: 410, Status: "Success"})}}.Validate(), `not "Success"`)
	require.ErrorContains(t, Rule{Do: []Effect{Reply(metav1.Status{Code: 410, ListMeta: metav1.ListMeta{ResourceVersion: "1"}})}}.Validate(), "only continue")
	require.ErrorContains(t, Rule{Do: []Effect{Warn()}}.Validate(), "warn needs at least one text")
	require.ErrorContains(t, Rule{Do: []Effect{Ignore()}}.Validate(), "ignore needs at least one parameter")
	require.ErrorContains(t, Rule{Do: []Effect{Overwrite(0, "")}}.Validate(), "at least one byte")
	require.ErrorContains(t, Rule{When: Verb(), Do: []Effect{Reset()}}.Validate(), "verb needs at least one value")
	require.ErrorContains(t, Rule{When: Or(Always(), Verb("get", "lst")), Do: []Effect{Reset()}}.Validate(), `unknown verb "lst"`)
}

// TestStatusIsCopied tests that an effect does not change with the Status from which it was made.
func TestStatusIsCopied(t *testing.T) {
	s := metav1.Status{Code: 404, Details: &metav1.StatusDetails{Name: "a"}}
	e := Reply(s)
	s.Details.Name = "b"
	require.Equal(t, "status(404, name(a))", e.String())
}

func TestParseAll(t *testing.T) {
	rules, err := ParseAll("# all of them\n\na: when always do reset # now\r\n   when verb(get) do hang\n")
	require.NoError(t, err)
	require.Len(t, rules, 2)
	require.Equal(t, "a: when always do reset", rules[0].String())

	_, err = ParseAll("a: when always do reset\n\n  when verb(get) do hung\n")
	require.EqualError(t, err, "fault rule, line 3, column 21: unknown effect \"hung\"; known: "+
		sortedNames(effects))
}

// TestParseDepthLimit tests that the depth of the parser is limited.
func TestParseDepthLimit(t *testing.T) {
	for _, text := range []string{
		"when " + strings.Repeat("(", 1e5), "when " + strings.Repeat("!", 1e5) + "always do reset",
		"when verb" + strings.Repeat("(a", 1e5),
		"when " + strings.Repeat("(", maxDepth) + "always" + strings.Repeat(")", maxDepth) + " do reset",
	} {
		_, err := Parse(text)
		require.ErrorContains(t, err, "deep")
	}
	for _, text := range []string{
		"when " + strings.Repeat("(", maxDepth-1) + "always" + strings.Repeat(")", maxDepth-1) + " do reset",
		"when " + strings.Repeat("always || ", 2*maxDepth) + "always do reset",
		"when always do status(410" + strings.Repeat(", cause(a, b)", 2*maxDepth) + ")",
	} {
		_, err := Parse(text)
		require.NoError(t, err)
	}
	_, err := Parse("when\nverb(get)\n  do hung")
	require.ErrorContains(t, err, "line 3, column 6:")
}

func FuzzParse(f *testing.F) {
	for line := range strings.Lines(ruleTable) {
		if !strings.HasPrefix(line, "    ") {
			f.Add(line)
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		r, err := Parse(text)
		if err != nil {
			at, ok := err.(*SyntaxError)
			require.True(t, ok, "%T", err)
			require.Positive(t, at.Column)
			return
		}
		printed := r.String()
		back, err := Parse(printed)
		require.NoError(t, err, printed)
		require.Equal(t, printed, back.String())
		require.True(t, reflect.DeepEqual(r, back), printed)
		var set Set
		if _, err := set.Add(r); err != nil {
			require.Error(t, r.Validate())
			return
		}
		require.Equal(t, printed, set.Rules()[0].String())
	})
}
