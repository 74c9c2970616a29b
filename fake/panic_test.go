package fakeapi

import (
	"bytes"
	"log"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// A panic of a handler is logged and returns 500, or aborts the response if it has started (HT-11).
func TestPanics(t *testing.T) {
	var logged bytes.Buffer
	defer log.SetOutput(log.Writer())
	log.SetOutput(&logged)

	request := httptest.NewRequest(http.MethodGet, "/api/v1/pods", nil)
	answer := httptest.NewRecorder()
	withPanicRecovery(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("oh") }), nil).ServeHTTP(answer, request)
	require.Equal(t, http.StatusInternalServerError, answer.Code)
	require.Equal(t, "This request caused apiserver to panic. Look in the logs for details.\n", answer.Body.String())
	require.Equal(t, "text/plain; charset=utf-8", answer.Header().Get("Content-Type"))
	require.Contains(t, logged.String(), "panic serving a request method=GET url=/api/v1/pods panic=oh")
	require.Contains(t, logged.String(), "panic_test.go", "the file in the stack")

	handler := withPanicRecovery(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("oh") }), nil)
	var handled sync.WaitGroup
	for range 2 {
		handled.Go(func() { handler.ServeHTTP(httptest.NewRecorder(), request) })
	}
	handled.Wait()

	require.PanicsWithValue(t, http.ErrAbortHandler, func() {
		withPanicRecovery(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusOK)
			panic("oh")
		}), nil).ServeHTTP(httptest.NewRecorder(), request)
	})
	require.PanicsWithValue(t, http.ErrAbortHandler, func() {
		withPanicRecovery(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }), nil).ServeHTTP(httptest.NewRecorder(), request)
	})
}
