package faults_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/fakeapi/faults"
)

// fakeTB records the messages of a test.
type fakeTB struct {
	messages []string
	cleanups []func()
}

func (f *fakeTB) Helper()          {}
func (f *fakeTB) Cleanup(c func()) { f.cleanups = append(f.cleanups, c) }
func (f *fakeTB) Errorf(s string, args ...any) {
	f.messages = append(f.messages, "error: "+fmt.Sprintf(s, args...))
}
func (f *fakeTB) Fatalf(s string, args ...any) {
	f.messages = append(f.messages, "fatal: "+fmt.Sprintf(s, args...))
}

func TestMustHit(t *testing.T) {
	s := newTestServer(t, staticHandler("text/plain", "ok"),
		"fires: when verb(get) do delay(0s)", "idle: when verb(get) && nth(9) do reset", "missed: when verb(get) do set(/a, b)")
	s.get(pods + "/a")
	tb := &fakeTB{}
	s.set.MustHit(tb)
	require.Equal(t, []string{
		"error: this fault rule was never applied: idle: when verb(get) && nth(9) do reset",
		"error: this fault rule was never applied: missed: when verb(get) do set(/a, b)",
	}, tb.messages)

	quiet := &fakeTB{}
	s.set.Clear()
	s.add("when verb(get) do delay(0s)")
	s.get(pods + "/a")
	_, err := s.set.AddOptional(faults.BadGateway(faults.Path("/other")))
	require.NoError(t, err)
	s.set.MustHit(quiet)
	require.Empty(t, quiet.messages)
}

func TestAddFor(t *testing.T) {
	var set faults.Set
	_, err := set.AddText("stays: when verb(get) do reset")
	require.NoError(t, err)
	tb := &fakeTB{}
	set.AddFor(tb, faults.Expire410(), faults.DropBookmarks())
	require.Len(t, set.Rules(), 3)
	for _, c := range tb.cleanups {
		c()
	}
	require.Equal(t, "stays", set.Rules()[0].Name)
	require.Len(t, set.Rules(), 1)
	require.Empty(t, tb.messages)

	set.AddFor(tb, faults.Rule{Name: "idle"})
	require.Equal(t, []string{`fatal: fault rule "idle": it has no effects`}, tb.messages)
	require.Len(t, set.Rules(), 1)
}
