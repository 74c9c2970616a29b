package conformance

import (
	"context"
	"fmt"
	"net/http"
	"strings"
)

const (
	docUserImpersonation = "kubernetes.io, User Impersonation; apiserver filters/impersonation"
	docConstrained       = "KEP-5284; apiserver filters/impersonation/mode.go"
	docTokens            = "kubernetes.io, Managing Service Accounts; TokenRequest"
)

// robot returns the credentials of a new ServiceAccount of the case, as a function that returns calls
// with them. The case is skipped if the server does not accept its token from this client.
func (p *access) robot(ctx context.Context) (func(call) call, error) {
	if err := p.s.skipUnlessServed(ctx, "v1", "serviceaccounts/token"); err != nil {
		return nil, err
	}
	account := newObject("v1", "ServiceAccount", "robot")
	if err := p.s.expect(withSetup(ctx), post(p.pathOf(account), account), code(http.StatusCreated)); err != nil {
		return nil, err
	}
	request := newObject(authenticationV1, "TokenRequest", "").with("spec", object{})
	r, err := p.s.do(withSetup(ctx), post(p.itemOf(account)+"/token", request), code(http.StatusCreated))
	if err != nil {
		return nil, err
	}
	token, err := r.valueAt("status", "token")
	if err != nil {
		return nil, err
	}
	as := func(c call) call { return c.withHeader("Authorization", fmt.Sprintf("Bearer %v", token)) }
	if of := p.s.run.config.TokenClient; of != nil {
		client, err := of(fmt.Sprint(token))
		if err != nil {
			return nil, fmt.Errorf("Config.TokenClient: %w", err)
		}
		as = func(c call) call {
			c.client = client
			return c
		}
	}
	r, err = p.s.do(withSetup(ctx), as(selfSubjectReview.create(nil)))
	if err != nil {
		return nil, err
	}
	if got, err := r.valueAt("status", "userInfo", "username"); err != nil || r.code != http.StatusCreated || got == nil {
		return nil, p.s.skipf("the server does not accept the token of a ServiceAccount: it responds %d", r.code)
	} else if got != p.serviceAccount("robot").user {
		return nil, p.s.skipf("the server uses other credentials of the client than a token: the user is %v", got)
	}
	return as, nil
}

// robotSubject is the ServiceAccount of robot.
func (p *access) robotSubject() object { return serviceAccountSubject(p.namespace, "robot") }

// userInfoIs sends a SelfSubjectReview as a user, and expects its name and groups.
func userInfoIs(u identity, groups ...string) exchange {
	return allowed(u, selfSubjectReview.create(nil), value(u.user, "status", "userInfo", "username"), value(groups, "status", "userInfo", "groups"))
}

// impersonators is a rule with the verb impersonate.
func impersonators(group, resource string, names ...string) object {
	return policyRule("impersonate", group, resource, names...)
}

