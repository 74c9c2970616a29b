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

// robot returns the credentials of a new ServiceAccount of the case, as a function that returns
// calls with them. The case is skipped if the server does not accept its token from this client.
func (a *access) robot(ctx context.Context) (func(call) call, error) {
	if err := a.s.skipUnlessServed(ctx, "v1", "serviceaccounts/token"); err != nil {
		return nil, err
	}
	account := newObject("v1", "ServiceAccount", "robot")
	if err := a.s.expect(withSetup(ctx), post(a.pathOf(account), account), code(http.StatusCreated)); err != nil {
		return nil, err
	}
	request := newObject(authenticationV1, "TokenRequest", "").with("spec", object{})
	r, err := a.s.do(withSetup(ctx), post(a.itemOf(account)+"/token", request), code(http.StatusCreated))
	if err != nil {
		return nil, err
	}
	token, err := r.valueAt("status", "token")
	if err != nil {
		return nil, err
	}
	as := func(c call) call { return c.withHeader("Authorization", fmt.Sprintf("Bearer %v", token)) }
	if of := a.s.run.config.TokenClient; of != nil {
		client, err := of(fmt.Sprint(token))
		if err != nil {
			return nil, fmt.Errorf("Config.TokenClient: %w", err)
		}
		as = func(c call) call {
			c.client = client
			return c
		}
	}
	r, err = a.s.do(withSetup(ctx), as(selfSubjectReview.create(nil)))
	if err != nil {
		return nil, err
	}
	if got, err := r.valueAt("status", "userInfo", "username"); err != nil || r.code != http.StatusCreated || got == nil {
		return nil, a.s.skipf("the server does not accept the token of a ServiceAccount: it responds %d", r.code)
	} else if got != a.serviceAccount("robot").user {
		return nil, a.s.skipf("the server uses other credentials of the client than a token: the user is %v", got)
	}
	return as, nil
}

