package kubeapiserver

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/api/resource"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	utilversion "k8s.io/apimachinery/pkg/util/version"
)

// level is the value of -v, a number from 0 to 2147483647.
type level int

func levelOf(p *int) definition {
	return func(flags *pflag.FlagSet, name, description string) {
		flags.VarP((*level)(p), name, name, description)
	}
}

// Set parses the value.
func (l *level) Set(value string) error {
	n, err := strconv.ParseUint(value, 10, 31)
	if err != nil {
		return err
	}
	*l = level(n)
	return nil
}

func (l *level) String() string { return strconv.Itoa(int(*l)) }

// Type returns the name of the type in the help.
func (l *level) Type() string { return "Level" }

// moduleLevels is the value of --vmodule: PATTERN=N,...
type moduleLevels struct{ items []string }

// Set parses the value.
func (m *moduleLevels) Set(value string) error {
	for item := range strings.SplitSeq(value, ",") {
		if item == "" {
			continue
		}
		parts := strings.Split(item, "=")
		if len(parts) != 2 || parts[0] == "" || parts[1] == "" {
			return fmt.Errorf("%q does not have the pattern=N format", item)
		}
		n, err := strconv.ParseUint(parts[1], 10, 31)
		if err != nil {
			return fmt.Errorf("parsing verbosity in %q: %v", item, err)
		}
		m.items = append(m.items, fmt.Sprintf("%s=%d", parts[0], n))
	}
	return nil
}

func (m *moduleLevels) String() string { return strings.Join(m.items, ",") }

// Type returns the name of the type in the help.
func (m *moduleLevels) Type() string { return "pattern=N,..." }

// quantity is a number of bytes, such as 4Ki.
func quantity(p *resource.QuantityValue) definition {
	return func(flags *pflag.FlagSet, name, description string) {
		p.Quantity = *resource.NewQuantity(0, resource.DecimalSI)
		flags.Var(p, name, description)
	}
}

func helpOf(p *bool) definition {
	return func(flags *pflag.FlagSet, name, description string) { flags.BoolVarP(p, name, "h", false, description) }
}

// Values of --version.
const (
	versionNotRequested = "false"
	versionRequested    = "true"
	versionRaw          = "raw"
)

// version is the value of --version: a Boolean, raw, or the version to report.
type version string

func versionOf(p *string) definition {
	return func(flags *pflag.FlagSet, name, description string) {
		*p = versionNotRequested
		flags.VarPF((*version)(p), name, "", description).NoOptDefVal = versionRequested
	}
}

// Set parses the value.
func (v *version) Set(value string) error {
	switch {
	case value == versionRaw:
		*v = version(value)
		return nil
	case strings.HasPrefix(value, "v"):
		if err := checkReportedVersion(value); err != nil {
			return err
		}
		*v = versionNotRequested // the version that is reported is always the same
		return nil
	}
	requested, err := strconv.ParseBool(value)
	if err == nil {
		*v = version(strconv.FormatBool(requested))
	}
	return err
}

// checkReportedVersion returns an error unless the version is releaseVersion, possibly with a
// suffix.
func checkReportedVersion(value string) error {
	wanted, err := utilversion.ParseSemantic(value)
	if err != nil {
		return err
	}
	release := utilversion.MustParseSemantic(releaseVersion)
	if wanted.Major() != release.Major() || wanted.Minor() != release.Minor() || wanted.Patch() != release.Patch() {
		return fmt.Errorf("version %q must match major/minor/patch of default version %q", value, releaseVersion)
	}
	return nil
}

func (v *version) String() string { return string(*v) }

// Type returns the name of the type in the help.
func (v *version) Type() string { return "version" }

func portRange(p *utilnet.PortRange, byDefault utilnet.PortRange) definition {
	return func(flags *pflag.FlagSet, name, description string) {
		*p = byDefault
		flags.Var(p, name, description)
	}
}
