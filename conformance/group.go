package conformance

import "strings"

// group is a group of rules: the letters of their numbers, and a title.
type group struct{ name, title string }

// groups has all groups, in the order of rules.md.
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
	{"PM", "PartialObjectMetadata"},
	{"VR", "virtual resources"},
	{"AU", "authentication and authorization"},
	{"ST", "errors"},
	{"PB", "protobuf"},
	{"CB", "CBOR"},
	{"CN", "content negotiation"},
	{"DI", "discovery, health, metrics"},
	{"HT", "HTTP"},
	{"CD", "custom resource definitions"},
	{"DV", "defaults of built-in types"},
	{"VA", "validation of built-in types"},
	{"WH", "admission webhooks"},
	{"AP", "admission policies"},
	{"RB", "RBAC"},
}

// Group returns the letters of the case's rule, such as "PV".
func (c Case) Group() string {
	name, _, _ := strings.Cut(c.ID, "-")
	return name
}

// GroupTitle returns the title of a group, such as "paths and verbs" for "PV". It returns "" for an
// unknown group.
func GroupTitle(name string) string {
	for _, one := range groups {
		if one.name == name {
			return one.title
		}
	}
	return ""
}
