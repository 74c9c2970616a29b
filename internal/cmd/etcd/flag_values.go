package etcd

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// urls is the value of a flag for URLs that are separated by commas.
type urls struct {
	list []url.URL
	// text is the value as it was given, if it is one of allowed, which are not parsed.
	text    string
	allowed []string
}

func urlsOf(p *[]url.URL, byDefault string, allowed ...string) definition {
	return func(flags *flag.FlagSet, name, description string) {
		value := &urlsVar{urls: urls{allowed: allowed}, target: orNew(p)}
		if byDefault != "" {
			if err := value.Set(byDefault); err != nil {
				panic(err) // the default is a constant
			}
		}
		flags.Var(value, name, description)
	}
}

// urlsVar is a value of urls that is also kept in a variable.
type urlsVar struct {
	urls
	target *[]url.URL
}

// Set parses the value. An empty one is no URL.
func (u *urlsVar) Set(value string) error {
	if err := u.urls.Set(value); err != nil {
		return err
	}
	*u.target = u.list
	return nil
}

// Set parses the value.
func (u *urls) Set(value string) error {
	if value == u.String() {
		return nil
	}
	if slices.Contains(u.allowed, value) {
		u.list, u.text = nil, value
		return nil
	}
	list, err := parseURLs(strings.Split(value, ","))
	if err != nil {
		return err
	}
	u.list, u.text = list, ""
	return nil
}

func (u *urls) String() string {
	if u.text != "" {
		return u.text
	}
	all := make([]string, len(u.list))
	for i := range u.list {
		all[i] = u.list[i].String()
	}
	return strings.Join(all, ",")
}

// parseURLs returns the URLs without duplicates, sorted.
func parseURLs(values []string) ([]url.URL, error) {
	found := map[string]url.URL{}
	for _, value := range values {
		value = strings.TrimSpace(value)
		u, err := url.Parse(value)
		if err != nil {
			return nil, err
		}
		switch u.Scheme {
		case "http", "https":
			if _, _, err := net.SplitHostPort(u.Host); err != nil {
				return nil, fmt.Errorf(`URL address does not have the form "host:port": %s`, value)
			}
			if u.Path != "" {
				return nil, fmt.Errorf("URL must not contain a path: %s", value)
			}
		case "unix", "unixs":
		default:
			return nil, fmt.Errorf("URL scheme must be http, https, unix, or unixs: %s", value)
		}
		found[u.String()] = *u
	}
	list := make([]url.URL, 0, len(found))
	for _, key := range slices.Sorted(maps.Keys(found)) {
		list = append(list, found[key])
	}
	return list, nil
}

// names is the value of a flag for texts that are separated by commas.
type names []string

func namesOf(p *[]string, byDefault ...string) definition {
	return func(flags *flag.FlagSet, name, description string) {
		p := orNew(p)
		*p = byDefault
		flags.Var((*names)(p), name, description)
	}
}

// Set parses the value.
func (n *names) Set(value string) error {
	*n = strings.Split(value, ",")
	return nil
}

func (n *names) String() string { return strings.Join(*n, ",") }

// choice is the value of a flag that has one of some values, or several ones separated by commas.
type choice struct {
	value   *string
	valid   []string
	several bool
}

func choiceOf(p *string, valid ...string) definition {
	return func(flags *flag.FlagSet, name, description string) {
		p := orNew(p)
		*p = valid[0]
		flags.Var(&choice{value: p, valid: valid}, name, description)
	}
}

func choices(valid ...string) definition {
	return custom(&choice{value: new(string), valid: valid, several: true})
}

// Set checks and keeps the value.
func (c *choice) Set(value string) error {
	if c.several {
		for part := range strings.SplitSeq(value, ",") {
			if !slices.Contains(c.valid, part) {
				return fmt.Errorf("invalid value %q", part)
			}
		}
	} else if !slices.Contains(c.valid, value) {
		return errors.New("invalid value")
	}
	*c.value = value
	return nil
}

func (c *choice) String() string {
	if c.value == nil { // the flag package asks for the zero value
		return ""
	}
	return *c.value
}

// unsigned32 is the value of a flag for a number of 32 bits.
type unsigned32 uint32

// Set parses the value.
func (u *unsigned32) Set(value string) error {
	n, err := strconv.ParseUint(value, 0, 32)
	*u = unsigned32(n)
	return err
}

func (u *unsigned32) String() string { return strconv.FormatUint(uint64(*u), 10) }

func unsigned32Of(byDefault uint32) definition {
	value := unsigned32(byDefault)
	return custom(&value)
}

// featureGates is the value of --feature-gates: NAME=BOOL,...
type featureGates map[string]bool

// features returns the feature gates of etcd.
func features() []string {
	return []string{
		"CompactHashCheck", "InitialCorruptCheck", "LeaseCheckpoint", "LeaseCheckpointPersist", "SetMemberLocalAddr",
		"StopGRPCServiceOnDefrag", "TxnModeWriteWithSharedBuffer",
	}
}

// Set parses the value.
func (g featureGates) Set(value string) error {
	for part := range strings.SplitSeq(value, ",") {
		if part == "" {
			continue
		}
		name, setting, found := strings.Cut(part, "=")
		name = strings.TrimSpace(name)
		if !found {
			return fmt.Errorf("missing bool value for %s", name)
		}
		enabled, err := strconv.ParseBool(strings.TrimSpace(setting))
		if err != nil {
			return fmt.Errorf("invalid value of %s=%s, err: %w", name, strings.TrimSpace(setting), err)
		}
		if name != "AllAlpha" && name != "AllBeta" && !slices.Contains(features(), name) {
			return fmt.Errorf("unrecognized feature gate: %s", name)
		}
		g[name] = enabled
	}
	return nil
}

func (g featureGates) String() string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(g)) {
		parts = append(parts, fmt.Sprintf("%s=%t", name, g[name]))
	}
	return strings.Join(parts, ",")
}

// unused is the value of a flag of early releases, which etcd accepts and does not read.
type unused struct{}

// Set accepts all values.
func (unused) Set(string) error { return nil }

func (unused) String() string { return "" }

// IsBoolFlag reports that the flag needs no value.
func (unused) IsBoolFlag() bool { return true }
