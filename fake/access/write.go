package access

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apiserver/pkg/authentication/serviceaccount"
	"sigs.k8s.io/yaml"

	"example.com/fakeapi/internal/printable"
)

// WriteManifests writes the smallest roles that allow the accesses of r, as YAML: a ServiceAccount,
// a ClusterRole for objects that have no namespace, for requests for all namespaces and for paths,
// and a Role for each other namespace, with their bindings. What is needed in more than three
// namespaces is in the ClusterRole. What every authenticated user may do is left out. A watch needs
// the verb list as well, for servers without streaming lists.
//
// A rule has resourceNames if all its requests were for the same objects, at most three, unless the
// client also lists or watches them: it then works with the objects that it finds. A role that the
// client creates or changes needs no permission if the client has all that it grants; otherwise the
// permissions are added for a role, and the verb bind for a binding.
//
// name is the name of the ServiceAccount, the roles and the bindings, "" for that of the client.
// namespace is that of the ServiceAccount, "" for "default". If r has several clients, which differ
// by user or by the product of the user agent, each has a set of its own, with its name after name
// and a hyphen; and a client that is a ServiceAccount keeps its name and namespace. The output is
// the same for the same report. An error is that of w, or of a name that is invalid.
func (r Report) WriteManifests(w io.Writer, name, namespace string) error {
	for _, value := range []string{name, namespace} {
		if value == "" {
			continue
		}
		errs := validation.IsDNS1123Subdomain(value)
		if longest := validation.DNS1123SubdomainMaxLength - 2*maxRoleName; len(value) > longest {
			errs = append(errs, validation.MaxLenError(longest)) // names of clients follow
		}
		if len(errs) > 0 {
			return fmt.Errorf("access: WriteManifests: the name %q: %s", value, strings.Join(errs, "; "))
		}
	}
	written := map[string]bool{}
	for _, set := range newRoleSets(r, name, cmp.Or(namespace, metav1.NamespaceDefault)) {
		comment := "# What %s needs.\n"
		if len(set.rules) == 0 {
			comment = "# %s needs no role.\n"
		}
		if _, err := fmt.Fprintf(w, comment, set.client); err != nil {
			return err
		}
		for _, obj := range set.objects() {
			text, err := yaml.Marshal(obj)
			if err != nil {
				return err
			}
			if written[string(text)] { // a ServiceAccount with two user agents
				continue
			}
			written[string(text)] = true
			if _, err := fmt.Fprintf(w, "---\n%s", text); err != nil {
				return err
			}
		}
	}
	return nil
}

// roleSet has the rules of one client.
type roleSet struct {
	client  string // for a comment
	name    string
	account account
	// rules are those of each namespace, "" for the cluster.
	rules map[string][]rbacv1.PolicyRule
}

// clientKey distinguishes clients.
type clientKey struct{ user, product string }

// newRoleSets returns the rules of the clients of a report.
func newRoleSets(r Report, name, namespace string) (sets []roleSet) {
	byClient := map[clientKey][]Access{}
	for _, a := range r.Accesses {
		k := clientKey{a.User, product(a.UserAgent)}
		byClient[k] = append(byClient[k], a)
	}
	keys := slices.SortedFunc(maps.Keys(byClient), func(a, b clientKey) int {
		return cmp.Or(cmp.Compare(a.product, b.product), cmp.Compare(a.user, b.user))
	})
	if len(keys) == 0 {
		keys = []clientKey{{}} // a ServiceAccount without roles
	}
	names := map[string]bool{}
	for _, k := range keys {
		set := roleSet{
			client: printable.Line(strings.TrimSpace(k.product + " as " + k.user)), rules: neededRules(byClient[k]),
		}
		own := roleName(cmp.Or(k.product, k.user))
		base := cmp.Or(name, own)
		if len(keys) > 1 && name != "" {
			base = name + "-" + own
		}
		set.name = base
		for n := 2; names[set.name]; n++ {
			set.name = fmt.Sprintf("%s-%d", base, n)
		}
		names[set.name] = true
		set.account = account{namespace, set.name}
		if ns, account, err := serviceaccount.SplitUsername(k.user); err == nil && (len(keys) > 1 || name == "") {
			set.account.namespace, set.account.name = ns, account
		}
		sets = append(sets, set)
	}
	return sets
}

// maxRoleName limits the part of a name that is from a client.
const maxRoleName = 63

// roleName returns the name of a client with only the characters that names of objects may have.
func roleName(client string) string {
	name := strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', '0' <= r && r <= '9':
			return r
		case 'A' <= r && r <= 'Z':
			return r - 'A' + 'a'
		}
		return '-'
	}, client)
	return cmp.Or(strings.Trim(name[:min(len(name), maxRoleName)], "-"), "client")
}

// objects returns the manifests of the set.
func (s *roleSet) objects() []any {
	type serviceAccount struct { // the Go type has fields that are not omitted
		metav1.TypeMeta   `json:",inline"`
		metav1.ObjectMeta `json:"metadata"`
	}
	subjects := []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: s.account.namespace, Name: s.account.name}}
	typeMeta := func(kind string) metav1.TypeMeta {
		return metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: kind}
	}
	ref := func(kind string) rbacv1.RoleRef {
		return rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: kind, Name: s.name}
	}
	objects := []any{serviceAccount{
		metav1.TypeMeta{APIVersion: corev1.SchemeGroupVersion.String(), Kind: "ServiceAccount"},
		metav1.ObjectMeta{Namespace: s.account.namespace, Name: s.account.name},
	}}
	for _, namespace := range slices.Sorted(maps.Keys(s.rules)) {
		rules, meta := s.rules[namespace], metav1.ObjectMeta{Namespace: namespace, Name: s.name}
		if namespace == "" {
			objects = append(objects,
				rbacv1.ClusterRole{TypeMeta: typeMeta("ClusterRole"), ObjectMeta: meta, Rules: rules},
				rbacv1.ClusterRoleBinding{TypeMeta: typeMeta("ClusterRoleBinding"), ObjectMeta: meta, Subjects: subjects, RoleRef: ref("ClusterRole")})
			continue
		}
		objects = append(objects,
			rbacv1.Role{TypeMeta: typeMeta("Role"), ObjectMeta: meta, Rules: rules},
			rbacv1.RoleBinding{TypeMeta: typeMeta("RoleBinding"), ObjectMeta: meta, Subjects: subjects, RoleRef: ref("Role")})
	}
	return objects
}

// product returns the name of the program of a user agent, such as "manager" of "manager/v1.0
// (linux)".
func product(userAgent string) string {
	if end := strings.IndexAny(userAgent, "/ "); end >= 0 {
		return userAgent[:end]
	}
	return userAgent
}
