package kubeapiserver

import (
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/api/resource"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	cliflag "k8s.io/component-base/cli/flag"

	"example.com/fakeapi/internal/cmd/controlplane"
)

// Flags are the flags of kube-apiserver v1.37.
type Flags struct {
	// Warnings has a line for each deprecated flag of the command line, for the standard error.
	Warnings string

	// EtcdServers are the URLs of --etcd-servers. The files have the certificates for them.
	EtcdServers                           []string
	EtcdCAFile, EtcdCertFile, EtcdKeyFile string

	// BindAddress, SecurePort and AdvertiseAddress are the addresses of the server. AdvertiseAddress
	// is nil without its flag.
	BindAddress      net.IP
	SecurePort       int
	AdvertiseAddress net.IP
	ExternalHostname string

	// PermitAddressSharing and PermitPortSharing are true for SO_REUSEADDR and SO_REUSEPORT.
	PermitAddressSharing, PermitPortSharing bool

	// The certificate of the server: CertFile and KeyFile, or if they are empty apiserver.crt and
	// apiserver.key in CertDir.
	CertDir, CertFile, KeyFile string

	// ShutdownDelay is how long the server serves requests after SIGTERM.
	ShutdownDelay time.Duration
	// Verbosity is the level of the log. From 3 on it has each request.
	Verbosity int

	// Stdout is the standard output, for --audit-log-path=-. The default is os.Stdout.
	Stdout io.Writer

	tls            tlsFlags
	authentication authenticationFlags
	authorization  authorizationFlags
	admission      admissionFlags
	audit          auditFlags
	services       serviceFlags
	limits         limitFlags
	features       featureFlags
	storage        storageFlags
	misc           miscFlags
	log            logFlags
	// priorityAndFairness is true to queue requests above the limits.
	priorityAndFairness bool
	help                bool
	version             string

	// auditLog is the file of --audit-log-path, which Options opens.
	auditLog *os.File

	sections cliflag.NamedFlagSets
	all      *pflag.FlagSet
	ignored  map[string]bool
}

// authenticationFlags are those about users and tokens.
type authenticationFlags struct {
	anonymous                     bool
	clientCAFile, tokenFile       string
	apiAudiences                  []string
	configFile, webhookConfigFile string
	oidcIssuer, oidcClientID      string
	proxy                         frontProxyFlags

	issuers            []string
	keyFiles           []string
	signingKeyFile     string
	signingEndpoint    string
	jwksURI            string
	maxTokenExpiration time.Duration
	extendTokens       bool
}

// frontProxyFlags are those about users that a front proxy authenticates.
type frontProxyFlags struct {
	userHeaders, uidHeaders, groupHeaders, extraPrefixes []string
	caFile                                               string
	allowedNames                                         []string
}

// authorizationFlags are those about permissions.
type authorizationFlags struct {
	modes                                     []string
	configFile, policyFile, webhookConfigFile string
	webhookVersion                            string
	webhookAllowedTTL, webhookDeniedTTL       time.Duration
}

// tlsFlags are those about TLS, besides the certificate.
type tlsFlags struct {
	minVersion   string
	cipherSuites []string
	curves       []int32
	sniCertKeys  []cliflag.NamedCertKey
}

// admissionFlags are those about admission plugins.
type admissionFlags struct{ ordered, enabled, disabled []string }

// auditFlags are those about the audit log.
type auditFlags struct {
	policyFile, logPath                string
	format, logVersion, webhookVersion string
	webhookConfigFile                  string
	maxAge, maxBackups, maxSize        int
	log, webhook                       auditBackend
}

// serviceFlags are those about Services.
type serviceFlags struct {
	clusterIPRange string
	nodePortRange  utilnet.PortRange
}

// limitFlags are those about numbers and times.
type limitFlags struct {
	maxRequestsInFlight, maxMutatingRequestsInFlight int
	minRequestTimeout                                int
	compactionInterval                               time.Duration

	strictTransportSecurity          []string
	goawayChance                     float64
	requestTimeout, livezGracePeriod time.Duration
	watchTerminationGracePeriod      time.Duration
	storageInitializationTimeout     time.Duration
}

