package conformance

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/apimachinery/pkg/util/validation"
)

// Config says which server to check and how. Only BaseURL is required.
type Config struct {
	// BaseURL is the root of the server, such as "https://127.0.0.1:6443". A path in it is kept as a prefix.
	BaseURL string

	// Client sends the requests and carries the credentials: its transport adds the bearer token or the client
	// certificate. Nil means [http.DefaultClient]. Its Timeout should be zero, since it would cut watches short.
	Client *http.Client

	// UnprivilegedClient sends the requests of a user who may do nothing but what everybody may, and who is authenticated. While it is nil, the
	// cases about denials impersonate such a user, and are skipped if that one may do everything, as on a server without authorization.
	UnprivilegedClient *http.Client

	// NamespacePrefix is the prefix of the names of the namespaces that the suite creates. Default "conformance".
	NamespacePrefix string

	// RunID is in the names of all that the run creates. The default is five random characters. Two runs that meet on one server need two of them,
	// and runs that are to be held against each other need names that differ in nothing else.
	RunID string

	// Run selects cases by their ID. Nil selects all.
	Run *regexp.Regexp

	// MinLevel is the lowest level to run: Must leaves out the SHOULD and MAY cases. The zero value, May, runs everything.
	MinLevel Level

	// Skip leaves cases out and reports them as skipped. The key is a case's ID or a rule's number (which skips all its cases),
	// the value is the reason, which must not be empty. A key that names nothing is an error, so that no skip outlives its case.
	Skip map[string]string

	// Features says which feature gates the server should have on and which off, by name: [CBORServingAndStorage] and [WatchList], see
	// [FeatureGates]. What it leaves out is asked of the server, and the cases about the other choice are skipped with that reason; a server
	// that is not as said fails them. A name that no case depends on is an error.
	Features map[string]bool

	// Timeout bounds one case, clean-up not included. Default 30 s. A case may wait for as long as the server
	// holds back a read from the future, about 3 s on kube-apiserver.
	Timeout time.Duration

	// Patience is how long a case may wait for what a server does by the clock, such as a bookmark that comes once a minute, on top of
	// its Timeout. Cases that would have to wait longer are skipped. The default is zero, which skips all of them; five minutes are enough for all.
	Patience time.Duration

	// Compact makes the server forget the states of the past, as etcd's compaction does, so that lists at an old
	// resourceVersion are refused. Cases that need it are skipped while it is nil.
	Compact func(context.Context) error

	// ExpireWatches makes the server forget its past for watches too: a watch from before it is too old.
	// While it is nil, the cases on expired watches try resourceVersion 1, and are skipped if the server still knows it.
	ExpireWatches func(context.Context) error

	// BeginStartup puts the server back into the time before it has installed all its paths (PV-28), until stop is called.
	// The case that needs it is skipped while it is nil.
	BeginStartup func(context.Context) (stop func(), err error)

	// CaseStarted is called before each case that is run, and CaseFinished with what became of each selected case, skipped ones included: for
	// telling how far a run is. They are called one after the other, from the goroutine of the run. Either may be nil.
	CaseStarted  func(Case)
	CaseFinished func(Result)
}

// SelectedCases gives the cases that Run and Level leave, sorted by ID. Those that Skip or Patience would skip are among them.
func (c Config) SelectedCases() []Case {
	return slices.DeleteFunc(Cases(), func(one Case) bool {
		return one.Level < c.MinLevel || c.Run != nil && !c.Run.MatchString(one.ID)
	})
}

// withDefaults checks the configuration and fills what it leaves open.
func (c Config) withDefaults() (Config, error) {
	base, err := url.Parse(c.BaseURL)
	if err != nil {
		return c, fmt.Errorf("conformance: BaseURL: %w", err)
	}
	if base.Scheme == "" || base.Host == "" {
		return c, fmt.Errorf("conformance: BaseURL %q is not of the form http://host:port", c.BaseURL)
	}
	c.BaseURL = strings.TrimRight(c.BaseURL, "/")
	if c.Client == nil {
		c.Client = http.DefaultClient
	}
	if c.NamespacePrefix == "" {
		c.NamespacePrefix = "conformance"
	}
	if c.Timeout == 0 {
		c.Timeout = 30 * time.Second
	}
	if c.RunID == "" {
		c.RunID = rand.String(5)
	}
	if wrong := validation.IsDNS1123Label(c.RunID); len(wrong) > 0 {
		return c, fmt.Errorf("conformance: ID %q cannot be a part of names: %s", c.RunID, strings.Join(wrong, "; "))
	}
	// The longest name of a namespace that a run makes.
	if wrong := validation.IsDNS1123Label(c.NamespacePrefix + "-" + c.RunID + "-cluster-scoped"); len(wrong) > 0 {
		return c, fmt.Errorf("conformance: Namespace %q does not begin a name: %s", c.NamespacePrefix, strings.Join(wrong, "; "))
	}
	return c, errors.Join(c.checkSkips(), c.checkFeatures())
}

// Validate says what is wrong with the configuration, as [Execute] would. Nothing is sent.
func (c Config) Validate() error {
	_, err := c.withDefaults()
	return err
}

// checkSkips refuses skips without a reason and skips of nothing.
func (c Config) checkSkips() error {
	known := map[string]bool{}
	for _, one := range Cases() {
		known[one.ID], known[one.Rule()] = true, true
	}
	var wrong []error
	for _, id := range slices.Sorted(maps.Keys(c.Skip)) {
		if !known[id] {
			wrong = append(wrong, fmt.Errorf("conformance: Skip names %q, but there is no such case", id))
		}
		if strings.TrimSpace(c.Skip[id]) == "" {
			wrong = append(wrong, fmt.Errorf("conformance: Skip of %q gives no reason", id))
		}
	}
	return errors.Join(wrong...)
}

// SkipReason gives the reason for which Skip or Patience skips a case, or "". What a server lacks is found out in the run only.
func (c Config) SkipReason(one Case) string {
	if reason := c.Skip[one.ID]; reason != "" {
		return reason
	}
	if reason := c.Skip[one.Rule()]; reason != "" {
		return reason
	}
	if one.takes > c.Patience {
		return fmt.Sprintf("it takes %v, and Config.Patience is %v", one.takes, c.Patience)
	}
	return ""
}
