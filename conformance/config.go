package conformance

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/apimachinery/pkg/util/validation"
)

// defaultParallel is the default of Config.Parallel.
const defaultParallel = 16

// Config configures a run. Only BaseURL is required.
type Config struct {
	// BaseURL is the root of the server, such as "https://127.0.0.1:6443". Its path is a prefix of
	// all requests.
	BaseURL string

	// Client sends the requests. Its transport adds the credentials. The default is
	// [http.DefaultClient]. Its Timeout should be zero, because a Timeout would end watches early.
	Client *http.Client

	// UnprivilegedClient sends requests as an authenticated user without permissions other than
	// those of all users. If it is nil, the cases about denials impersonate such a user, and are
	// skipped if the server authorizes that user to do everything.
	UnprivilegedClient *http.Client

	// TokenClient returns a client that authenticates with a bearer token instead of the credentials
	// of Client. If it is nil, the cases about tokens of ServiceAccounts send the token with Client,
	// and are skipped if the server uses other credentials of Client, such as a certificate.
	TokenClient func(token string) (*http.Client, error)

	// NamespacePrefix is the prefix of the names of the namespaces that the suite creates. The
	// default is "conformance".
	NamespacePrefix string

	// RunID is part of the names of everything that the run creates. The default is five random
	// characters. Concurrent runs on one server need different IDs, and runs whose requests are
	// compared need the same one.
	RunID string

	// Run selects cases by ID. Nil selects all.
	Run *regexp.Regexp

	// MinLevel is the lowest level to run: Must excludes SHOULD and MAY cases. The zero value, May,
	// runs all.
	MinLevel Level

	// Skip excludes cases, which are reported as skipped. A key is the ID of a case or the number
	// of a rule, for all of its cases. The value is the reason, which must not be empty. A key that
	// names no case is an error.
	Skip map[string]string

	// Features states which feature gates the server has enabled or disabled, by name, see
	// [FeatureGates]. If a gate is missing, the suite detects the feature, and skips the cases about
	// servers of the other kind. If it is set, cases fail on a server of the other kind. A name that
	// no case depends on is an error.
	Features map[string]bool

	// Timeout limits the duration of a case without its clean-up. The default is 30 s. A case may
	// wait while the server delays a read at a resourceVersion that it has not reached, about 3 s
	// on kube-apiserver.
	Timeout time.Duration

	// Parallel is how many cases run at a time. The default is 16, since cases mostly wait. Cases that
	// would affect others run alone, whatever the number is. With 1 the cases run in the order of
	// their IDs. The report is the same for each number.
	Parallel int

	// RunTimeout limits the duration of the run without its clean-up, which may take a minute more.
	// When it is over, the running cases fail and the others are skipped, see [Result].NotReached.
	// The default is 30 minutes.
	RunTimeout time.Duration

	// Patience limits how long a case may wait for timers of the server, such as that of a bookmark
	// that is sent once a minute, in addition to Timeout. Cases that wait longer are skipped. The
	// default is zero, which skips all of them; five minutes are enough for all.
	Patience time.Duration

	// Compact makes the server discard old states, as a compaction of etcd does, so that lists at
	// an old resourceVersion are rejected. If it is nil, cases that need it are skipped.
	Compact func(context.Context) error

	// ExpireWatches makes the server discard its history for watches too, so that a watch from an
	// old resourceVersion expires. If it is nil, the cases about expired watches use
	// resourceVersion 1, and are skipped if the server still has it.
	ExpireWatches func(context.Context) error

	// BeginStartup returns the server to the state before all its paths are installed (PV-28),
	// until stop is called. If it is nil, the case that needs it is skipped.
	BeginStartup func(context.Context) (stop func(), err error)

	// ListenWebhook opens the listener of the suite's admission webhook. The server calls it over TLS
	// at the address of the listener, such as "127.0.0.1:8443". The default is a free port of
	// 127.0.0.1 if the host of BaseURL is a loopback address. Otherwise, and if the server cannot
	// reach the webhook, the cases about webhooks are skipped. In a testing/synctest bubble the
	// listener must be in memory, and the server must dial it.
	ListenWebhook func() (net.Listener, error)

	// CaseStarted is called before each case that runs, and CaseFinished with the result of each
	// selected case, including skipped ones. They are not called concurrently; with Parallel 1 they
	// are called in the order of the cases. Either may be nil.
	CaseStarted  func(Case)
	CaseFinished func(Result)
}

// SelectedCases returns the cases that Run and MinLevel select, sorted by ID. They include those
// that Skip or Patience excludes.
func (c Config) SelectedCases() []Case {
	return sortByID(slices.DeleteFunc(unsortedCases(), func(one Case) bool {
		return one.Level < c.MinLevel || c.Run != nil && !c.Run.MatchString(one.ID)
	}))
}

// withDefaults validates the configuration and sets defaults.
func (c Config) withDefaults() (Config, error) {
	base, err := url.Parse(c.BaseURL)
	if err != nil {
		return c, fmt.Errorf("conformance: BaseURL: %w", err)
	}
	if base.Scheme == "" || base.Host == "" {
		return c, fmt.Errorf("conformance: BaseURL %q does not have the form http://host:port", c.BaseURL)
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
	if c.RunTimeout == 0 {
		c.RunTimeout = 30 * time.Minute
	}
	if c.Parallel == 0 {
		c.Parallel = defaultParallel
	}
	if c.Parallel < 0 || c.RunTimeout < 0 {
		return c, errors.New("conformance: Parallel and RunTimeout must not be negative")
	}
	if c.RunID == "" {
		c.RunID = rand.String(5)
	}
	if wrong := validation.IsDNS1123Label(c.RunID); len(wrong) > 0 {
		return c, fmt.Errorf("conformance: invalid RunID %q: %s", c.RunID, strings.Join(wrong, "; "))
	}
	// This is the longest name of a namespace in a run.
	if wrong := validation.IsDNS1123Label(c.NamespacePrefix + "-" + c.RunID + "-expired-secret-2"); len(wrong) > 0 {
		return c, fmt.Errorf("conformance: invalid NamespacePrefix %q: %s", c.NamespacePrefix, strings.Join(wrong, "; "))
	}
	return c, errors.Join(c.checkSkips(), c.checkFeatures())
}

// Validate returns an error if the configuration is invalid. It sends no requests.
func (c Config) Validate() error {
	_, err := c.withDefaults()
	return err
}

// checkSkips returns an error for skips without a reason and for skips that name no case.
func (c Config) checkSkips() error {
	if len(c.Skip) == 0 {
		return nil
	}
	known := map[string]bool{}
	for _, one := range unsortedCases() {
		known[one.ID], known[one.Rule()] = true, true
	}
	var wrong []error
	for _, id := range slices.Sorted(maps.Keys(c.Skip)) {
		if !known[id] {
			wrong = append(wrong, fmt.Errorf("conformance: unknown case or rule %q in Skip", id))
		}
		if strings.TrimSpace(c.Skip[id]) == "" {
			wrong = append(wrong, fmt.Errorf("conformance: no reason for %q in Skip", id))
		}
	}
	return errors.Join(wrong...)
}

// SkipReason returns the reason why Skip or Patience excludes a case, or "". Cases that the server
// cannot support are skipped only during a run.
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
