// Package freeport chooses ports for programs of tests that listen on them later.
package freeport

import (
	"fmt"
	"math/rand/v2"
	"net"
	"testing"

	"github.com/stretchr/testify/require"
)

// Choose returns n different ports of 127.0.0.1 on which nothing listens. They are below those that
// the system gives to outgoing connections, which could have them before a program listens on them.
// Until the end of the test, no other test chooses them: their UDP ports are in use.
func Choose(t testing.TB, n int) []int {
	t.Helper()
	var chosen []int
	for range 100 * n {
		port := 20_000 + rand.IntN(12_000)
		address := fmt.Sprintf("127.0.0.1:%d", port)
		reserved, err := net.ListenPacket("udp", address)
		if err != nil {
			continue
		}
		t.Cleanup(func() { require.NoError(t, reserved.Close()) })
		l, err := net.Listen("tcp", address)
		if err != nil {
			continue
		}
		defer func() { require.NoError(t, l.Close()) }() // no port is chosen twice
		if chosen = append(chosen, port); len(chosen) == n {
			return chosen
		}
	}
	t.Fatal("no ports are free")
	return nil
}
