package controlplane

import (
	"net"

	"example.com/fakeapi/internal/originguard"
)

// LoopbackHost returns the host to listen on for a host that a flag names, and whether it is
// another one: only loopback addresses are listened on.
func LoopbackHost(host string) (loopback string, changed bool) {
	if originguard.IsLoopback(host) {
		return host, false
	}
	if ip := net.ParseIP(host); ip != nil && ip.To4() == nil && !ip.IsUnspecified() {
		return "::1", true
	}
	return "127.0.0.1", true
}
