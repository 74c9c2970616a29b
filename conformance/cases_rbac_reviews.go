package conformance

import (
	"context"
	"fmt"
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const docAccessReviews = "kubernetes.io, Authorization, Checking API access; k/k pkg/registry/authorization"

// reasoned is like review, and also expects the reason of an allowed action.
func (p *access) reasoned(u identity, attributes object, reason string) exchange {
	e := reviewOf(u, true, attributes)
	e.expect = append(e.expect, value("RBAC: allowed by "+reason, "status", "reason"))
	return e
}

// reviewSubject sends a SubjectAccessReview about a user and groups, and an action in the case's
// namespace, and expects whether it is allowed.
func (p *access) reviewSubject(want bool, user string, groups []string, action string) exchange {
	spec := object{"resourceAttributes": p.attributes(action)}
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
		must("RB-72", "a SelfSubjectAccessReview decides as the authorization of a request does", "programs check their permissions at their start", func(ctx context.Context, p *access) error {
			path := "/" + p.name("path")
			ofPath := func(want bool, verb, path string) exchange {
				spec := object{"nonResourceAttributes": object{"verb": verb, "path": path}}
				return send(selfAccessReview.create(spec).as(p.user()), selfAccessReview.isCreated, value(want, "status", "allowed"))
			}
			rules := []object{policyRule("get", "", "configmaps", "a"), policyRule("get", "", "pods/log"), policyRule("list", "apps", "deployments")}
			return p.check(ctx, append(p.grant("r", userSubject(p.user()), rules...), p.grantCluster("c", userSubject(p.user()), pathRule("get", path+"/*"), policyRule("list", "", "nodes"))...),
				p.review(p.user(), true, "get configmaps a"), p.review(p.user(), false, "get configmaps b"), p.review(p.user(), false, "get configmaps"),
				p.review(p.user(), true, "get pods/log a"), p.review(p.user(), false, "get pods a"),
				p.review(p.user(), true, "list deployments.apps"), p.review(p.user(), false, "list deployments"),
				reviewOf(p.user(), false, attributesOf("list deployments.apps")),
				reviewOf(p.user(), true, attributesOf("list nodes")), p.review(p.user(), true, "list nodes"),
				ofPath(true, "get", path+"/a"), ofPath(false, "get", path), ofPath(false, "post", path+"/a"), ofPath(true, "get", "/version"),
				p.review(p.other(), false, "get configmaps a"))
		}),
		reasons("RB-73", "the reason of an allowed review names the binding, the role and the subject", "an administrator finds the role that grants a permission", func(ctx context.Context, p *access) error {
			namespaced, cluster := policyRule("get", "", "configmaps"), policyRule("list", "", "nodes")
			ofClusterRole := fmt.Sprintf("ClusterRoleBinding %q of ClusterRole %q to ", p.name("c"), p.name("c"))
			return p.check(ctx, []object{
				p.role("r", namespaced), p.clusterRole("c", cluster),
				p.bind("b", "Role", "r", userSubject(p.user()), serviceAccountSubject(p.namespace, "robot")),
				p.bindCluster("c", p.name("c"), groupSubject(p.name("team")), serviceAccountSubject(p.namespace, "robot")),
			},
				p.reasoned(p.user(), p.attributes("get configmaps a"), fmt.Sprintf(`RoleBinding "b/%s" of Role "r" to User %q`, p.namespace, p.user().user)),
				p.reasoned(p.serviceAccount("robot"), p.attributes("get configmaps a"), fmt.Sprintf(`RoleBinding "b/%s" of Role "r" to ServiceAccount "robot/%s"`, p.namespace, p.namespace)),
				p.reasoned(p.user().in(p.name("team")), attributesOf("list nodes"), ofClusterRole+fmt.Sprintf("Group %q", p.name("team"))),
				p.reasoned(p.serviceAccount("robot"), attributesOf("list nodes"), ofClusterRole+fmt.Sprintf(`ServiceAccount "robot/%s"`, p.namespace)))
		}),
		must("RB-74", "a SubjectAccessReview is about the user and the groups in its spec, without further groups", "servers delegate the authorization of their users", func(ctx context.Context, p *access) error {
			robot, user, team := p.serviceAccount("robot").user, p.user().user, p.name("team")
			return p.check(ctx, []object{
				p.role("r", policyRule("get", "", "configmaps")), p.bind("r", "Role", "r", userSubject(p.user()), groupSubject(team), serviceAccountSubject(p.namespace, "robot")),
				p.role("s", policyRule("get", "", "secrets")), p.bind("s", "Role", "s", groupSubject("system:authenticated"), groupSubject("system:serviceaccounts")),
			},
				p.reviewSubject(true, user, nil, "get configmaps a"),
				p.reviewSubject(true, p.other().user, []string{team}, "get configmaps a"),
				p.reviewSubject(true, "", []string{team}, "get configmaps a"),
				p.reviewSubject(false, p.other().user, nil, "get configmaps a"),
				p.reviewSubject(true, robot, nil, "get configmaps a"),
				p.reviewSubject(false, user, nil, "get secrets a"),
				p.reviewSubject(true, user, []string{"system:authenticated"}, "get secrets a"),
				p.reviewSubject(false, robot, nil, "get secrets a"),
				p.reviewSubject(true, "", []string{"system:masters"}, "get secrets a"))
		}),
		must("RB-75", "a LocalSubjectAccessReview requires permission in its namespace only", "the owner of a namespace reviews its users", func(ctx context.Context, p *access) error {
			review := func(want bool, of identity) exchange {
				body := newObject(authorizationV1, "LocalSubjectAccessReview", "").withMeta("namespace", p.namespace)
				body["spec"] = object{"user": of.user, "resourceAttributes": p.attributes("get pods a")}
				return allowed(p.user(), post(p.in(authorizationV1, "localsubjectaccessreviews"), body), value(want, "status", "allowed"))
			}
			spec := object{"user": p.user().user, "resourceAttributes": p.attributes("get pods a")}
			return p.check(ctx, p.grant("r", userSubject(p.user()), policyRule("create", "authorization.k8s.io", "localsubjectaccessreviews"), policyRule("get", "", "pods")),
				review(true, p.user()), review(false, p.other()),
				deniedInCluster(p.user(), accessReview.create(spec), "create subjectaccessreviews.authorization.k8s.io"),
				deniedAt(`in the namespace "default"`, p.user(), localAccessReview.create(spec), "create localsubjectaccessreviews.authorization.k8s.io"))
		}),
		must("RB-76", "a review takes verbs and resources literally, also * and those that do not exist", "roles have verbs of their own, such as use", func(ctx context.Context, p *access) error {
			things := policyRule("use", "nothing.example.com", "things", "a")
			return p.check(ctx, append(p.grant("r", userSubject(p.user()), things, policyRule("get", "*", "*")), p.grant("o", userSubject(p.other()), policyRule("*", "*", "*"))...),
				p.review(p.user(), true, "use things.nothing.example.com a"), p.review(p.user(), false, "use things.nothing.example.com"),
				p.review(p.user(), true, "get *.*"), p.review(p.user(), false, "* *.*"),
				p.review(p.other(), true, "* *.*"))
		}),
		must("RB-77", "a SelfSubjectRulesReview has the rules of the user in the namespace and at the cluster scope", "kubectl auth can-i --list shows them", func(ctx context.Context, p *access) error {
			path := "/" + p.name("path")
			inNamespace, inCluster := policyRule("get", "", "configmaps", "a"), policyRule("list", "", "nodes")
			list := func(u identity, namespace string, expect ...expectation) exchange {
				return allowed(u, selfRulesReview.create(object{"namespace": namespace}), expect...)
			}
			basic := itemsInclude([]object{policyRule("create", "authorization.k8s.io", "selfsubjectaccessreviews,selfsubjectrulesreviews")}, "status", "resourceRules")
			return p.check(ctx, append(p.grant("r", userSubject(p.user()), inNamespace), p.grantCluster("c", userSubject(p.user()), pathRule("get", path), inCluster)...),
				list(p.user(), p.namespace, basic, itemsInclude([]object{inNamespace, inCluster}, "status", "resourceRules"), itemsInclude([]object{pathRule("get", path)}, "status", "nonResourceRules")),
				list(p.user(), "default", basic, itemsInclude([]object{inCluster}, "status", "resourceRules"), itemsExclude(inNamespace, "status", "resourceRules")),
				list(p.other(), p.namespace, basic, itemsExclude(inNamespace, "status", "resourceRules"), itemsExclude(inCluster, "status", "resourceRules"), itemsExclude(pathRule("get", path), "status", "nonResourceRules")))
		}),
		reasons("RB-78", "reviews name the roles of the user that do not exist", "the user can find the error", func(ctx context.Context, p *access) error {
			missing := `role.rbac.authorization.k8s.io "gone" not found`
			denied := p.review(p.user(), false, "get configmaps a")
			denied.expect = append(denied.expect, textAt("RBAC: "+missing, "status", "reason"))
			pods := policyRule("get", "", "pods")
			return p.check(ctx, append(p.grant("r", userSubject(p.user()), pods), p.bind("b", "Role", "gone", userSubject(p.user()))), denied,
				p.review(p.user(), true, "get pods a"),
				allowed(p.user(), selfRulesReview.create(object{"namespace": p.namespace}), textAt(missing, "status", "evaluationError"), itemsInclude([]object{pods}, "status", "resourceRules")))
		}),
		must("RB-79", "the reviews of other users require permission to create them", "permissions of others are not public", func(ctx context.Context, p *access) error {
			spec := object{"user": p.other().user, "resourceAttributes": p.attributes("list configmaps")}
			if err := p.s.expectAll(ctx, deniedInCluster(p.user(), accessReview.create(spec), "create subjectaccessreviews.authorization.k8s.io")); err != nil {
				return err
			}
			return p.check(ctx, p.grantCluster("c", userSubject(p.user()), policyRule("create", "authorization.k8s.io", "subjectaccessreviews")),
				allowed(p.user(), accessReview.create(spec), value(false, "status", "allowed")),
				deniedInCluster(p.user(), tokenReview.create(object{"token": "conformance-no-such-token"}), "create tokenreviews.authentication.k8s.io"))
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
