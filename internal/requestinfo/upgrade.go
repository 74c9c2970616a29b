package requestinfo

import (
	"net/http"
	"strings"
)

// IsWebSocket reports whether r requests to upgrade its connection to a WebSocket.
func IsWebSocket(r *http.Request) bool {
	return hasConnectionUpgrade(r) && strings.EqualFold(r.Header.Get("Upgrade"), "websocket")
}

// IsUpgrade reports whether r requests to upgrade its connection to a WebSocket or to SPDY, the
// protocol of exec and port-forward.
func IsUpgrade(r *http.Request) bool {
	if !hasConnectionUpgrade(r) {
		return false
	}
	protocol := strings.ToLower(r.Header.Get("Upgrade"))
	return protocol == "websocket" || strings.HasPrefix(protocol, "spdy/")
}

func hasConnectionUpgrade(r *http.Request) bool {
	return r.Header.Get("Upgrade") != "" && strings.Contains(strings.ToLower(r.Header.Get("Connection")), "upgrade")
}
