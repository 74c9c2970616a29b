package conformance

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
)

const (
	rbacGroup   = "rbac.authorization.k8s.io"
	rbacVersion = rbacGroup + "/v1"
)

// identity is a user that requests impersonate.
type identity struct {
	user, uid string
	groups    []string
	extra     map[string]string
}

// in returns the same user in these groups.
func (u identity) in(groups ...string) identity {
	u.groups = groups
	return u
}

// setHeaders sets the headers that impersonate the user. A nil identity sets none.
func (u *identity) setHeaders(h http.Header) {
	if u == nil {
		return
	}
	if u.user != "" {
		h.Set("Impersonate-User", u.user)
	}
	if u.uid != "" {
		h.Set("Impersonate-Uid", u.uid)
	}
	for _, group := range u.groups {
		h.Add("Impersonate-Group", group)
	}
	for key, value := range u.extra {
		h.Set("Impersonate-Extra-"+key, value)
	}
}

// as sends the call as another user, by impersonation.
func (c call) as(user identity) call {
	c.impersonated = &user
	return c
}

// skipWithoutRBAC skips the case unless the server authorizes by RBAC and the client may
// impersonate.
func (s *session) skipWithoutRBAC(ctx context.Context) error {
	missing, err := s.run.rbacMissing.get(withSetup(ctx), s.missingForRBAC)
	if err == nil && missing != "" {
		err = s.skipf("%s", missing)
	}
	return err
}

// missingForRBAC returns why the cases about RBAC cannot judge the server, or "". A server with
// RBAC has the ClusterRole cluster-admin, and denies what no role allows.
func (s *session) missingForRBAC(ctx context.Context) (string, error) {
	for _, one := range []struct{ groupVersion, resource string }{{rbacVersion, "clusterroles"}, {authorizationV1, selfAccessReview.plural}} {
		found, err := s.discoverResource(ctx, one.groupVersion, one.resource)
		if err != nil || found == nil {
			return fmt.Sprintf("the server does not serve %s of %s", one.resource, one.groupVersion), err
		}
	}
	r, err := s.do(ctx, get("/apis/"+rbacVersion+"/clusterroles/cluster-admin"), code(http.StatusOK, http.StatusNotFound))
	if err != nil {
		return "", err
	}
	if r.code == http.StatusNotFound {
		return "the server does not authorize by RBAC: there is no ClusterRole cluster-admin", nil
	}
	someone := identity{user: s.run.prefix() + "without-roles"}
	review := selfAccessReview.create(object{"resourceAttributes": object{"verb": "delete", "resource": "nodes"}})
	r, err = s.do(ctx, review.as(someone), code(http.StatusCreated, http.StatusForbidden))
	switch {
	case err != nil:
		return "", err
	case r.code == http.StatusForbidden:
		return "the client may not impersonate users", nil
	case r.expect(value(true, "status", "allowed")) == nil:
		return "the server does not authorize by RBAC: a user without roles may delete Nodes", nil
	}
	return "", nil
}

// access is the ConfigMaps of a new namespace for cases about RBAC. The users of a case are named
// as the namespace with a suffix, so that its roles are about no other users.
type access struct {
	collection
	changed map[string]bool // resources of rbac.authorization.k8s.io that have changed since the last wait
	markers int             // number of markers, for their names
}

// name returns the name of a user or of a cluster-scoped object of the case.
func (a *access) name(suffix string) string { return a.namespace + "-" + suffix }

// identity returns a user of the case.
func (a *access) identity(suffix string) identity { return identity{user: a.name(suffix)} }

// user is the user that most cases are about.
func (a *access) user() identity { return a.identity("user") }

// other is another user.
func (a *access) other() identity { return a.identity("other") }

// serviceAccount returns a ServiceAccount of the case as a user.
func (a *access) serviceAccount(name string) identity {
	return identity{user: "system:serviceaccount:" + a.namespace + ":" + name}
}

// Subjects of bindings.

func userSubject(u identity) object {
	return object{"kind": "User", "name": u.user, "apiGroup": rbacGroup}
}

func groupSubject(name string) object {
	return object{"kind": "Group", "name": name, "apiGroup": rbacGroup}
}

func serviceAccountSubject(namespace, name string) object {
	return object{"kind": "ServiceAccount", "name": name, "namespace": namespace}
}

