package scenario

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Logs have no times and no resourceVersions, and are limited.
func TestClientLogs(t *testing.T) {
	log := &Transcript{}
	mine := log.clientLog("mine")
	for _, line := range []string{
		"GET /a?resourceVersion=0&timeout=5m3s&timeoutSeconds=303&watch=true 200",
		"PUT /b no answer",
		"GET /a?resourceVersion=17 504 Retry-After 2",
	} {
		mine.afterResponse(line)
	}
	looping := log.clientLog("looping")
	for range maxLoggedRequests + 1 {
		looping.afterResponse("GET /a 200")
	}
	require.Equal(t, map[string][]string{
		"mine /a": {"GET?resourceVersion=0&watch=true 200", "GET?resourceVersion=... 504 Retry-After 2"},
		"mine /b": {"PUT no answer"},
		"looping": {"..."},
	}, log.ClientLogs())
}
