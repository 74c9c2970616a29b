package conformance

import (
	"context"
	"fmt"
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const docAccessReviews = "kubernetes.io, Authorization, Checking API access; k/k pkg/registry/authorization"

// reasoned is like review, and also expects the reason of an allowed action.
func (a *access) reasoned(u identity, attributes object, reason string) exchange {
	e := reviewOf(u, true, attributes)
	e.expect = append(e.expect, value("RBAC: allowed by "+reason, "status", "reason"))
	return e
}

// reviewSubject sends a SubjectAccessReview about a user and groups, and an action in the case's
// namespace, and expects whether it is allowed.
func (a *access) reviewSubject(want bool, user string, groups []string, action string) exchange {
	spec := object{"resourceAttributes": a.attributes(action)}
	if user != "" {
		spec["user"] = user
	}
	if groups != nil {
		spec["groups"] = groups
	}
	return send(accessReview.create(spec), accessReview.isCreated, value(want, "status", "allowed"))
}

// accessReviewCases returns the cases about reviews on a server with RBAC (RB-72 to RB-79).
func accessReviewCases() []Case {
	must := accessRules(Must, docAccessReviews)
	reasons := accessRules(Should, "k/k pkg/registry/rbac/validation/rule.go; plugin/pkg/auth/authorizer/rbac/rbac.go")
	return []Case{
		must("RB-72", "a SelfSubjectAccessReview decides as the authorization of a request does", "programs check their permissions at their start", func(ctx context.Context, a *access) error {
			path := "/" + a.name("path")
			ofPath := func(want bool, verb, path string) exchange {
				spec := object{"nonResourceAttributes": object{"verb": verb, "path": path}}
				return send(selfAccessReview.create(spec).as(a.user()), selfAccessReview.isCreated, value(want, "status", "allowed"))
			}
			rules := []object{policyRule("get", "", "configmaps", "a"), policyRule("get", "", "pods/log"), policyRule("list", "apps", "deployments")}
			return a.check(ctx, append(a.grant("r", userSubject(a.user()), rules...), a.grantCluster("c", userSubject(a.user()), pathRule("get", path+"/*"), policyRule("list", "", "nodes"))...),
				a.review(a.user(), true, "get configmaps a"), a.review(a.user(), false, "get configmaps b"), a.review(a.user(), false, "get configmaps"),
				a.review(a.user(), true, "get pods/log a"), a.review(a.user(), false, "get pods a"),
				a.review(a.user(), true, "list deployments.apps"), a.review(a.user(), false, "list deployments"),
				reviewOf(a.user(), false, attributesOf("list deployments.apps")),
				reviewOf(a.user(), true, attributesOf("list nodes")), a.review(a.user(), true, "list nodes"),
				ofPath(true, "get", path+"/a"), ofPath(false, "get", path), ofPath(false, "post", path+"/a"), ofPath(true, "get", "/version"),
				a.review(a.other(), false, "get configmaps a"))
		}),
		reasons("RB-73", "the reason of an allowed review names the binding, the role and the subject", "an administrator finds the role that grants a permission", func(ctx context.Context, a *access) error {
			namespaced, cluster := policyRule("get", "", "configmaps"), policyRule("list", "", "nodes")
			ofClusterRole := fmt.Sprintf("ClusterRoleBinding %q of ClusterRole %q to ", a.name("c"), a.name("c"))
			return a.check(ctx, []object{
				a.role("r", namespaced), a.clusterRole("c", cluster),
				a.bind("b", "Role", "r", userSubject(a.user()), serviceAccountSubject(a.namespace, "robot")),
				a.bindCluster("c", a.name("c"), groupSubject(a.name("team")), serviceAccountSubject(a.namespace, "robot")),
			},
				a.reasoned(a.user(), a.attributes("get configmaps a"), fmt.Sprintf(`RoleBinding "b/%s" of Role "r" to User %q`, a.namespace, a.user().user)),
				a.reasoned(a.serviceAccount("robot"), a.attributes("get configmaps a"), fmt.Sprintf(`RoleBinding "b/%s" of Role "r" to ServiceAccount "robot/%s"`, a.namespace, a.namespace)),
				a.reasoned(a.user().in(a.name("team")), attributesOf("list nodes"), ofClusterRole+fmt.Sprintf("Group %q", a.name("team"))),
				a.reasoned(a.serviceAccount("robot"), attributesOf("list nodes"), ofClusterRole+fmt.Sprintf(`ServiceAccount "robot/%s"`, a.namespace)))
		}),
		must("RB-74", "a SubjectAccessReview is about the user and the groups in its spec, without further groups", "servers delegate the authorization of their users", func(ctx context.Context, a *access) error {
			robot, user, team := a.serviceAccount("robot").user, a.user().user, a.name("team")
			return a.check(ctx, []object{
				a.role("r", policyRule("get", "", "configmaps")), a.bind("r", "Role", "r", userSubject(a.user()), groupSubject(team), serviceAccountSubject(a.namespace, "robot")),
				a.role("s", policyRule("get", "", "secrets")), a.bind("s", "Role", "s", groupSubject("system:authenticated"), groupSubject("system:serviceaccounts")),
			},
				a.reviewSubject(true, user, nil, "get configmaps a"),
				a.reviewSubject(true, a.other().user, []string{team}, "get configmaps a"),
				a.reviewSubject(true, "", []string{team}, "get configmaps a"),
				a.reviewSubject(false, a.other().user, nil, "get configmaps a"),
				a.reviewSubject(true, robot, nil, "get configmaps a"),
				a.reviewSubject(false, user, nil, "get secrets a"),
				a.reviewSubject(true, user, []string{"system:authenticated"}, "get secrets a"),
				a.reviewSubject(false, robot, nil, "get secrets a"),
				a.reviewSubject(true, "", []string{"system:masters"}, "get secrets a"))
		}),
		must("RB-75", "a LocalSubjectAccessReview requires permission in its namespace only", "the owner of a namespace reviews its users", func(ctx context.Context, a *access) error {
			review := func(want bool, of identity) exchange {
				body := newObject(authorizationV1, "LocalSubjectAccessReview", "").withMeta("namespace", a.namespace)
				body["spec"] = object{"user": of.user, "resourceAttributes": a.attributes("get pods a")}
				return allowed(a.user(), post(a.in(authorizationV1, "localsubjectaccessreviews"), body), value(want, "status", "allowed"))
			}
			spec := object{"user": a.user().user, "resourceAttributes": a.attributes("get pods a")}
			return a.check(ctx, a.grant("r", userSubject(a.user()), policyRule("create", "authorization.k8s.io", "localsubjectaccessreviews"), policyRule("get", "", "pods")),
				review(true, a.user()), review(false, a.other()),
				deniedInCluster(a.user(), accessReview.create(spec), "create subjectaccessreviews.authorization.k8s.io"),
				deniedAt(`in the namespace "default"`, a.user(), localAccessReview.create(spec), "create localsubjectaccessreviews.authorization.k8s.io"))
		}),
		must("RB-76", "a review takes verbs and resources literally, also * and those that do not exist", "roles have verbs of their own, such as use", func(ctx context.Context, a *access) error {
			things := policyRule("use", "nothing.example.com", "things", "a")
			return a.check(ctx, append(a.grant("r", userSubject(a.user()), things, policyRule("get", "*", "*")), a.grant("o", userSubject(a.other()), policyRule("*", "*", "*"))...),
				a.review(a.user(), true, "use things.nothing.example.com a"), a.review(a.user(), false, "use things.nothing.example.com"),
				a.review(a.user(), true, "get *.*"), a.review(a.user(), false, "* *.*"),
				a.review(a.other(), true, "* *.*"))
		}),
		must("RB-77", "a SelfSubjectRulesReview has the rules of the user in the namespace and at the cluster scope", "kubectl auth can-i --list shows them", func(ctx context.Context, a *access) error {
			path := "/" + a.name("path")
			inNamespace, inCluster := policyRule("get", "", "configmaps", "a"), policyRule("list", "", "nodes")
			list := func(u identity, namespace string, expect ...expectation) exchange {
				return allowed(u, selfRulesReview.create(object{"namespace": namespace}), expect...)
			}
			basic := itemsInclude([]object{policyRule("create", "authorization.k8s.io", "selfsubjectaccessreviews,selfsubjectrulesreviews")}, "status", "resourceRules")
			return a.check(ctx, append(a.grant("r", userSubject(a.user()), inNamespace), a.grantCluster("c", userSubject(a.user()), pathRule("get", path), inCluster)...),
				list(a.user(), a.namespace, basic, itemsInclude([]object{inNamespace, inCluster}, "status", "resourceRules"), itemsInclude([]object{pathRule("get", path)}, "status", "nonResourceRules")),
				list(a.user(), "default", basic, itemsInclude([]object{inCluster}, "status", "resourceRules"), itemsExclude(inNamespace, "status", "resourceRules")),
				list(a.other(), a.namespace, basic, itemsExclude(inNamespace, "status", "resourceRules"), itemsExclude(inCluster, "status", "resourceRules"), itemsExclude(pathRule("get", path), "status", "nonResourceRules")))
		}),
		reasons("RB-78", "reviews name the roles of the user that do not exist", "the user can find the error", func(ctx context.Context, a *access) error {
			missing := `role.rbac.authorization.k8s.io "gone" not found`
			denied := a.review(a.user(), false, "get configmaps a")
			denied.expect = append(denied.expect, textAt("RBAC: "+missing, "status", "reason"))
			pods := policyRule("get", "", "pods")
			return a.check(ctx, append(a.grant("r", userSubject(a.user()), pods), a.bind("b", "Role", "gone", userSubject(a.user()))), denied,
				a.review(a.user(), true, "get pods a"),
				allowed(a.user(), selfRulesReview.create(object{"namespace": a.namespace}), textAt(missing, "status", "evaluationError"), itemsInclude([]object{pods}, "status", "resourceRules")))
		}),
		must("RB-79", "the reviews of other users require permission to create them", "permissions of others are not public", func(ctx context.Context, a *access) error {
			spec := object{"user": a.other().user, "resourceAttributes": a.attributes("list configmaps")}
			if err := a.s.expectAll(ctx, deniedInCluster(a.user(), accessReview.create(spec), "create subjectaccessreviews.authorization.k8s.io")); err != nil {
				return err
			}
			return a.check(ctx, a.grantCluster("c", userSubject(a.user()), policyRule("create", "authorization.k8s.io", "subjectaccessreviews")),
				allowed(a.user(), accessReview.create(spec), value(false, "status", "allowed")),
				deniedInCluster(a.user(), tokenReview.create(object{"token": "conformance-no-such-token"}), "create tokenreviews.authentication.k8s.io"))
		}),
	}
}

// itemsExclude expects a list at a path of field names without an item.
func itemsExclude(item object, path ...string) expectation {
	return func(r *response) error {
		if itemsInclude([]object{item}, path...)(r) == nil {
			return fmt.Errorf("expected no %v", item)
		}
		return nil
	}
}

// isForbiddenWith expects a denial whose message contains a text.
func isForbiddenWith(text string) expectation {
	return failure{code: http.StatusForbidden, reason: metav1.StatusReasonForbidden, contains: text}.check
}
