package scenario

import (
	"context"
	"errors"
	"fmt"
	"slices"

	fakeapi "example.com/fakeapi/fake"
)

// AuthorizationMode makes the server authorize requests by modes, as fakeapi.WithAuthorizationModes
// does: AuthorizationMode(fakeapi.ModeRBAC) by the stored roles and bindings. It is a setting of
// the server, in force before the first step, so a scenario has at most one, wherever it is. The
// steps are the administrator's requests and are always allowed. [RunClientAs] runs clients that
// need permissions.
func AuthorizationMode(modes ...fakeapi.AuthorizationMode) Step {
	return authorizationMode{cloneSlice(modes)}
}

type authorizationMode struct{ modes []fakeapi.AuthorizationMode }

func (kinds) AuthorizationMode() stepKind {
	return stepKind{"authorization mode MODE ...", parseAuthorizationMode}
}

func parseAuthorizationMode(a *args) (Step, error) {
	words, err := a.words(1, -1)
	if err != nil {
		return nil, err
	}
	var s authorizationMode
	for _, w := range words {
		m := fakeapi.AuthorizationMode(w)
		if !slices.Contains(fakeapi.AuthorizationModes(), m) || slices.Contains(s.modes, m) {
			return nil, fmt.Errorf("expected some of the modes %v, each once, found %q", fakeapi.AuthorizationModes(), w)
		}
		s.modes = append(s.modes, m)
	}
	return s, nil
}

func (s authorizationMode) String() string {
	words := []string{"authorization mode"}
	for _, m := range s.modes {
		words = append(words, quote(string(m)))
	}
	return joinWords(words...)
}

func (s authorizationMode) Run(_ context.Context, e *Env) error {
	if len(e.authorizationModes) == 0 || !slices.Equal(e.authorizationModes, s.modes) {
		return errors.New("expected one step for the authorization mode, which is not inside of another step")
	}
	return nil
}

// authorizationModes returns the modes of the first step that has them, or nil.
func (s script) authorizationModes() []fakeapi.AuthorizationMode {
	for _, p := range s {
		if mode, ok := p.step.(authorizationMode); ok {
			return mode.modes
		}
	}
	return nil
}

// serverOptions returns the options of the server for the steps and the configuration.
func (s script) serverOptions(config Config) []fakeapi.Option {
	options := []fakeapi.Option{fakeapi.WithSeed(config.Seed)}
	if modes := s.authorizationModes(); modes != nil {
		options = append(options, fakeapi.WithAuthorizationModes(modes...))
	}
	return append(options, config.Options...)
}
