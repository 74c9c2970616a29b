package access

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"reflect"
	"strings"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	sigsjson "sigs.k8s.io/json"

	"example.com/fakeapi/fake/internal/manifests"
)

// Manifests has the roles, bindings and service accounts of manifests; see ReadManifests.
type Manifests struct {
	roles    []*role
	bindings []*binding
	accounts []account
}

// role is a Role or a ClusterRole.
type role struct {
	file                  string // "" for a role of the bootstrap policy
	kind, namespace, name string
	labels                map[string]string
	rules                 []rbacv1.PolicyRule
	aggregation           *rbacv1.AggregationRule
}

func (r *role) String() string { return r.kind + " " + qualifiedName(r.namespace, r.name) }

// isSame reports whether two roles are the same object.
func (r *role) isSame(other *role) bool {
	return r.kind == other.kind && r.namespace == other.namespace && r.name == other.name
}

// binding is a RoleBinding or a ClusterRoleBinding.
type binding struct {
	file                  string
	kind, namespace, name string
	ref                   rbacv1.RoleRef
	subjects              []rbacv1.Subject
}

func (b *binding) String() string { return b.kind + " " + qualifiedName(b.namespace, b.name) }

// account is a ServiceAccount.
type account struct{ namespace, name string }

// qualifiedName returns NAMESPACE/NAME, or the name alone without a namespace.
func qualifiedName(namespace, name string) string {
	if namespace == "" {
		return name
	}
	return namespace + "/" + name
}

// ReadManifests reads the Roles, ClusterRoles, RoleBindings, ClusterRoleBindings and
// ServiceAccounts of the manifests in a file system and its directories: of all files that end in
// .yaml, .yml or .json, except those of kustomize (kustomization.yaml, kustomization.yml) and
// hidden ones. A file may have several documents, and a List stands for its items. Of a
// ClusterServiceVersion (Operator Lifecycle Manager) it reads the permissions and the
// clusterPermissions. Other objects, and documents that are no objects, are ignored.
//
// An error names the file: YAML that cannot be parsed, a field that does not exist, a version of
// rbac.authorization.k8s.io that is not v1, two different objects of one name, or a template as
// Helm has them, which has to be rendered first.
func ReadManifests(fsys fs.FS) (*Manifests, error) {
	if fsys == nil {
		return nil, errors.New("access: ReadManifests needs a file system")
	}
	m := &Manifests{}
	err := manifests.Walk(fsys, func(name string, body []byte) error {
		err := manifests.ReadDocuments(name, body, func(_ string, document []byte) error {
			return m.addDocument(name, document)
		})
		if err != nil && !errors.Is(err, errTemplate) && bytes.Contains(body, []byte("{{")) {
			return fmt.Errorf("%w (%w)", err, errTemplate)
		}
		return err
	})
	if err != nil {
		prefix := ""
		if stringer, ok := fsys.(fmt.Stringer); ok {
			prefix = stringer.String() + ": "
		}
		return nil, fmt.Errorf("access: manifests: %s%w", prefix, err)
	}
	return m, nil
}

// errTemplate is the error of a file that is a template.
var errTemplate = errors.New("it has template actions, {{...}}: render the template first, as helm template does")

// addDocument adds the objects of the JSON of a document.
func (m *Manifests) addDocument(file string, document []byte) error {
	var head struct {
		metav1.TypeMeta `json:",inline"`
		Items           []json.RawMessage `json:"items"`
	}
	if err := json.Unmarshal(document, &head); err != nil {
		if isObject := bytes.HasPrefix(bytes.TrimSpace(document), []byte("{")); !isObject {
			return nil // such as the operations of a JSON patch
		}
		var mismatch *json.UnmarshalTypeError
		if errors.As(err, &mismatch) { // the document is not an object of the API
			return nil
		}
		return err
	}
	gv, err := schema.ParseGroupVersion(head.APIVersion)
	if err != nil || head.Kind == "" {
		return nil
	}
	itemKind, isList := strings.CutSuffix(head.Kind, "List")
	switch {
	case isList && (gv == corev1.SchemeGroupVersion || gv.Group == rbacv1.GroupName):
		for i, item := range head.Items {
			item, err := withKind(item, head.APIVersion, itemKind)
			if err == nil {
				err = m.addDocument(file, item)
			}
			if err != nil {
				return fmt.Errorf("items[%d]: %w", i, err)
			}
		}
		return nil
	case gv.Group == "operators.coreos.com" && head.Kind == "ClusterServiceVersion":
		return m.addOperator(file, document)
	case gv == corev1.SchemeGroupVersion && head.Kind == "ServiceAccount":
		var object struct{ Metadata metav1.ObjectMeta }
		if err := json.Unmarshal(document, &object); err != nil {
			return fmt.Errorf("%s: %w", head.Kind, err)
		}
		m.accounts = append(m.accounts, account{object.Metadata.Namespace, object.Metadata.Name})
		return nil
	case gv.Group == rbacv1.GroupName:
		if err := m.addRBAC(file, gv, head.Kind, document); err != nil {
			return fmt.Errorf("%s: %w", head.Kind, err)
		}
	}
	return nil
}

