package builtin

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"

	"example.com/fakeapi/fake/internal/resource"
)

// The keys of a runtime configuration that are no group and version.
const (
	apiAll   = "api/all"
	apiGA    = "api/ga"
	apiBeta  = "api/beta"
	apiAlpha = "api/alpha"
)

// versionPatterns has what these keys match, in the order in which they are applied.
var versionPatterns = []struct {
	key     string
	pattern *regexp.Regexp
}{
	{apiAll, regexp.MustCompile(``)},
	{apiGA, regexp.MustCompile(`^v\d+$`)},
	{apiBeta, regexp.MustCompile(`^v\d+beta\d+$`)},
	{apiAlpha, regexp.MustCompile(`^v\d+alpha\d+$`)},
}

// enablement says which resources a runtime configuration enables.
type enablement struct {
	versions  map[schema.GroupVersion]bool
	resources map[schema.GroupVersionResource]bool
}

func (e *enablement) isEnabled(gvr schema.GroupVersionResource) bool {
	if enabled, ok := e.resources[gvr]; ok {
		return enabled
	}
	return e.versions[gvr.GroupVersion()]
}

// WithRuntimeConfig returns Table, or with validation false TableWithoutValidation, with the
// resources that config enables, as --runtime-config of kube-apiserver does. Resources that are
// disabled can be looked up, but are not served. The errors are those of kube-apiserver, besides
// one for versions that cannot be served.
func WithRuntimeConfig(validation bool, config map[string]string) (*resource.Table, error) {
	table := AllVersions()
	if !validation {
		table = allWithoutValidation()
	}
	if len(config) == 1 && config[apiAll] == "false" {
		return nil, fmt.Errorf("invalid runtime-config with only %s=false", apiAll)
	}
	e := &enablement{versions: map[schema.GroupVersion]bool{}, resources: map[schema.GroupVersionResource]bool{}}
	for _, r := range table.All() {
		e.versions[r.GroupVersion()] = servesByDefault(r.GroupVersionResource())
	}
	if err := checkGroups(config); err != nil {
		return nil, err
	}
	if err := e.applyPatterns(config); err != nil {
		return nil, err
	}
	if err := e.applyVersions(config); err != nil {
		return nil, err
	}
	return table.WithServed(e.isEnabled), nil
}

// checkGroups returns an error for keys that are not of a group of kube-apiserver.
func checkGroups(config map[string]string) error {
	var unknown []string
	for _, key := range slices.Sorted(maps.Keys(config)) {
		if isPattern(key) {
			continue
		}
		gv, _, err := parseKey(key)
		if err != nil {
			return err
		}
		if !isGroup(gv.Group) {
			unknown = append(unknown, gv.String())
		}
	}
	if len(unknown) > 0 {
		return errors.New("unknown api groups " + strings.Join(slices.Compact(unknown), ","))
	}
	return nil
}

func isPattern(key string) bool {
	return slices.Contains([]string{apiAll, apiGA, apiBeta, apiAlpha}, key)
}

// parseKey returns the group and version of a key, and the resource, "" for all.
func parseKey(key string) (gv schema.GroupVersion, plural string, err error) {
	parts := strings.Split(key, "/")
	if len(parts) != 2 && len(parts) != 3 {
		return gv, "", fmt.Errorf("runtime-config invalid key %s", key)
	}
	if len(parts) == 3 {
		plural = parts[2]
	}
	return schema.GroupVersion{Group: parts[0], Version: parts[1]}, plural, nil
}

// isGroup reports whether kube-apiserver has a group, served or not.
func isGroup(group string) bool {
	return group == apiextensionsv1.GroupName || scheme.Scheme.IsGroupRegistered(group)
}

// isVersion reports whether kube-apiserver has a version, served or not.
func isVersion(gv schema.GroupVersion) bool {
	return gv == apiextensionsv1.SchemeGroupVersion || scheme.Scheme.IsVersionRegistered(gv)
}

// applyPatterns applies the keys that match versions.
func (e *enablement) applyPatterns(config map[string]string) error {
	for _, p := range versionPatterns {
		value, ok := config[p.key]
		switch {
		case !ok:
			continue
		case value != "true" && value != "false":
			return fmt.Errorf("invalid value %s=%s", p.key, value)
		}
		for gv := range e.versions {
			if p.pattern.MatchString(gv.Version) {
				e.versions[gv] = value == "true"
			}
		}
	}
	return nil
}

// applyVersions applies the keys of versions, and then those of resources.
func (e *enablement) applyVersions(config map[string]string) error {
	for _, key := range slices.Sorted(maps.Keys(config)) {
		if isPattern(key) {
			continue
		}
		gv, plural, err := parseKey(key)
		if err != nil {
			return err
		}
		if !isVersion(gv) {
			return fmt.Errorf("group version %s that has not been registered", gv)
		}
		enabled, err := parseValue(key, config[key])
		_, isKnown := e.versions[gv]
		switch {
		case err != nil:
			return err
		case enabled && !isKnown && !isRemoved(gv):
			return fmt.Errorf("%s is not supported", gv)
		case plural != strings.ToLower(plural):
			return fmt.Errorf("invalid key %s: group/version/resource and resource is always lowercase plural, not %q", key, plural)
		case plural != "":
			e.resources[gv.WithResource(plural)] = enabled
		default:
			e.versions[gv] = enabled
		}
	}
	return nil
}

// parseValue returns the value of a version or a resource. An empty one enables it.
func parseValue(key, value string) (bool, error) {
	if value == "" {
		return true, nil
	}
	enabled, err := strconv.ParseBool(value)
	if err != nil {
		return false, fmt.Errorf("invalid value of %s: %s, err: %w", key, value, err)
	}
	return enabled, nil
}
