package conformance

import "strings"

// group is one of rules: the letters in front of their numbers, and what they are about.
type group struct{ name, title string }

// groups are all of them, in the order of rules.md.
var groups = []group{
	{"PV", "paths and verbs"},
	{"NM", "names"},
	{"MD", "metadata of objects"},
	{"OC", "optimistic concurrency"},
	{"CR", "create"},
	{"GT", "get"},
	{"LS", "list"},
	{"RS", "resource versions"},
	{"CH", "chunks of a list"},
	{"WA", "watch"},
	{"BM", "bookmarks"},
	{"SI", "streaming lists"},
	{"EX", "expired states and timeouts"},
	{"SE", "selectors"},
	{"PA", "patches"},
	{"SA", "server-side apply"},
	{"FV", "field validation"},
	{"DR", "dry run"},
	{"DL", "deletion"},
	{"NS", "namespaces"},
	{"SU", "subresources"},
	{"WN", "warnings"},
	{"TB", "Tables"},
	{"PM", "objects down to their metadata"},
	{"VR", "virtual resources"},
	{"AU", "authentication and authorization"},
	{"ST", "errors"},
	{"PB", "protobuf"},
	{"CB", "CBOR"},
	{"CN", "content negotiation"},
	{"DI", "discovery, health, metrics"},
	{"HT", "HTTP"},
	{"CD", "definitions of custom resources"},
}

// Group is the letters in front of the number, such as "PV".
func (c Case) Group() string {
	name, _, _ := strings.Cut(c.ID, "-")
	return name
}

// GroupTitle says what the rules of a group are about, "paths and verbs" for "PV". It is "" for a group that there is not.
func GroupTitle(name string) string {
	for _, one := range groups {
		if one.name == name {
			return one.title
		}
	}
	return ""
}
