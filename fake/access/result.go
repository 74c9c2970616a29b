package access

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"

	"example.com/fakeapi/internal/printable"
)

// Result has the differences between what a client needed and what manifests grant it.
type Result struct {
	// Client is that of the CheckOptions. Subject is the subject whose roles were compared, such as
	// "ServiceAccount system/controller-manager", or "all roles".
	Client  string `json:"client,omitempty"`
	Subject string `json:"subject"`
	// Accesses is the number of accesses that were compared.
	Accesses int `json:"accesses"`
	// Missing has the rules that accesses need and the manifests lack, the earliest request first.
	Missing []MissingRule `json:"missing,omitempty"`
	// Unused has the rules of the subject that no access used, by file and role in the order of the
	// manifests.
	Unused []UnusedRule `json:"unused,omitempty"`
	// Notes has what the manifests leave open: that they have no role at all, as those of another
	// directory; bindings to roles that are neither in the manifests nor in the bootstrap policy,
	// which grant nothing; and Roles without a namespace that allow requests in several namespaces,
	// although each of them will be in one.
	Notes []string `json:"notes,omitempty"`
}

// MissingRule is a rule that accesses need and that the manifests lack.
type MissingRule struct {
	// Rule has one API group, or is for paths. It has resourceNames only if there is a rule with other
	// names.
	Rule rbacv1.PolicyRule `json:"rule"`
	// Namespaces has the sorted namespaces in which it is needed, "" for all of them and for objects
	// without a namespace.
	Namespaces []string `json:"namespaces"`
	// File and Role are those of the role that Rule fits best into. If there is none, File is "" and
	// Role is Role or ClusterRole.
	File string `json:"file,omitempty"`
	Role string `json:"role"`
	// Requests has a request for each access that needs the rule, the earliest first.
	Requests []Request `json:"requests"`
	// Or has the rules that would do instead of Rule, for the verbs escalate and bind: those of the
	// granted role that the subject does not hold.
	Or []rbacv1.PolicyRule `json:"or,omitempty"`
}

// Request is the first request of an access.
type Request struct {
	// Seq is its number in the timeline, or 0 if it is not known. Line is such as "GET /api/v1/pods",
	// or "".
	Seq  uint64 `json:"seq,omitempty"`
	Line string `json:"line,omitempty"`
	// The other fields are those of Access.
	User        string `json:"user"`
	UserAgent   string `json:"userAgent,omitempty"`
	Verb        string `json:"verb"`
	APIGroup    string `json:"apiGroup,omitempty"`
	Resource    string `json:"resource,omitempty"`
	Subresource string `json:"subresource,omitempty"`
	Namespace   string `json:"namespace,omitempty"`
	Name        string `json:"name,omitempty"`
	Path        string `json:"path,omitempty"`
}

// UnusedRule is a rule that no access used, or a part of one.
type UnusedRule struct {
	// File and Role are those of the role that has the rule.
	File string `json:"file"`
	Role string `json:"role"`
	// Binding is set if Role is one of the bootstrap policy, none of which was used. File is then that
	// of the binding, and Rule is empty.
	Binding string `json:"binding,omitempty"`
	// Rule is the rule without what was used of it.
	Rule rbacv1.PolicyRule `json:"rule"`
	// Used is what was used of a rule with wildcards, "*". Rule is then the whole rule.
	Used []rbacv1.PolicyRule `json:"used,omitempty"`
}

// String returns r as text: for each missing rule the YAML, the file and the first request, and a
// line for each unused rule and each note.
func (r *Result) String() string {
	var b strings.Builder
	if len(r.Missing) > 0 {
		fmt.Fprintf(&b, "Missing, for %s:\n", printable.Line(r.Subject))
		for i := range r.Missing {
			b.WriteString("\n" + r.Missing[i].String())
		}
	}
	if len(r.Unused) > 0 {
		if b.Len() > 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "Not used, of %s:\n\n", printable.Line(r.Subject))
		for i := range r.Unused {
			b.WriteString(r.Unused[i].String() + "\n")
		}
	}
	if b.Len() == 0 {
		fmt.Fprintf(&b, "Nothing is missing or unused, for %s.\n", printable.Line(r.Subject))
	}
	for i, note := range r.Notes {
		if i == 0 {
			b.WriteString("\nNote:\n\n")
		}
		b.WriteString(printable.Line(note) + "\n")
	}
	return b.String()
}

// maxRequests is the number of requests of a missing rule that its text has.
const maxRequests = 4