// policyRule returns a rule about resources of a group. verbs and resources are lists with commas.
func policyRule(verbs, group, resources string, names ...string) object {
	rule := object{"verbs": strings.Split(verbs, ","), "apiGroups": []string{group}, "resources": strings.Split(resources, ",")}
	if names != nil {
		rule["resourceNames"] = names
	}
	return rule
}

// pathRule returns a rule about paths that are not resources.
func pathRule(verbs string, paths ...string) object {
	return object{"verbs": strings.Split(verbs, ","), "nonResourceURLs": paths}
}

// role returns a Role.
func (a *access) role(name string, rules ...object) object {
	return newObject(rbacVersion, "Role", name).with("rules", listOf(rules))
}

// clusterRole returns a ClusterRole of the case.
func (a *access) clusterRole(suffix string, rules ...object) object {
	return newObject(rbacVersion, "ClusterRole", a.name(suffix)).with("rules", listOf(rules))
}

// listOf returns a list that is encoded as [] if it is empty.
func listOf(of []object) []object { return append([]object{}, of...) }

// bind returns a RoleBinding to a role, a Role or a ClusterRole, by its name.
func (a *access) bind(name, kind, role string, subjects ...object) object {
	return newObject(rbacVersion, "RoleBinding", name).with("subjects", listOf(subjects)).with("roleRef", roleRef(kind, role))
}

// bindCluster returns a ClusterRoleBinding of the case to a ClusterRole.
func (a *access) bindCluster(suffix, role string, subjects ...object) object {
	return newObject(rbacVersion, "ClusterRoleBinding", a.name(suffix)).with("subjects", listOf(subjects)).with("roleRef", roleRef("ClusterRole", role))
}

func roleRef(kind, name string) object {
	return object{"apiGroup": rbacGroup, "kind": kind, "name": name}
}

// grant returns a Role and a RoleBinding of the same name to a subject.
func (a *access) grant(name string, to object, rules ...object) []object {
	return []object{a.role(name, rules...), a.bind(name, "Role", name, to)}
}

// grantCluster returns a ClusterRole and a ClusterRoleBinding of the same name to a subject.
func (a *access) grantCluster(suffix string, to object, rules ...object) []object {
	return []object{a.clusterRole(suffix, rules...), a.bindCluster(suffix, a.name(suffix), to)}
}

// pathOf returns the path to create an object at, whose plural is its kind with an s.
func (a *access) pathOf(o object) string {
	root, kind := "/apis/"+o["apiVersion"].(string), o["kind"].(string)
	if o["apiVersion"] == "v1" {
		root = "/api/v1"
	}
	if kind == "Namespace" || strings.HasPrefix(kind, "Cluster") {
		return root + "/" + strings.ToLower(kind) + "s"
	}
	return root + "/namespaces/" + a.namespace + "/" + strings.ToLower(kind) + "s"
}

// itemOf returns the path of an object.
func (a *access) itemOf(o object) string {
	return a.pathOf(o) + "/" + o["metadata"].(object)["name"].(string)
}

// in returns the path of a resource of a group version in the case's namespace.
func (a *access) in(groupVersion, resource string) string {
	return "/apis/" + groupVersion + "/namespaces/" + a.namespace + "/" + resource
}

// install creates objects, and waits until roles and bindings are effective.
func (a *access) install(ctx context.Context, objects ...object) error {
	creates := make([]call, 0, len(objects))
	for _, one := range objects {
		creates = append(creates, post(a.pathOf(one), one))
	}
	return a.change(ctx, creates...)
}

// change sends writes of roles and bindings, and waits until they are effective.
func (a *access) change(ctx context.Context, writes ...call) error {
	for _, one := range writes {
		if err := a.s.expect(ctx, one, code(http.StatusOK, http.StatusCreated)); err != nil {
			return err
		}
		if resource := rbacResource.FindStringSubmatch(one.path); resource != nil {
			a.changed[resource[1]] = true
		}
	}
	return a.settle(ctx)
}

// rbacResource matches the resource in a path of rbac.authorization.k8s.io.
var rbacResource = regexp.MustCompile(`/(roles|clusterroles|rolebindings|clusterrolebindings)\b`)

// check installs objects and sends requests.
func (a *access) check(ctx context.Context, objects []object, requests ...exchange) error {
	if err := a.install(ctx, objects...); err != nil {
		return err
	}
	return a.s.expectAll(ctx, requests...)
}

