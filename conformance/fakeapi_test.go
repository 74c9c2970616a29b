package conformance_test

import (
	"context"
	"testing"

	fakeapi "example.com/fakeapi/fake"

	"example.com/fakeapi/conformance"
)

func TestFakeOverTCP(t *testing.T) {
	conformance.Run(t, configOf(fakeapi.Start(t)))
}

func TestFakeInMemory(t *testing.T) {
	conformance.Run(t, configOf(fakeapi.Start(t, fakeapi.InMemory())))
}

// configOf points the suite at a fake, with the knobs that it has.
func configOf(srv *fakeapi.Server) conformance.Config {
	return conformance.Config{
		BaseURL: srv.URL(),
		Client:  srv.Client(),
		Compact: func(context.Context) error { srv.Compact(); return nil },
		Expire:  func(context.Context) error { srv.Expire(); return nil },
	}
}