// storageFlags are those about objects in etcd.
type storageFlags struct {
	backend, mediaType, encryptionConfig string
	encryptionReload                     bool
}

// logFlags are those about the log.
type logFlags struct {
	format                 string
	flushFrequency         time.Duration
	modules                moduleLevels
	textSplit, jsonSplit   bool
	textBuffer, jsonBuffer resource.QuantityValue
}

// miscFlags are others that are validated.
type miscFlags struct {
	apiserverCount            int
	endpointReconciler        string
	eventTTL                  time.Duration
	kubernetesServiceNodePort int
	hiddenMetricsVersion      string

	leaseDuration, renewDeadline, retryPeriod time.Duration
}

// Parse parses the arguments of kube-apiserver, without the name of the program, and validates
// them. Errors have the texts of kube-apiserver. --help and --version are errors, too: reportUsage
// writes what kube-apiserver writes.
func Parse(args []string) (*Flags, error) {
	f := &Flags{ignored: map[string]bool{}}
	if err := f.define(); err != nil {
		return nil, err
	}
	if err := f.all.Parse(args); err != nil {
		return nil, usageError(err)
	}
	if f.help {
		return nil, &controlplane.Exit{Stdout: f.helpText()}
	}
	for _, arg := range f.all.Args() {
		if arg != "" {
			return nil, usageError(fmt.Errorf("%q does not take any arguments, got %q", "kube-apiserver", f.all.Args()))
		}
	}
	if f.version != versionNotRequested {
		return nil, &controlplane.Exit{Stdout: f.versionText()}
	}
	return f, f.validate()
}

// define defines the flags in their sections.
func (f *Flags) define() (err error) {
	if f.features, err = newFeatureFlags(); err != nil {
		return err
	}
	f.all = pflag.NewFlagSet("kube-apiserver", pflag.ContinueOnError)
	f.all.SetNormalizeFunc(cliflag.WordSepNormalizeFunc)
	f.all.SetOutput(writerFunc(func(text []byte) { f.Warnings += string(text) }))
	f.sections.NormalizeNameFunc = cliflag.WordSepNormalizeFunc
	for _, s := range f.table() {
		flags := f.sections.FlagSet(s.name)
		for _, flag := range s.flags {
			description := flag.description
			if flag.effect == ignored {
				description += " (no effect)"
			}
			flag.define(flags, flag.name, description)
			f.ignored[flag.name] = flag.effect == ignored
		}
		f.all.AddFlagSet(flags)
	}
	return nil
}

// writerFunc is an io.Writer that calls a function.
type writerFunc func([]byte)

func (w writerFunc) Write(text []byte) (int, error) {
	w(text)
	return len(text), nil
}

// section is a part of the help.
type section struct {
	name  string
	flags []flag
}

// table returns all flags in the sections of the help.
func (f *Flags) table() []section {
	return []section{
		{"generic", f.genericFlags()},
		{"etcd", f.etcdFlags()},
		{"secure serving", f.servingFlags()},
		{"auditing", f.auditingFlags()},
		{"features", f.profilingFlags()},
		{"authentication", f.authenticationFlags()},
		{"authorization", f.authorizationFlags()},
		{"API enablement", f.enablementFlags()},
		{"egress selector", f.egressFlags()},
		{"admission", f.admissionFlags()},
		{"metrics", f.metricsFlags()},
		{"logs", f.logFlags()},
		{"traces", f.traceFlags()},
		{"misc", f.miscFlags()},
		{"global", f.globalFlags()},
	}
}

// FlagSets returns the flag sets of all flags, in the sections of the help.
func FlagSets() (cliflag.NamedFlagSets, error) {
	f := &Flags{ignored: map[string]bool{}}
	err := f.define()
	return f.sections, err
}

// withoutEffect returns the names of the flags on the command line that change nothing here.
func (f *Flags) withoutEffect() (names []string) {
	f.all.Visit(func(flag *pflag.Flag) {
		if f.ignored[flag.Name] {
			names = append(names, "--"+flag.Name)
		}
	})
	return names
}
