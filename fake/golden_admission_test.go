package fakeapi_test

import (
	"context"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	fakeapi "example.com/fakeapi/fake"
	"example.com/fakeapi/fake/internal/memnet"
	"example.com/fakeapi/internal/cmd/golden"
)

// knownAdmissionDifferences are the differences from a real API server with webhooks and policies
// that are expected.
var knownAdmissionDifferences = map[string]knownDifference{
	"policy-binding-invalid":       {[]int{2}, "the recorded server had reconstructed validation of these types"},
	"policy-mutate-config-invalid": {[]int{6}, "the recorded server had reconstructed validation of these types"},
}

// TestGoldenAdmission replays each recording with a new server and a webhook in memory.
func TestGoldenAdmission(t *testing.T) {
	replayAll(t, "admission-v1.37", knownAdmissionDifferences, replayAdmission)
}

func replayAdmission(t *testing.T, c golden.Case) golden.Result {
	time.Sleep(10 * 365 * 24 * time.Hour) // a case compares the time with the year 2001
	listener := memnet.NewListener()
	dial := func(ctx context.Context, network, address string) (net.Conn, error) {
		if !strings.HasSuffix(address, ":19443") {
			at, err := net.ResolveTCPAddr(network, address)
			if err != nil {
				return nil, err
			}
			return nil, &net.OpError{Op: "dial", Net: network, Addr: at, Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
		}
		return listener.DialContext(ctx, network, address)
	}
	webhook := golden.StartWebhook(listener, dial)
	defer webhook.Close()
	srv := fakeapi.Start(t,
		fakeapi.WithInMemoryNetwork(), fakeapi.WithManifests(fixturesFor(t, "admission-v1.37", c)), fakeapi.WithWebhookDialer(dial),
		fakeapi.WithoutAdmissionPlugins("Priority", "DefaultTolerationSeconds"),
	)
	p := player(srv)
	p.Webhook = webhook
	return play(t, p, c)
}
