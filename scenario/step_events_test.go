package scenario

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// eventsOf returns events with the types that letters stand for.
func eventsOf(letters string) []Event {
	all := make([]Event, len(letters))
	for i, c := range letters {
		all[i].Type = map[rune]string{'a': "ADDED", 'm': "MODIFIED", '*': anyEvents}[c]
	}
	return all
}

// matchesByDefinition is what matchEvents means.
func matchesByDefinition(want, saw string) bool {
	switch {
	case want == "":
		return saw == ""
	case want[0] == '*':
		return matchesByDefinition(want[1:], saw) || saw != "" && matchesByDefinition(want, saw[1:])
	}
	return saw != "" && saw[0] == want[0] && matchesByDefinition(want[1:], saw[1:])
}

func TestMatchEvents(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	letters := func(of string, most int) string {
		b := make([]byte, random.IntN(most+1))
		for i := range b {
			b[i] = of[random.IntN(len(of))]
		}
		return string(b)
	}
	for range 20_000 {
		want, saw := letters("am*", 6), letters("am", 7)
		require.Equal(t, matchesByDefinition(want, saw), matchEvents(eventsOf(want), eventsOf(saw)), "%q %q", want, saw)
	}
	// Each "..." could end at each event.
	require.False(t, matchEvents(eventsOf(strings.Repeat("*a", 20)+"m"), eventsOf(strings.Repeat("a", 2000))))
}
