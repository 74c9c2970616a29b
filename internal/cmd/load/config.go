package load

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"time"
)

// What a run may ask of a server at most.
const (
	maxObjects  = 100_000
	maxClients  = 256
	maxWatchers = 10_000
	maxDuration = 10 * time.Minute
)

// Config says which server is measured, and how much is asked of it.
type Config struct {
	// BaseURL is that of the server, such as https://127.0.0.1:6443.
	BaseURL string
	// Connect makes a transport that shares no connections with any other, and that
	// sends the credentials. It is called for each client and once for the watchers.
	Connect func() (http.RoundTripper, error)
	// Namespace begins the name of the namespace that is made.
	Namespace string
	// Objects is how many ConfigMaps are created: at least one for each client.
	Objects int
	// Clients is how many clients there are at the most at a time.
	Clients int
	// Watchers are the numbers of watchers that fan-out is measured with, in this
	// order; with none it is not.
	Watchers []int
	// Duration is how long each kind of request is repeated.
	Duration time.Duration
	// Tell, if not nil, is told what is measured next.
	Tell func(what string)
	// Memory, if not nil, knows how many bytes the server has; otherwise its /metrics
	// are asked. MemorySource says for the report where that comes from.
	Memory       func() uint64
	MemorySource string
}

// A name that leaves room for what is added to it.
var prefixPattern = regexp.MustCompile(`^[a-z]([-a-z0-9]{0,40}[a-z0-9])?$`)

// Validate says what is wrong with a Config: what is missing, or asks for too much.
func (c Config) Validate() error {
	base, err := url.Parse(c.BaseURL)
	switch {
	case err != nil:
		return err
	case base.Scheme != "http" && base.Scheme != "https" || base.Host == "":
		return fmt.Errorf("%q is no http or https URL of a server", c.BaseURL)
	case c.Connect == nil:
		return errors.New("there is nothing to connect with")
	case !prefixPattern.MatchString(c.Namespace):
		return fmt.Errorf("%q cannot begin the name of a namespace", c.Namespace)
	case c.Clients < 1 || c.Clients > maxClients:
		return fmt.Errorf("%d clients: there can be 1 to %d", c.Clients, maxClients)
	case c.Objects < c.Clients || c.Objects > maxObjects:
		return fmt.Errorf("%d objects: there can be 1 for each client, which are %d, to %d", c.Objects, c.Clients, maxObjects)
	case c.Duration <= 0 || c.Duration > maxDuration:
		return fmt.Errorf("%v for each figure: it can be up to %v", c.Duration, maxDuration)
	}
	if i := slices.IndexFunc(c.Watchers, func(n int) bool { return n < 1 || n > maxWatchers }); i >= 0 {
		return fmt.Errorf("%d watchers: there can be 1 to %d", c.Watchers[i], maxWatchers)
	}
	return nil
}