// robotSubject is the ServiceAccount of robot.
func (a *access) robotSubject() object { return serviceAccountSubject(a.namespace, "robot") }

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
		must("RB-80", "an impersonated user is in system:authenticated, and a ServiceAccount in its groups unless others are named", "roles are bound to these groups", func(ctx context.Context, a *access) error {
			const all = "system:authenticated"
			robot := a.serviceAccount("robot")
			return a.s.expectAll(ctx,
				userInfoIs(a.user(), all),
				userInfoIs(a.user().in("b", "a"), "b", "a", all),
				userInfoIs(a.user().in(all, "a"), all, "a"),
				userInfoIs(robot, "system:serviceaccounts", "system:serviceaccounts:"+a.namespace, all),
				userInfoIs(robot.in("a"), "a", all))
		}),
		must("RB-81", "the uid and the extra values of an impersonated user are those of the headers", "webhooks decide by them", func(ctx context.Context, a *access) error {
			user := a.user()
			user.uid, user.extra = "a-uid", map[string]string{"Scopes": "a", "Example.com%2fkey": "b"}
			return a.s.expectAll(ctx, allowed(user, selfSubjectReview.create(nil),
				value("a-uid", "status", "userInfo", "uid"),
				value(object{"scopes": []string{"a"}, "example.com/key": []string{"b"}}, "status", "userInfo", "extra")))
		}),
		must("RB-82", "the permission to impersonate is on users, groups and serviceaccounts of the core group, and on uids and userextras/KEY of authentication.k8s.io", "it is limited to certain users", func(ctx context.Context, a *access) error {
			const authn = "authentication.k8s.io"
			rules := []object{
				impersonators("", "users", "a"), impersonators("", "groups", "b"), impersonators("", "serviceaccounts", "c"),
				impersonators(authn, "uids", "d"), impersonators(authn, "userextras/scopes", "e"),
			}
			return a.check(ctx, a.grantCluster("c", userSubject(a.user()), rules...),
				reviewOf(a.user(), true, attributesOf("impersonate users a")), reviewOf(a.user(), false, attributesOf("impersonate users b")),
				reviewOf(a.user(), false, attributesOf("impersonate users."+authn+" a")),
				reviewOf(a.user(), true, attributesOf("impersonate groups b")), a.review(a.user(), true, "impersonate serviceaccounts c"),
				reviewOf(a.user(), true, attributesOf("impersonate uids."+authn+" d")),
				reviewOf(a.user(), true, attributesOf("impersonate userextras."+authn+"/scopes e")),
				reviewOf(a.user(), false, attributesOf("impersonate userextras."+authn+"/other e")),
				reviewOf(a.user(), false, attributesOf("impersonate userextras."+authn+" e")))
		}),
		accessRules(Must, docTokens)("RB-83", "a token of a ServiceAccount has its permissions", "pods authenticate with tokens", func(ctx context.Context, a *access) error {
			robot, err := a.robot(ctx)
			if err != nil {
				return err
			}
			if err := a.install(ctx, a.grant("r", a.robotSubject(), policyRule("list", "", "configmaps"))...); err != nil {
				return err
			}
			return a.s.expectAll(ctx,
				send(robot(get(a.path())), code(http.StatusOK)),
				send(robot(get(a.item("a"))), isForbiddenWith(fmt.Sprintf(`User %q cannot get resource "configmaps"`, a.serviceAccount("robot").user))),
				send(robot(selfSubjectReview.create(nil)), value([]string{"system:serviceaccounts", "system:serviceaccounts:" + a.namespace, "system:authenticated"}, "status", "userInfo", "groups")))
		}),
		must("RB-84", "impersonation without permission is denied, whatever the impersonated user may do", "any user could otherwise act as the administrator", checkDeniedImpersonation),
		must("RB-85", "the permission to impersonate is checked for the user and each group, uid and extra value", "a group may have more permissions than the user", checkImpersonatedParts),
		must("RB-86", "a request has the permissions of the impersonated user, and not those of the impersonator", "administrators try what others may do", func(ctx context.Context, a *access) error {
			robot, err := a.robot(ctx)
			if err != nil {
				return err
			}
			objects := append(a.grantCluster("i", a.robotSubject(), impersonators("", "users", a.user().user)), a.grant("r", a.robotSubject(), policyRule("*", "*", "*"))...)
			return a.check(ctx, append(objects, a.grant("u", userSubject(a.user()), policyRule("list", "", "configmaps"))...),
				allowed(a.user(), robot(get(a.path()))),
				a.denied(a.user(), robot(get("/api/v1/namespaces/"+a.namespace+"/secrets")), "list secrets"),
				send(robot(get("/api/v1/namespaces/"+a.namespace+"/secrets")), code(http.StatusOK)))
		}),
		constrained("RB-87", "impersonate:user-info on a user and impersonate-on:user-info:VERB on a resource allow to impersonate for these requests", "an agent acts for users in a limited way", checkConstrainedUser),
		constrained("RB-88", "impersonate:serviceaccount and impersonate-on:serviceaccount:VERB allow to impersonate a ServiceAccount", "an agent acts for pods in a limited way", checkConstrainedServiceAccount),
		constrained("RB-89", "constrained impersonation requires permission for each group, and never allows system:masters", "a group may have more permissions than the user", func(ctx context.Context, a *access) error {
			robot, err := a.constrainedRobot(ctx)
			if err != nil {
				return err
			}
			team := a.name("team")
			rules := []object{policyRule("impersonate:user-info", "authentication.k8s.io", "users", a.user().user), policyRule("impersonate:user-info", "authentication.k8s.io", "groups", team, "system:masters")}
			objects := append(a.grantCluster("i", a.robotSubject(), rules...), a.grant("i", a.robotSubject(), policyRule("impersonate-on:user-info:list", "", "configmaps"))...)
			return a.check(ctx, append(objects, a.grant("r", groupSubject(team), policyRule("list", "", "configmaps"))...),
				send(robot(get(a.path())).as(a.user().in(a.name("others"))), isForbiddenWith("cannot impersonate:user-info resource \"groups\" in API group \"authentication.k8s.io\"")),
				send(robot(get(a.path())).as(a.user().in("system:masters")), isForbiddenWith("impersonating the system:masters group is not allowed")),
				allowed(a.user().in(team), robot(get(a.path()))))
		}),
	}
}

func checkDeniedImpersonation(ctx context.Context, a *access) error {
	robot, err := a.robot(ctx)
	if err != nil {
		return err
	}
	by := fmt.Sprintf("User %q cannot impersonate", a.serviceAccount("robot").user)
	return a.s.expectAll(ctx,
		send(robot(get(a.path())).as(a.user()), isForbiddenWith(by), hasNosniff),
		send(robot(get(a.item("a"))).as(a.user().in("system:masters")), isForbiddenWith(by), hasNosniff),
		send(robot(get(a.path())).as(a.serviceAccount("other")), isForbiddenWith(by), hasNosniff),
		send(robot(get("/version")).as(a.user()), isForbiddenWith(by), hasNosniff))
}

