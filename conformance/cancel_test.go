package conformance_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/fakeapi/conformance"
)

// A create whose case is cancelled while it is on its way is waited for: what it made is removed after it is there.
func TestCreateIsNotCutOff(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := &recorder{}
	s.answer = func(_ http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/secrets") {
			require.Empty(t, s.requests("DELETE"), "the clean-up waits")
			cancel()
			require.NoError(t, r.Context().Err())
		}
		return false
	}
	report, err := conformance.Execute(ctx, s.start(t, `^NM-02/typed$`))
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, conformance.Skipped, only(t, report).Outcome)
	require.Len(t, s.requests("DELETE"), 2, "the secret and the namespace")
	require.NotEmpty(t, report.ID)
}

// A run tells of each case before and after it; of one that is skipped only after.
func TestProgressIsTold(t *testing.T) {
	s := &recorder{}
	c := s.start(t, `^PV-(15|16|20)$`)
	c.Skip = map[string]string{"PV-16": "just this"}
	var told []string
	c.Began = func(one conformance.Case) { told = append(told, "began "+one.ID) }
	c.Ended = func(one conformance.Result) { told = append(told, string(one.Outcome)+" "+one.Case.ID) }
	require.Len(t, c.Selected(), 3)
	require.NoError(t, c.Validate())
	report, err := conformance.Execute(t.Context(), c)
	require.NoError(t, err)
	var want []string
	for _, one := range report.Results {
		if one.Outcome != conformance.Skipped {
			want = append(want, "began "+one.Case.ID)
		}
		want = append(want, string(one.Outcome)+" "+one.Case.ID)
	}
	require.Equal(t, want, told)
	require.Contains(t, told, "skipped PV-16")
}
