package load

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Upper limits of a Config.
const (
	maxObjects  = 100_000
	maxClients  = 256
	maxWatchers = 10_000
	maxDuration = 10 * time.Minute
)

// Config selects the server to measure and the load.
type Config struct {
	// BaseURL is the URL of the server, such as https://127.0.0.1:6443.
	BaseURL string
	// Connect returns a transport that sends the credentials and shares no connections with others.
	// It is called for each client and once for the watchers.
	Connect func() (http.RoundTripper, error)
	// Namespace is the prefix of the name of the namespace that is created.
	Namespace string
	// Objects is the number of ConfigMaps to create, at least one for each client.
	Objects int
	// Clients is the maximum number of concurrent clients.
	Clients int
	// Watchers are the numbers of watchers with which fan-out and events are measured, in this order.
	// If it is empty, they are not measured.
	Watchers []int
	// Resources are those of which each request is measured once for each object, of Resources().
	Resources []string
	// Duration is how long each kind of request is repeated.
	Duration time.Duration
	// Progress, if not nil, is called with the name of the next measurement.
	Progress func(what string)
	// Memory, if not nil, returns the memory of the server in bytes; otherwise the server's
	// /metrics are read. MemorySource describes the source in the report.
	Memory       func() uint64
	MemorySource string
}

// prefixPattern matches a name to which a suffix can be added.
var prefixPattern = regexp.MustCompile(`^[a-z]([-a-z0-9]{0,40}[a-z0-9])?$`)

// Validate returns an error if a field is missing or exceeds its limit.
func (c Config) Validate() error {
	base, err := url.Parse(c.BaseURL)
	switch {
	case err != nil:
		return err
	case base.Scheme != "http" && base.Scheme != "https" || base.Host == "":
		return fmt.Errorf("%q is not an http or https URL", c.BaseURL)
	case c.Connect == nil:
		return errors.New("no Connect function")
	case !prefixPattern.MatchString(c.Namespace):
		return fmt.Errorf("%q is not a valid prefix of a namespace name", c.Namespace)
	case c.Clients < 1 || c.Clients > maxClients:
		return fmt.Errorf("%d clients: must be 1 to %d", c.Clients, maxClients)
	case c.Objects < c.Clients || c.Objects > maxObjects:
		return fmt.Errorf("%d objects: must be %d (the number of clients) to %d", c.Objects, c.Clients, maxObjects)
	case c.Duration <= 0 || c.Duration > maxDuration:
		return fmt.Errorf("duration %v: must be positive and at most %v", c.Duration, maxDuration)
	}
	for _, name := range c.Resources {
		if !slices.Contains(Resources(), name) {
			return fmt.Errorf("unknown resource %q: must be one of %s", name, strings.Join(Resources(), ", "))
		}
	}
	if i := slices.IndexFunc(c.Watchers, func(n int) bool { return n < 1 || n > maxWatchers }); i >= 0 {
		return fmt.Errorf("%d watchers: must be 1 to %d", c.Watchers[i], maxWatchers)
	}
	return nil
}
