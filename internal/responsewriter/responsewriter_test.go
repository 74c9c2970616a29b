package responsewriter

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestBuffer(t *testing.T) {
	w := httptest.NewRecorder()
	w.Header().Set("A", "1")
	b := NewBuffer(w.Header())
	b.Header().Set("B", "2")
	b.Header().Del("A")
	b.WriteHeader(http.StatusEarlyHints)
	require.Zero(t, b.Code)
	b.WriteHeader(http.StatusTeapot)
	b.WriteHeader(http.StatusOK)
	_, err := b.Write([]byte("body"))
	require.NoError(t, err)
	require.NoError(t, http.NewResponseController(b).Flush())
	require.Equal(t, http.Header{"A": {"1"}}, w.Header(), "not sent yet")
	b.SendTo(w)
	require.Equal(t, http.StatusTeapot, w.Code)
	require.Equal(t, http.Header{"B": {"2"}}, w.Header())
	require.Equal(t, "body", w.Body.String())
}

func TestStatus(t *testing.T) {
	s := &Status{ResponseWriter: httptest.NewRecorder()}
	s.WriteHeader(http.StatusContinue)
	require.Zero(t, s.StatusCode())
	s.WriteHeader(http.StatusCreated)
	s.WriteHeader(http.StatusAccepted)
	require.Equal(t, http.StatusCreated, s.StatusCode())
	_, _, err := s.Hijack()
	require.ErrorIs(t, err, http.ErrNotSupported)
	require.False(t, s.Hijacked())
}
