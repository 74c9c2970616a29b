package fakeapi

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/fakeapi/fake/internal/admission"
)

// A call that failed because the client has gone is counted neither as a refusal by the webhook nor
// as one that was ignored. A denial is.
func TestWebhookCallsOfCanceledRequests(t *testing.T) {
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for _, test := range []struct {
		outcome                      string
		ctx                          context.Context
		rejected, counted, failsOpen bool
	}{
		{admission.Allowed, t.Context(), false, false, false},
		{admission.Denied, t.Context(), true, true, false},
		{admission.Failed, t.Context(), true, true, false},
		{admission.Ignored, t.Context(), false, true, true},
		{admission.Denied, gone, true, true, false},
		{admission.Failed, gone, true, false, false},
		{admission.Ignored, gone, false, false, false},
	} {
		d := admission.Decision{Outcome: test.outcome, ErrorType: "x"}
		if test.outcome == admission.Allowed {
			d.ErrorType = ""
		}
		call := webhookCall(test.ctx, d, "admit")
		require.Equal(t, []bool{test.rejected, test.counted, test.failsOpen}, []bool{call.Rejected, call.ErrorType != "", call.FailedOpen}, test)
	}
}