func checkImpersonatedParts(ctx context.Context, a *access) error {
	robot, err := a.robot(ctx)
	if err != nil {
		return err
	}
	const authn = "authentication.k8s.io"
	team := a.name("team")
	withUID, withExtra := a.user(), a.user()
	withUID.uid, withExtra.extra = "a-uid", map[string]string{"Scopes": "a"}
	wrongUID, wrongExtra := withUID, withExtra
	wrongUID.uid, wrongExtra.extra = "b-uid", map[string]string{"Scopes": "b"}
	i := a.clusterRole("i", impersonators("", "users", a.user().user), impersonators("", "groups", team), impersonators(authn, "uids", "a-uid"), impersonators(authn, "userextras/scopes", "a"))
	objects := []object{i, a.bindCluster("i", a.name("i"), a.robotSubject()), a.role("r", policyRule("list", "", "configmaps")), a.bind("r", "Role", "r", userSubject(a.user()))}
	requests := []exchange{}
	for _, one := range []identity{a.user(), a.user().in(team), withUID, withExtra} {
		requests = append(requests, allowed(one, robot(get(a.path()))))
	}
	for _, one := range []identity{a.other(), a.user().in(a.name("others")), a.user().in("system:masters"), a.user().in(team, a.name("others")), wrongUID, wrongExtra} {
		requests = append(requests, send(robot(get(a.path())).as(one), isForbiddenWith("cannot impersonate"), hasNosniff))
	}
	return a.check(ctx, objects, requests...)
}

// constrainedRobot is like robot, and skips the case if the server has no constrained
// impersonation: the denial of a user without permission then names the verb impersonate.
func (a *access) constrainedRobot(ctx context.Context) (func(call) call, error) {
	robot, err := a.robot(ctx)
	if err != nil {
		return nil, err
	}
	r, err := a.s.do(ctx, robot(get(a.path())).as(a.user()), isForbiddenWith("cannot impersonate"))
	if err != nil {
		return nil, err
	}
	if !strings.Contains(string(r.body), "impersonate-on:") {
		return nil, a.s.skipWithoutFeature(ConstrainedImpersonation, "a denial names only the verb impersonate")
	}
	return robot, nil
}

func checkConstrainedUser(ctx context.Context, a *access) error {
	robot, err := a.constrainedRobot(ctx)
	if err != nil {
		return err
	}
	by := fmt.Sprintf("User %q cannot ", a.serviceAccount("robot").user)
	objects := append(a.grantCluster("i", a.robotSubject(), policyRule("impersonate:user-info", "authentication.k8s.io", "users", a.user().user)),
		a.grant("i", a.robotSubject(), policyRule("impersonate-on:user-info:list", "", "configmaps"))...)
	return a.check(ctx, append(objects, a.grant("r", userSubject(a.user()), policyRule("*", "", "configmaps"))...),
		send(robot(get(a.item("a"))).as(a.user()), isForbiddenWith(by+`impersonate-on:user-info:get resource "configmaps"`)),
		send(robot(get(a.path())).as(a.other()), isForbiddenWith(by+`impersonate:user-info resource "users" in API group "authentication.k8s.io" at the cluster scope`)),
		allowed(a.user(), robot(get(a.path()))),
		send(robot(get(a.path())).as(a.serviceAccount("other")), isForbiddenWith(by)))
}

func checkConstrainedServiceAccount(ctx context.Context, a *access) error {
	robot, err := a.constrainedRobot(ctx)
	if err != nil {
		return err
	}
	by := fmt.Sprintf("User %q cannot ", a.serviceAccount("robot").user)
	rules := []object{policyRule("impersonate:serviceaccount", "authentication.k8s.io", "serviceaccounts", "other"), policyRule("impersonate-on:serviceaccount:list", "", "configmaps")}
	return a.check(ctx, append(a.grant("i", a.robotSubject(), rules...), a.grant("r", serviceAccountSubject(a.namespace, "other"), policyRule("*", "", "configmaps"))...),
		send(robot(get(a.item("a"))).as(a.serviceAccount("other")), isForbiddenWith(by+`impersonate-on:serviceaccount:get resource "configmaps"`)),
		send(robot(get(a.path())).as(a.serviceAccount("further")), isForbiddenWith(by+`impersonate:serviceaccount resource "serviceaccounts" in API group "authentication.k8s.io"`)),
		allowed(a.serviceAccount("other"), robot(get(a.path()))),
		send(robot(get(a.path())).as(a.user()), isForbiddenWith(by)))
}
