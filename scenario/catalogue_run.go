package scenario

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	fakeapi "example.com/fakeapi/fake"
)

// Config returns the configuration of the case with client in its role: under the name of the role,
// and under all names in the steps that consist of the role, "-" and a suffix, such as elector-a
// and elector-b.
func (c Case) Config(client Client, options ...fakeapi.Option) Config {
	config := Config{Clients: map[string]Client{}, Options: options}
	for _, name := range c.clientNames() {
		config.Clients[name] = client
	}
	return config
}

// Run runs the case with a client in its role, as [Run] does. If it fails, the test log has what a
// client must do and the sources.
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

// Play plays the case without a test, as [Play] does.
func (c Case) Play(client Client, options ...fakeapi.Option) (*Transcript, error) {
	return Play(c.fileName(), c.Text, c.Config(client, options...))
}

// clientNames returns the names under which the steps run clients of the role.
func (c Case) clientNames() (names []string) {
	steps, err := Parse(c.Text)
	if err != nil {
		return nil // Play returns the error
	}
	for _, s := range steps {
		if r, ok := s.(runClient); ok && (r.name == c.Role || strings.HasPrefix(r.name, c.Role+"-")) && !slices.Contains(names, r.name) {
			names = append(names, r.name)
		}
	}
	return names
}

// RunCatalogue runs all cases of a role with a client, each as a subtest with the name of the case.
// failures has the names of the cases that the client is known to fail, with the reason, and may be
// nil. These must fail at an expectation, so that a client that has been fixed passes only after
// its entry is removed. It is an error if the role has no cases, or not a case that failures names.
func RunCatalogue(t *testing.T, role string, client Client, failures map[string]string) {
	t.Helper()
	var names []string
	for _, c := range Catalogue() {
		if c.Role != role {
			continue
		}
		names = append(names, c.Name)
		t.Run(c.Name, func(t *testing.T) {
			if reason, known := failures[c.Name]; known {
				c.mustFail(t, client, reason)
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

// mustFail runs a case that a client is known to fail.
func (c Case) mustFail(t *testing.T, client Client, reason string) {
	t.Helper()
	log, err := c.Play(client)
	if err == nil {
		t.Fatalf("the client passes %s, which it is known to fail (%s)\n%s", c.Name, reason, log)
	}
	failed := (*Failure)(nil)
	if !errors.As(err, &failed) || failed.Position == endPosition || !errors.As(err, &mismatch{}) {
		t.Fatalf("expected that an expectation fails (%s), but the error is: %v", reason, err)
	}
}

// KnownFailures returns the cases that a client is known to fail in a role, with the reasons from
// the catalogue, for [RunCatalogue].
func KnownFailures(role, client string) map[string]string {
	failures := map[string]string{}
	for _, c := range Catalogue() {
		if reason, ok := c.Fails[client]; ok && c.Role == role {
			failures[c.Name] = reason
		}
	}
	return failures
}