// withKind returns an item of a list with the apiVersion and kind that it has by its list, if it
// has none of its own.
func withKind(item json.RawMessage, apiVersion, kind string) (json.RawMessage, error) {
	var object map[string]json.RawMessage
	if err := json.Unmarshal(item, &object); err != nil || kind == "" || object == nil || object["kind"] != nil {
		return item, err
	}
	for field, value := range map[string]string{"apiVersion": apiVersion, "kind": kind} {
		encoded, err := json.Marshal(value)
		if err != nil {
			return nil, err
		}
		object[field] = encoded
	}
	return json.Marshal(object)
}

// addRBAC adds an object of rbac.authorization.k8s.io.
func (m *Manifests) addRBAC(file string, gv schema.GroupVersion, kind string, document []byte) error {
	if gv != rbacv1.SchemeGroupVersion {
		return fmt.Errorf("the version %s is not served since Kubernetes v1.22; it is %s", gv, rbacv1.SchemeGroupVersion)
	}
	switch kind {
	case "Role", "ClusterRole":
		var r rbacv1.ClusterRole // has the fields of a Role as well
		if err := decodeStrict(document, &r); err != nil {
			return err
		}
		if hasTemplate(r.Namespace, r.Name, r.Rules, r.AggregationRule) {
			return errTemplate
		}
		switch {
		case kind == "ClusterRole":
			r.Namespace = ""
		case r.AggregationRule != nil:
			return errors.New(`unknown field "aggregationRule"`)
		}
		return m.addRole(&role{
			file: file, kind: kind, namespace: r.Namespace, name: r.Name, labels: r.Labels, rules: r.Rules, aggregation: r.AggregationRule,
		})
	case "RoleBinding", "ClusterRoleBinding":
		var b rbacv1.RoleBinding // has the fields of a ClusterRoleBinding
		if err := decodeStrict(document, &b); err != nil {
			return err
		}
		if hasTemplate(b.Namespace, b.Name, b.RoleRef, b.Subjects) {
			return errTemplate
		}
		if kind == "ClusterRoleBinding" {
			b.Namespace = ""
		}
		return m.addBinding(&binding{file: file, kind: kind, namespace: b.Namespace, name: b.Name, ref: b.RoleRef, subjects: b.Subjects})
	}
	return nil
}

// hasTemplate reports whether values contain template actions.
func hasTemplate(values ...any) bool {
	text, err := json.Marshal(values)
	return err == nil && bytes.Contains(text, []byte("{{")) // which is in strings only
}

// decodeStrict decodes an object, in which unknown fields are errors.
func decodeStrict(document []byte, into any) error {
	strict, err := sigsjson.UnmarshalStrict(document, into)
	return cmp.Or(err, errors.Join(strict...))
}

// addRole adds a role, unless it is there already.
func (m *Manifests) addRole(r *role) error {
	if r.name == "" {
		return errors.New("metadata.name: Required value")
	}
	for _, one := range m.roles {
		if one.isSame(r) {
			if !reflect.DeepEqual(one.rules, r.rules) || !reflect.DeepEqual(one.aggregation, r.aggregation) {
				return fmt.Errorf("%s differs from that in %s", qualifiedName(r.namespace, r.name), one.file)
			}
			return nil
		}
	}
	m.roles = append(m.roles, r)
	return nil
}

// addBinding adds a binding, unless it is there already.
func (m *Manifests) addBinding(b *binding) error {
	if b.name == "" {
		return errors.New("metadata.name: Required value")
	}
	for _, one := range m.bindings {
		if one.kind == b.kind && one.namespace == b.namespace && one.name == b.name {
			if one.ref != b.ref || !reflect.DeepEqual(one.subjects, b.subjects) {
				return fmt.Errorf("%s differs from that in %s", qualifiedName(b.namespace, b.name), one.file)
			}
			return nil
		}
	}
	m.bindings = append(m.bindings, b)
	return nil
}

// operatorPermission is an element of permissions or clusterPermissions of a ClusterServiceVersion.
type operatorPermission struct {
	ServiceAccountName string              `json:"serviceAccountName"`
	Rules              []rbacv1.PolicyRule `json:"rules"`
}

// addOperator adds what the Operator Lifecycle Manager creates for a ClusterServiceVersion: a Role
// for each of its permissions, a ClusterRole for each of its clusterPermissions, and their bindings
// (https://olm.operatorframework.io/docs/concepts/crds/clusterserviceversion/).
func (m *Manifests) addOperator(file string, document []byte) error {
	var object struct {
		Metadata metav1.ObjectMeta
		Spec     struct {
			Install struct {
				Spec struct {
					Permissions        []operatorPermission `json:"permissions"`
					ClusterPermissions []operatorPermission `json:"clusterPermissions"`
				}
			}
		}
	}
	if err := json.Unmarshal(document, &object); err != nil {
		return fmt.Errorf("ClusterServiceVersion: %w", err)
	}
	add := func(kind, bindingKind string, permissions []operatorPermission) {
		for i, p := range permissions {
			name := fmt.Sprintf("%s-%d", object.Metadata.Name, i)
			m.roles = append(m.roles, &role{file: file, kind: kind, name: name, rules: p.Rules})
			m.bindings = append(m.bindings, &binding{
				file: file, kind: bindingKind, name: name,
				ref:      rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: kind, Name: name},
				subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Name: p.ServiceAccountName}},
			})
		}
	}
	add("Role", "RoleBinding", object.Spec.Install.Spec.Permissions)
	add("ClusterRole", "ClusterRoleBinding", object.Spec.Install.Spec.ClusterPermissions)
	return nil
}
