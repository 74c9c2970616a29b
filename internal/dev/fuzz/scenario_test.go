package fuzz_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/fakeapi/scenario"
	"example.com/fakeapi/scenario/clients"
)

// configMapManifest is a manifest, and scenarioFile the same as a file of a scenario.
const (
	configMapManifest = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"
	scenarioFile      = "-- a.yaml --\n" + configMapManifest
)

// A text that can be parsed can be printed, and parsed again into equal steps.
func FuzzParseScenario(f *testing.F) {
	f.Add(scenarioFile + "-- b c.yaml --\n" + configMapManifest)
	f.Add("advance 5m\r\napply \"b c.yaml\"\r\n-- b c.yaml --\r\n" + configMapManifest)
	f.Add("expect cm/\xff data[\"\\xff\"]=\u2028")
	for _, line := range []string{
		"apply a.yaml", "delete \"a b/c\" -n x", `expect cm/a data["k"]="v w" x[0]=`, "eventually 1s expect absent cm/a",
		`expect error "#" expire`, "expect events w ADDED a BOOKMARK", "expect list po -A --selector a=b c",
		`fault "n": when verb(list) && chance(0.5, 1) do delay(1s), status(410, "", "x")`, "watch w po --from 1", "apply a.yaml --server-side --manager x", `patch cm/a -n x {"a": [1e99, "\x7f", .5], b: \u2028}`,
		"patch cm/a --type json [.nan, 0x1f, 2001-01-01, !!binary aa]", "expect events w ... END", "expect requests m GET 0 --in 1h", "always 1s compact", "discovery hide apps", "feature \"\" on", "skew -1h", "expire token \"#\"", "create a.yaml", "update a.yaml --subresource s", "replica b --lag 1", "replica b --delay 1h", "run mine --on b", "on b freeze \"\"", "restore a 007", `snapshot "a b"`, "expect hits lost >=3", "expect requests m GET <=03",
	} {
		text := line + "\n"
		if strings.Contains(line, " a.yaml") {
			text += scenarioFile
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		steps, err := scenario.Parse(text)
		if err != nil {
			return
		}
		printed, err := scenario.Print(steps...)
		if err != nil {
			t.Fatalf("%q parses, and does not print: %v", text, err)
		}
		back, err := scenario.Parse(printed)
		if err != nil {
			t.Fatalf("%q prints as %q, which does not parse: %v", text, printed, err)
		}
		if !reflect.DeepEqual(steps, back) {
			t.Fatalf("%q prints as %q, which are other steps", text, printed)
		}
	})
}

// A correct client, and the steps alone, pass with every seed.
func FuzzGenerate(f *testing.F) {
	for seed := range uint64(10) {
		f.Add(seed, uint8(seed*6))
	}
	all := clients.All()
	i := slices.IndexFunc(all, func(c clients.Implementation) bool { return c.Role == "mirror" && c.Name == "informer" })
	require.GreaterOrEqual(f, i, 0, "there is no informer")
	f.Fuzz(func(t *testing.T, seed uint64, steps uint8) {
		mirror := scenario.Generator{
			Steps:  int(steps % 60),
			Client: "mirror",
			Setup:  []scenario.Step{scenario.Apply("mirror.yaml", "apiVersion: v1\nkind: Namespace\nmetadata: {name: mirror}\n")},
			Expect: scenario.ExpectSynced("configmap", "default", "mirror"),
		}
		scenario.Explore(t, scenario.Config{Clients: map[string]scenario.Client{"mirror": all[i].Client}}, mirror, seed, 1)
		scenario.Explore(t, scenario.Config{Seed: seed}, scenario.Generator{Steps: mirror.Steps}, seed, 1)
	})
}