// accessImpersonationCases returns the cases about impersonation and tokens (RB-80 to RB-89).
func accessImpersonationCases() []Case {
	must := accessRules(Must, docUserImpersonation)
	constrained := accessRules(Must, docConstrained)
	return []Case{
		must("RB-80", "an impersonated user is in system:authenticated, and a ServiceAccount in its groups unless others are named", "roles are bound to these groups", func(ctx context.Context, p *access) error {
			const all = "system:authenticated"
			robot := p.serviceAccount("robot")
			return p.s.expectAll(ctx,
				userInfoIs(p.user(), all),
				userInfoIs(p.user().in("b", "a"), "b", "a", all),
				userInfoIs(p.user().in(all, "a"), all, "a"),
				userInfoIs(robot, "system:serviceaccounts", "system:serviceaccounts:"+p.namespace, all),
				userInfoIs(robot.in("a"), "a", all))
		}),
		must("RB-81", "the uid and the extra values of an impersonated user are those of the headers", "webhooks decide by them", func(ctx context.Context, p *access) error {
			user := p.user()
			user.uid, user.extra = "a-uid", map[string]string{"Scopes": "a", "Example.com%2fkey": "b"}
			return p.s.expectAll(ctx, allowed(user, selfSubjectReview.create(nil),
				value("a-uid", "status", "userInfo", "uid"),
				value(object{"scopes": []string{"a"}, "example.com/key": []string{"b"}}, "status", "userInfo", "extra")))
		}),
		must("RB-82", "the permission to impersonate is on users, groups and serviceaccounts of the core group, and on uids and userextras/KEY of authentication.k8s.io", "it is limited to certain users", func(ctx context.Context, p *access) error {
			const authn = "authentication.k8s.io"
			rules := []object{
				impersonators("", "users", "a"), impersonators("", "groups", "b"), impersonators("", "serviceaccounts", "c"),
				impersonators(authn, "uids", "d"), impersonators(authn, "userextras/scopes", "e"),
			}
			return p.check(ctx, p.grantCluster("c", userSubject(p.user()), rules...),
				reviewOf(p.user(), true, attributesOf("impersonate users a")), reviewOf(p.user(), false, attributesOf("impersonate users b")),
				reviewOf(p.user(), false, attributesOf("impersonate users."+authn+" a")),
				reviewOf(p.user(), true, attributesOf("impersonate groups b")), p.review(p.user(), true, "impersonate serviceaccounts c"),
				reviewOf(p.user(), true, attributesOf("impersonate uids."+authn+" d")),
				reviewOf(p.user(), true, attributesOf("impersonate userextras."+authn+"/scopes e")),
				reviewOf(p.user(), false, attributesOf("impersonate userextras."+authn+"/other e")),
				reviewOf(p.user(), false, attributesOf("impersonate userextras."+authn+" e")))
		}),
		accessRules(Must, docTokens)("RB-83", "a token of a ServiceAccount has its permissions", "pods authenticate with tokens", func(ctx context.Context, p *access) error {
			robot, err := p.robot(ctx)
			if err != nil {
				return err
			}
			if err := p.install(ctx, p.grant("r", p.robotSubject(), policyRule("list", "", "configmaps"))...); err != nil {
				return err
			}
			return p.s.expectAll(ctx,
				send(robot(get(p.path())), code(http.StatusOK)),
				send(robot(get(p.item("a"))), isForbiddenWith(fmt.Sprintf(`User %q cannot get resource "configmaps"`, p.serviceAccount("robot").user))),
				send(robot(selfSubjectReview.create(nil)), value([]string{"system:serviceaccounts", "system:serviceaccounts:" + p.namespace, "system:authenticated"}, "status", "userInfo", "groups")))
		}),
		must("RB-84", "impersonation without permission is denied, whatever the impersonated user may do", "any user could otherwise act as the administrator", checkDeniedImpersonation),
		must("RB-85", "the permission to impersonate is checked for the user and each group, uid and extra value", "a group may have more permissions than the user", checkImpersonatedParts),
		must("RB-86", "a request has the permissions of the impersonated user, and not those of the impersonator", "administrators try what others may do", func(ctx context.Context, p *access) error {
			robot, err := p.robot(ctx)
			if err != nil {
				return err
			}
			objects := append(p.grantCluster("i", p.robotSubject(), impersonators("", "users", p.user().user)), p.grant("r", p.robotSubject(), policyRule("*", "*", "*"))...)
			return p.check(ctx, append(objects, p.grant("u", userSubject(p.user()), policyRule("list", "", "configmaps"))...),
				allowed(p.user(), robot(get(p.path()))),
				p.denied(p.user(), robot(get("/api/v1/namespaces/"+p.namespace+"/secrets")), "list secrets"),
				send(robot(get("/api/v1/namespaces/"+p.namespace+"/secrets")), code(http.StatusOK)))
		}),
		constrained("RB-87", "impersonate:user-info on a user and impersonate-on:user-info:VERB on a resource allow to impersonate for these requests", "an agent acts for users in a limited way", checkConstrainedUser),
		constrained("RB-88", "impersonate:serviceaccount and impersonate-on:serviceaccount:VERB allow to impersonate a ServiceAccount", "an agent acts for pods in a limited way", checkConstrainedServiceAccount),
		constrained("RB-89", "constrained impersonation requires permission for each group, and never allows system:masters", "a group may have more permissions than the user", func(ctx context.Context, p *access) error {
			robot, err := p.constrainedRobot(ctx)
			if err != nil {
				return err
			}
			team := p.name("team")
			rules := []object{policyRule("impersonate:user-info", "authentication.k8s.io", "users", p.user().user), policyRule("impersonate:user-info", "authentication.k8s.io", "groups", team, "system:masters")}
			objects := append(p.grantCluster("i", p.robotSubject(), rules...), p.grant("i", p.robotSubject(), policyRule("impersonate-on:user-info:list", "", "configmaps"))...)
			return p.check(ctx, append(objects, p.grant("r", groupSubject(team), policyRule("list", "", "configmaps"))...),
				send(robot(get(p.path())).as(p.user().in(p.name("others"))), isForbiddenWith("cannot impersonate:user-info resource \"groups\" in API group \"authentication.k8s.io\"")),
				send(robot(get(p.path())).as(p.user().in("system:masters")), isForbiddenWith("impersonating the system:masters group is not allowed")),
				allowed(p.user().in(team), robot(get(p.path()))))
		}),
	}
}

func checkDeniedImpersonation(ctx context.Context, p *access) error {
	robot, err := p.robot(ctx)
	if err != nil {
		return err
	}
	by := fmt.Sprintf("User %q cannot impersonate", p.serviceAccount("robot").user)
	return p.s.expectAll(ctx,
		send(robot(get(p.path())).as(p.user()), isForbiddenWith(by), hasNosniff),
		send(robot(get(p.item("a"))).as(p.user().in("system:masters")), isForbiddenWith(by), hasNosniff),
		send(robot(get(p.path())).as(p.serviceAccount("other")), isForbiddenWith(by), hasNosniff),
		send(robot(get("/version")).as(p.user()), isForbiddenWith(by), hasNosniff))
}

