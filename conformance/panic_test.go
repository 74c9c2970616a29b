package conformance

import (
	"context"
	"testing"
)

func TestPanicFailsCase(t *testing.T) {
	r, err := newRun(Config{BaseURL: "http://127.0.0.1"})
	if err != nil {
		t.Fatal(err)
	}
	got := r.runCase(t.Context(), 1, Case{ID: "XX-01", check: func(context.Context, *session) error {
		var items []string
		_ = items[len(items)]
		return nil
	}})
	if got.Outcome != Failed || got.Err == nil {
		t.Fatalf("expected a failure, got %+v", got)
	}
}
