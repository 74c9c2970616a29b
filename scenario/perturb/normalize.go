package perturb

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
)

// normalizer removes from objects what differs between undisturbed runs.
type normalizer struct {
	// ignored has the patterns of Config.Ignore.
	ignored []ignorePattern
	// fields has the paths that differ, and unordered the lists whose order differs, as
	// "RESOURCE:PATH".
	fields, unordered map[string]bool
	// base has the texts of the objects that exist before the first step.
	base map[objectKey]string
	// prefixes has the constant beginnings of names that differ, by "RESOURCE NAMESPACE".
	prefixes map[string][]string
}

func newNormalizer(ignore []string) (*normalizer, error) {
	n := &normalizer{fields: map[string]bool{}, unordered: map[string]bool{}, prefixes: map[string][]string{}}
	for _, text := range ignore {
		p, err := parseIgnore(text)
		if err != nil {
			return nil, err
		}
		n.ignored = append(n.ignored, p)
	}
	return n, nil
}

// ignorePattern is an element of Config.Ignore, with patterns of package path. field is "" for
// whole objects.
type ignorePattern struct{ resource, name, field string }

func parseIgnore(text string) (ignorePattern, error) {
	objects, field, hasField := strings.Cut(text, ":")
	resource, name, _ := strings.Cut(objects, "/")
	if resource == "" || name == "" || hasField && field == "" {
		return ignorePattern{}, fmt.Errorf("perturb: Config.Ignore: expected RESOURCE/NAME or RESOURCE/NAME:PATH, found %q", text)
	}
	// Only "*" has a meaning, and it matches any text.
	quoted := strings.NewReplacer(`\`, `\\`, "?", `\?`, "[", `\[`)
	return ignorePattern{quoted.Replace(resource), quoted.Replace(name), quoted.Replace(withoutSlashes(genericPath(field)))}, nil
}

// withoutSlashes returns a path of a field without slashes, which "*" does not match.
func withoutSlashes(field string) string { return strings.ReplaceAll(field, "/", ".") }

func (p ignorePattern) matches(key objectKey) bool {
	return matchesPattern(p.resource, key.resource) && matchesPattern(p.name, key.name)
}

// matchesPattern reports whether a pattern matches s, which has no slashes.
func matchesPattern(pattern, s string) bool {
	ok, _ := path.Match(pattern, s) // the pattern is valid
	return ok
}

// ignoredResources are not compared. They are about what happened and who leads, or written by the
// server itself: each create of a Service allocates an IPAddress, also one that then fails.
var ignoredResources = []string{
	"events", "events.events.k8s.io", "leases.coordination.k8s.io", "ipaddresses.networking.k8s.io",
}

// ignores reports whether an object is not compared.
func (n *normalizer) ignores(key objectKey) bool {
	if slices.Contains(ignoredResources, key.resource) {
		return true
	}
	return slices.ContainsFunc(n.ignored, func(p ignorePattern) bool { return p.field == "" && p.matches(key) })
}

// ignoresField reports whether a field is not compared.
func (n *normalizer) ignoresField(key objectKey, field string) bool {
	if n.fields[key.resource+":"+field] {
		return true
	}
	return slices.ContainsFunc(n.ignored, func(p ignorePattern) bool {
		return p.field != "" && p.matches(key) && matchesPattern(p.field, withoutSlashes(field))
	})
}

// names are the names and uids of a run.
type names struct {
	uids  map[string]objectKey
	alive map[string]bool
	state *State
	// generated are the names of existing objects that have a pattern, the longest first, since a
	// name can be a part of another.
	generated []generatedName
}

// generatedName is a name and its pattern.
type generatedName struct{ name, pattern string }

// shortestName is the length of generated names that are found inside of other texts.
const shortestName = 4

// pattern returns the name of an object, with "*" for a generated part.
func (n *normalizer) pattern(o *object) string {
	if prefix := o.text("generateName"); prefix != "" && strings.HasPrefix(o.key.name, prefix) {
		return prefix + "*"
	}
	return n.namePattern(o.key)
}

func (n *normalizer) namePattern(key objectKey) string {
	for _, prefix := range n.prefixes[key.resource+" "+key.namespace] {
		if strings.HasPrefix(key.name, prefix) {
			return prefix + "*"
		}
	}
	return key.name
}

// patternKey returns the key of an object with the pattern of its name.
func (n *normalizer) patternKey(o *object) objectKey {
	return objectKey{o.key.resource, o.key.namespace, n.pattern(o)}
}

// normalState is a normalized state: for each key with the pattern of a name, the texts of the
// objects, sorted.
type normalState map[objectKey][]string

// state returns the normalized state of the objects that were written after a revision and are not
// as before.
func (n *normalizer) state(s *State, in names, baseline uint64) normalState {
	result := normalState{}
	for key, o := range s.objects {
		if o.revision <= baseline || n.ignores(key) {
			continue
		}
		if text := n.text(o, in); text != n.base[key] {
			pattern := n.patternKey(o)
			result[pattern] = append(result[pattern], text)
		}
	}
	for _, texts := range result {
		slices.Sort(texts)
	}
	return result
}

// equal reports whether two states are equal.
func (s normalState) equal(other normalState) bool {
	if len(s) != len(other) {
		return false
	}
	for key, texts := range s {
		if !slices.Equal(texts, other[key]) {
			return false
		}
	}
	return true
}

// text returns the JSON of the normalized object.
func (n *normalizer) text(o *object, in names) string {
	one := &normalization{normalizer: n, key: o.key, in: in, generation: o.metadata()["generation"]}
	value := one.value(o.fields, "")
	data, err := json.Marshal(value)
	if err != nil {
		return err.Error()
	}
	return string(data)
}

// normalization normalizes one object.
type normalization struct {
	*normalizer
	key        objectKey
	in         names
	generation any
}

// metadataFields are fields of the metadata that are different in each run.
var metadataFields = []string{"uid", "resourceVersion", "creationTimestamp", "managedFields", "generation", "selfLink"}

func (n *normalization) value(v any, at string) any {
	switch v := v.(type) {
	case map[string]any:
		result := make(map[string]any, len(v))
		for name, field := range v {
			if at == "metadata" && slices.Contains(metadataFields, name) {
				continue
			}
			path := name
			if at != "" {
				path = at + "." + name
			}
			if n.ignoresField(n.key, path) {
				continue
			}
			if name == "observedGeneration" {
				field = n.observed(field)
			}
			result[name] = n.value(field, path)
		}
		return result
	case []any:
		result := make([]any, len(v))
		for i, element := range v {
			if n.ignoresField(n.key, at+"[]") {
				result[i] = "<ignored>"
				continue
			}
			result[i] = n.value(element, at+"[]")
		}
		if at == "metadata.finalizers" || at == "metadata.ownerReferences" || n.unordered[n.key.resource+":"+at] {
			slices.SortFunc(result, func(a, b any) int { return strings.Compare(jsonText(a), jsonText(b)) })
		}
		return result
	case string:
		return n.text(v)
	}
	return v
}

// observed returns how an observed generation relates to the generation.
func (n *normalization) observed(v any) any {
	if v == n.generation {
		return "<current>"
	}
	return "<behind>"
}

// text normalizes a string: times, uids and generated names.
func (n *normalization) text(s string) string {
	if len(s) >= len("2000-01-01T00:00:00Z") && s[4] == '-' {
		if _, err := time.Parse(time.RFC3339, s); err == nil {
			return "<time>"
		}
	}
	if key, ok := n.in.uids[s]; ok {
		if !n.in.alive[s] {
			return "<uid of a deleted object>"
		}
		return "<uid of " + n.keyText(key) + ">"
	}
	for _, g := range n.in.generated {
		if strings.Contains(s, g.name) {
			s = strings.ReplaceAll(s, g.name, g.pattern)
		}
	}
	return s
}

func (n *normalization) keyText(key objectKey) string {
	if o := n.in.state.objects[key]; o != nil {
		return n.patternKey(o).String()
	}
	key.name = n.namePattern(key)
	return key.String()
}

func jsonText(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		return strconv.Quote(err.Error())
	}
	return string(data)
}
