package conformance_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// isSafeGrant reports whether a write is of a ClusterRole or a ClusterRoleBinding with this prefix,
// and whether a new binding is to users of the run only.
func (w writeRequest) isSafeGrant(prefix string) bool {
	path := regexp.MustCompile(`^/apis/rbac\.authorization\.k8s\.io/v1/(clusterroles|clusterrolebindings)(?:/(.*))?$`).FindStringSubmatch(w.path)
	if path == nil {
		return false
	}
	var o struct {
		Metadata metav1.ObjectMeta
		Subjects []rbacv1.Subject
	}
	name := path[2]
	if len(w.body) > 0 && json.Unmarshal(w.body, &o) != nil {
		return false
	}
	if name == "" {
		name = o.Metadata.Name
	}
	return strings.HasPrefix(name, prefix) && !slices.ContainsFunc(o.Subjects, func(s rbacv1.Subject) bool {
		return !strings.HasPrefix(s.Name, prefix) && !strings.HasPrefix(s.Namespace, prefix)
	})
}
