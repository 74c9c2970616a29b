package timeline

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A long path of a watch is without the parameters that all watches have.
func TestLongPathsInText(t *testing.T) {
	const maps = "/api/v1/namespaces/default/configmaps"
	selector := "labelSelector=" + strings.Repeat("a", textPath)
	for path, want := range map[string]string{
		maps: maps,
		maps + "?allowWatchBookmarks=true&timeoutSeconds=381&watch=true": maps + "?allowWatchBookmarks=true&timeoutSeconds=381&watch=true",
		maps + "?allowWatchBookmarks=true&resourceVersion=1006&resourceVersionMatch=NotOlderThan&sendInitialEvents=true&timeout=6m21s&timeoutSeconds=381&watch=true": maps +
			"?resourceVersion=1006&resourceVersionMatch=NotOlderThan&sendInitialEvents=true&...",
		maps + "/" + selector:                   shorten(maps+"/"+selector, textPath),
		maps + "?" + selector:                   shorten(maps+"?"+selector, textPath),
		maps + "?" + selector + "&watch=true":   shorten(maps+"?"+selector+"&...", textPath),
		maps + "?watch=" + selector:             maps + "?...",
		maps + "?%zz&;&watch&" + selector + "&": shorten(maps+"?%zz&;&"+selector+"&&...", textPath),
	} {
		require.Equal(t, want, shortenPath(path))
	}
}

// A note of another clock, such as that of a bubble that forks the server, may have an earlier
// time.
func TestEarlierTimesInText(t *testing.T) {
	begin := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	record := Timeline{Begin: begin, Notes: []Note{{Time: begin.Add(-time.Hour), Text: "Fork"}, {Time: begin, Text: "Compact"}}}
	require.Equal(t, []string{"-3600.000s", "+0.000s"}, []string{strings.Fields(record.lines()[0])[0], strings.Fields(record.lines()[1])[0]})
}