func checkImpersonatedParts(ctx context.Context, p *access) error {
	robot, err := p.robot(ctx)
	if err != nil {
		return err
	}
	const authn = "authentication.k8s.io"
	team := p.name("team")
	withUID, withExtra := p.user(), p.user()
	withUID.uid, withExtra.extra = "a-uid", map[string]string{"Scopes": "a"}
	wrongUID, wrongExtra := withUID, withExtra
	wrongUID.uid, wrongExtra.extra = "b-uid", map[string]string{"Scopes": "b"}
	i := p.clusterRole("i", impersonators("", "users", p.user().user), impersonators("", "groups", team), impersonators(authn, "uids", "a-uid"), impersonators(authn, "userextras/scopes", "a"))
	objects := []object{i, p.bindCluster("i", p.name("i"), p.robotSubject()), p.role("r", policyRule("list", "", "configmaps")), p.bind("r", "Role", "r", userSubject(p.user()))}
	requests := []exchange{}
	for _, one := range []identity{p.user(), p.user().in(team), withUID, withExtra} {
		requests = append(requests, allowed(one, robot(get(p.path()))))
	}
	for _, one := range []identity{p.other(), p.user().in(p.name("others")), p.user().in("system:masters"), p.user().in(team, p.name("others")), wrongUID, wrongExtra} {
		requests = append(requests, send(robot(get(p.path())).as(one), isForbiddenWith("cannot impersonate"), hasNosniff))
	}
	return p.check(ctx, objects, requests...)
}

// constrainedRobot is like robot, and skips the case if the server has no constrained
// impersonation: the denial of a user without permission then names the verb impersonate.
func (p *access) constrainedRobot(ctx context.Context) (func(call) call, error) {
	robot, err := p.robot(ctx)
	if err != nil {
		return nil, err
	}
	r, err := p.s.do(ctx, robot(get(p.path())).as(p.user()), isForbiddenWith("cannot impersonate"))
	if err != nil {
		return nil, err
	}
	if !strings.Contains(string(r.body), "impersonate-on:") {
		return nil, p.s.skipWithoutFeature(ConstrainedImpersonation, "a denial names only the verb impersonate")
	}
	return robot, nil
}

func checkConstrainedUser(ctx context.Context, p *access) error {
	robot, err := p.constrainedRobot(ctx)
	if err != nil {
		return err
	}
	by := fmt.Sprintf("User %q cannot ", p.serviceAccount("robot").user)
	objects := append(p.grantCluster("i", p.robotSubject(), policyRule("impersonate:user-info", "authentication.k8s.io", "users", p.user().user)),
		p.grant("i", p.robotSubject(), policyRule("impersonate-on:user-info:list", "", "configmaps"))...)
	return p.check(ctx, append(objects, p.grant("r", userSubject(p.user()), policyRule("*", "", "configmaps"))...),
		send(robot(get(p.item("a"))).as(p.user()), isForbiddenWith(by+`impersonate-on:user-info:get resource "configmaps"`)),
		send(robot(get(p.path())).as(p.other()), isForbiddenWith(by+`impersonate:user-info resource "users" in API group "authentication.k8s.io" at the cluster scope`)),
		allowed(p.user(), robot(get(p.path()))),
		send(robot(get(p.path())).as(p.serviceAccount("other")), isForbiddenWith(by)))
}

func checkConstrainedServiceAccount(ctx context.Context, p *access) error {
	robot, err := p.constrainedRobot(ctx)
	if err != nil {
		return err
	}
	by := fmt.Sprintf("User %q cannot ", p.serviceAccount("robot").user)
	rules := []object{policyRule("impersonate:serviceaccount", "authentication.k8s.io", "serviceaccounts", "other"), policyRule("impersonate-on:serviceaccount:list", "", "configmaps")}
	return p.check(ctx, append(p.grant("i", p.robotSubject(), rules...), p.grant("r", serviceAccountSubject(p.namespace, "other"), policyRule("*", "", "configmaps"))...),
		send(robot(get(p.item("a"))).as(p.serviceAccount("other")), isForbiddenWith(by+`impersonate-on:serviceaccount:get resource "configmaps"`)),
		send(robot(get(p.path())).as(p.serviceAccount("further")), isForbiddenWith(by+`impersonate:serviceaccount resource "serviceaccounts" in API group "authentication.k8s.io"`)),
		allowed(p.serviceAccount("other"), robot(get(p.path()))),
		send(robot(get(p.path())).as(p.user()), isForbiddenWith(by)))
}