// settle waits until all changes of roles and bindings are effective. kube-apiserver reads each
// resource from a cache, in the order of its changes. So settle grants further users other rights,
// and waits until they have them.
func (a *access) settle(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(withSetup(ctx), settleTimeout, fmt.Errorf("roles have no effect after %v", settleTimeout))
	defer cancel()
	if a.changed["roles"] || a.changed["rolebindings"] {
		user, name := a.newMarker()
		rule := policyRule("get", "conformance.example.com", "markers")
		asked := object{"resourceAttributes": object{"namespace": a.namespace, "verb": "get", "group": "conformance.example.com", "resource": "markers"}}
		if err := a.waitForMarker(ctx, user, asked, a.grant(name, userSubject(user), rule)); err != nil {
			return err
		}
	}
	if a.changed["clusterroles"] || a.changed["clusterrolebindings"] {
		user, name := a.newMarker()
		path := "/" + user.user
		asked := object{"nonResourceAttributes": object{"path": path, "verb": "get"}}
		if err := a.waitForMarker(ctx, user, asked, a.grantCluster(name, userSubject(user), pathRule("get", path))); err != nil {
			return err
		}
	}
	clear(a.changed)
	return nil
}

// newMarker returns a further user, and the name of its role and binding.
func (a *access) newMarker() (identity, string) {
	a.markers++
	name := fmt.Sprintf("marker-%d", a.markers)
	return a.identity(name), name
}

// waitForMarker creates a role and a binding, and waits until the user is allowed what is asked.
func (a *access) waitForMarker(ctx context.Context, user identity, asked object, grant []object) error {
	for _, one := range grant {
		if err := a.s.expect(ctx, post(a.pathOf(one), one), code(http.StatusCreated)); err != nil {
			return err
		}
	}
	err := a.s.waitFor(ctx, selfAccessReview.create(asked).as(user), selfAccessReview.isCreated, value(true, "status", "allowed"))
	if err != nil {
		return fmt.Errorf("waiting for the effect of roles: %w", err)
	}
	return nil
}

// allowed sends a call as a user that may do so.
func allowed(u identity, c call, expect ...expectation) exchange {
	return send(c.as(u), append([]expectation{code(http.StatusOK, http.StatusCreated)}, expect...)...)
}

// denied sends a call as a user, and expects a denial in the case's namespace. action is
// "VERB RESOURCE[.GROUP][/SUBRESOURCE] [NAME]".
func (a *access) denied(u identity, c call, action string) exchange {
	return deniedAt(fmt.Sprintf("in the namespace %q", a.namespace), u, c, action)
}

// deniedInCluster is like denied, at the cluster scope.
func deniedInCluster(u identity, c call, action string) exchange {
	return deniedAt("at the cluster scope", u, c, action)
}

func deniedAt(where string, u identity, c call, action string) exchange {
	parts := append(strings.Fields(action), "")
	return send(c.as(u), isDeniedTo(regexp.QuoteMeta(strconv.Quote(u.user)), parts[0], parts[1], parts[2], where)...)
}

// deniedPath sends a call to a path that is not a resource, and expects a denial.
func deniedPath(u identity, c call) exchange {
	path, _, _ := strings.Cut(c.path, "?")
	message := fmt.Sprintf("forbidden: User %q cannot %s path %q", u.user, strings.ToLower(c.method), path)
	return send(c.as(u), failure{code: http.StatusForbidden, reason: "Forbidden", contains: message}.check, hasNosniff)
}

// accessCheck checks a server for a case about RBAC.
type accessCheck func(ctx context.Context, a *access) error

// onAccess returns a case about RBAC.
func onAccess(c Case, check accessCheck) Case {
	c.check = func(ctx context.Context, s *session) error {
		if err := s.skipWithoutRBAC(ctx); err != nil {
			return err
		}
		in, err := s.configMaps(ctx)
		if err != nil {
			return err
		}
		return check(ctx, &access{collection: in, changed: map[string]bool{}})
	}
	return c
}

// accessRules returns a function that returns cases about RBAC.
func accessRules(level Level, source string) func(id, title, why string, check accessCheck) Case {
	return func(id, title, why string, check accessCheck) Case {
		return onAccess(Case{ID: id, Level: level, Title: title, Why: why, Source: source}, check)
	}
}
