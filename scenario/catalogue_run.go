package scenario

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	fakeapi "example.com/fakeapi/fake"
)

// Config is what the case is run with, with client in its role: under every name
// in the steps that is the role's, or that begins with it and "-" (elector-a and
// elector-b compete).
func (c Case) Config(client Client, options ...fakeapi.Option) Config {
	config := Config{Clients: map[string]Client{}, Options: options}
	for _, name := range c.clientNames() {
		config.Clients[name] = client
	}
	return config
}

// Run runs the case with a client in its role, as [Run] does. A test that fails
// says what a client must do, and where that is from.
func (c Case) Run(t *testing.T, client Client, options ...fakeapi.Option) *Transcript {
	t.Helper()
	defer func() {
		if t.Failed() {
			t.Logf("%s\n%s\nA client must: %s\nSee %s", c, c.Description, c.Must, strings.Join(c.Sources, "\n    "))
		}
	}()
	s, err := parseScript(c.fileName(), c.Text)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return runTest(t, c.Config(client, options...), s)
}

// Play is Run without a test, as [Play] does it.
func (c Case) Play(client Client, options ...fakeapi.Option) (*Transcript, error) {
	return Play(c.fileName(), c.Text, c.Config(client, options...))
}

// clientNames are the names under which the steps run clients of the role.
func (c Case) clientNames() (names []string) {
	steps, err := Parse(c.Text)
	if err != nil {
		return nil // playing it will say why
	}
	for _, s := range steps {
		if r, ok := s.(runClient); ok && (r.name == c.Role || strings.HasPrefix(r.name, c.Role+"-")) && !slices.Contains(names, r.name) {
			names = append(names, r.name)
		}
	}
	return names
}

// RunCatalogue runs all cases of a role with a client, each as a subtest with the
// case's name. falls has the names of those that the client is known to fall in,
// and why; nil if there are none. They must fail, at a step that expects what
// did not come: a client that has learned to survive one passes only without its
// entry. An entry for a case that the role has not is an error, and so is a role
// without cases.
func RunCatalogue(t *testing.T, role string, client Client, failures map[string]string) {
	t.Helper()
	var names []string
	for _, c := range Catalogue() {
		if c.Role != role {
			continue
		}
		names = append(names, c.Name)
		t.Run(c.Name, func(t *testing.T) {
			if why, failures := failures[c.Name]; failures {
				c.mustFail(t, client, why)
			} else {
				c.Run(t, client)
			}
		})
	}
	if names == nil {
		t.Errorf("scenario: the catalogue has no case for the role %q", role)
	}
	for _, name := range slices.Sorted(maps.Keys(failures)) {
		if !slices.Contains(names, name) {
			t.Errorf("scenario: the catalogue has no case %q for the role %s; there are: %s", name, role, listOrNone(names))
		}
	}
}

// mustFail runs a case that a client is known not to survive.
func (c Case) mustFail(t *testing.T, client Client, why string) {
	t.Helper()
	log, err := c.Play(client)
	if err == nil {
		t.Fatalf("the client survives %s, though it was said to fall (%s)\n%s", c.Name, why, log)
	}
	failed := (*Failure)(nil)
	if !errors.As(err, &failed) || failed.Position == endPosition || !errors.As(err, &mismatch{}) {
		t.Fatalf("expected the client to miss what a step expects (%s); it failed otherwise: %v", why, err)
	}
}

// KnownFailures gives what the catalogue knows of a client in a role: the cases in which
// it falls, and why. It is what [RunCatalogue] takes.
func KnownFailures(role, client string) map[string]string {
	failures := map[string]string{}
	for _, c := range Catalogue() {
		if why, ok := c.Fails[client]; ok && c.Role == role {
			failures[c.Name] = why
		}
	}
	return failures
}