// String returns m as lines of text: the role, the rule as YAML, and the requests.
func (m *MissingRule) String() string {
	var b strings.Builder
	switch {
	case m.File != "":
		fmt.Fprintf(&b, "%s: add to %s", printable.Line(m.File), printable.Line(m.Role))
	case m.Role == "Role" && len(m.Namespaces) == 1:
		fmt.Fprintf(&b, "add to a new Role in namespace %s, with a RoleBinding", printable.Word(m.Namespaces[0]))
	default:
		fmt.Fprintf(&b, "add to a new %s, with a binding", m.Role)
	}
	b.WriteString(":\n\n" + toYAML([]rbacv1.PolicyRule{m.Rule}) + "\n")
	if len(m.Or) > 0 {
		b.WriteString("or the rules that are granted, which would allow it as well:\n\n" + toYAML(m.Or) + "\n")
	}
	if marker := m.marker(); marker != "" {
		fmt.Fprintf(&b, "or, if controller-gen generates the file:\n\n%s\n\n", marker)
	}
	for i := range m.Requests[:min(len(m.Requests), maxRequests)] {
		label := "first needed by"
		if i > 0 {
			label = "then by"
		}
		fmt.Fprintf(&b, "%s %s\n", label, m.Requests[i].String())
	}
	if more := len(m.Requests) - maxRequests; more > 0 {
		fmt.Fprintf(&b, "and by %d more\n", more)
	}
	return b.String()
}

// marker returns the marker of controller-gen for the rule in the file that it writes, or "".
func (m *MissingRule) marker() string {
	if m.Role != "ClusterRole manager-role" {
		return ""
	}
	var parts []string
	add := func(name string, values []string) {
		if len(values) > 0 {
			quoted := slices.Clone(values)
			for i, one := range quoted {
				if one == "" {
					quoted[i] = `""`
				}
			}
			parts = append(parts, name+"="+strings.Join(quoted, ";"))
		}
	}
	add("groups", m.Rule.APIGroups)
	add("resources", m.Rule.Resources)
	add("resourceNames", m.Rule.ResourceNames)
	add("urls", m.Rule.NonResourceURLs)
	add("verbs", m.Rule.Verbs)
	return printable.Line("// +kubebuilder:rbac:" + strings.Join(parts, ","))
}

// String returns r as a line of text. Of the user agent it has the part before the first space.
func (r *Request) String() string {
	var b strings.Builder
	if r.Seq > 0 {
		fmt.Fprintf(&b, "#%d ", r.Seq)
	}
	switch {
	case r.Line != "":
		fmt.Fprintf(&b, "%s (%s)", r.Line, r.Verb)
	case r.Path != "":
		fmt.Fprintf(&b, "%s %s", r.Verb, r.Path)
	default:
		fmt.Fprintf(&b, "%s %s", r.Verb, describeResource(r.APIGroup, resourceName(r.Resource, r.Subresource)))
		if r.Namespace != "" || r.Name != "" {
			b.WriteString(" " + qualifiedName(r.Namespace, cmp.Or(r.Name, "*")))
		}
	}
	if program, _, _ := strings.Cut(r.UserAgent, " "); program != "" {
		b.WriteString(" of " + program)
	}
	b.WriteString(" as " + r.User)
	return printable.Line(b.String())
}

// describeResource returns RESOURCE.GROUP, or RESOURCE of the core group, with the subresource.
func describeResource(group, resource string) string {
	name, subresource, _ := strings.Cut(resource, "/")
	if group != "" {
		name += "." + group
	}
	return resourceName(name, subresource)
}

// parentOf returns the resource of RESOURCE/SUBRESOURCE.
func parentOf(resource string) string {
	parent, _, _ := strings.Cut(resource, "/")
	return parent
}

// String returns u as a line of text.
func (u *UnusedRule) String() string {
	text := u.File + ": " + u.Role + ": "
	switch {
	case u.Binding != "":
		return printable.Line(u.File + ": " + u.Binding + ": " + u.Role)
	case len(u.Used) > 0:
		var used []string
		for i := range u.Used {
			used = append(used, describeRule(&u.Used[i]))
		}
		text += describeRule(&u.Rule) + ": used are " + strings.Join(used, "; ")
	default:
		text += describeRule(&u.Rule)
	}
	return printable.Line(strings.TrimPrefix(text, ": "))
}

// describeRule returns a rule as a line of text: verbs, resources, names.
func describeRule(r *rbacv1.PolicyRule) string {
	text := strings.Join(r.Verbs, ", ")
	var of []string
	for _, group := range r.APIGroups {
		for _, resource := range r.Resources {
			of = append(of, describeResource(group, resource))
		}
	}
	of = append(of, r.NonResourceURLs...)
	if len(of) > 0 {
		text += " of " + strings.Join(of, ", ")
	}
	if len(r.ResourceNames) > 0 {
		text += " named " + strings.Join(r.ResourceNames, ", ")
	}
	return text
}

// toYAML returns rules as the rules of a role.
func toYAML(rules []rbacv1.PolicyRule) string {
	text, err := yaml.Marshal(rules)
	if err != nil { // a rule has strings only
		return err.Error() + "\n"
	}
	return string(text)
}
