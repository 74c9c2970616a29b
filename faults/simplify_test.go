package faults

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSimplifications(t *testing.T) {
	for text, want := range map[string][]string{
		"when always do reset": nil,
		"when verb(get) && userAgent(a) && first(4) do delay(1m), status(503)": {
			"when verb(get) && userAgent(a) && first(4) do status(503)",
			"when verb(get) && userAgent(a) && first(4) do delay(1m0s)",
			"when userAgent(a) && first(4) do delay(1m0s), status(503)",
			"when verb(get) && userAgent(a) do delay(1m0s), status(503)",
			"when verb(get) && userAgent(a) && first(1) do delay(1m0s), status(503)",
			"when verb(get) && userAgent(a) && first(2) do delay(1m0s), status(503)",
			"when verb(get) && userAgent(a) && first(4) do delay(1s), status(503)",
		},
		// A rule whose effect clients may not recover from keeps its condition.
		"when event(BOOKMARK) && !initialEventsEnd && nth(2) do drop": {"when event(BOOKMARK) && !initialEventsEnd && nth(1) do drop"},
		"when verb(get) && name(a) do status(404)":                    nil,
		"when verb(watch) && name(a) do error(410)":                   nil,
		"when verb(watch) && name(a) do error(500)":                   {"when verb(watch) do error(500)"},
		"when name(a) && verb(get) do status(429)":                    {"when verb(get) do status(429)", "when name(a) do status(429)"},
		"when name(a) do raw(503, text/plain, x)":                     {"when always do raw(503, text/plain, x)"},
		"when name(a) do raw(404, text/plain, x)":                     nil,
		"when first(3) do reset":                                      {"when always do reset", "when first(1) do reset"},
		"n: when event(ADDED, DELETED) do jitter(5s, 3)": {
			"n: when always do jitter(5s, 3)",
			"n: when event(DELETED) do jitter(5s, 3)", "n: when event(ADDED) do jitter(5s, 3)", "n: when event(ADDED, DELETED) do delay(1s)",
		},
		"when webhook(a, b) && first(1) do reset": {"when webhook(a, b) do reset"},
		// The verb cannot be removed, because the effect is for watches only.
		"when verb(watch) && during(before) do end": {"when verb(watch) do end"},
	} {
		rule, err := Parse(text)
		require.NoError(t, err)
		var saw []string
		for _, simpler := range rule.Simplifications() {
			require.NoError(t, simpler.Validate())
			saw = append(saw, simpler.String())
		}
		require.Equal(t, want, saw, text)
	}
}

// TestSimplificationsEnd tests that repeated simplification ends.
func TestSimplificationsEnd(t *testing.T) {
	rule, err := Parse("when verb(get, list, watch) && event(ADDED, DELETED) && every(100) do delay(1h), jitter(1h, 1), throttle(1, 1s)")
	require.NoError(t, err)
	for n := 0; ; n++ {
		require.Less(t, n, 50)
		simpler := rule.Simplifications()
		if len(simpler) == 0 {
			break
		}
		rule = simpler[len(simpler)-1]
	}
}
