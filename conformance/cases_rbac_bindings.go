package conformance

import (
	"context"
	"net/http"
	"regexp"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	docSubjects     = "kubernetes.io, Using RBAC Authorization, Referring to subjects; k/k pkg/registry/rbac/validation/rule.go"
	docRoleBindings = "kubernetes.io, Using RBAC Authorization, RoleBinding and ClusterRoleBinding"
	docRBACReasons  = "k/k plugin/pkg/auth/authorizer/rbac/rbac.go"
)

// accessSubjectCases returns the cases about the subjects of bindings (RB-35 to RB-40).
func accessSubjectCases() []Case {
	must := accessRules(Must, docSubjects)
	const listing = "list configmaps"
	reader := policyRule("list", "", "configmaps")
	return []Case{
		must("RB-35", "a subject of the kind User is the user with exactly this name", "names of users are opaque strings", func(ctx context.Context, p *access) error {
			r := append(p.grant("r", userSubject(p.user()), reader), p.bind("s", "Role", "r", userSubject(identity{user: "*"}), userSubject(p.serviceAccount("robot"))))
			return p.check(ctx, r,
				allowed(p.user(), get(p.path())),
				allowed(p.serviceAccount("robot"), get(p.path())),
				p.denied(p.identity("User"), get(p.path()), listing),
				p.denied(p.identity("users"), get(p.path()), listing),
				p.denied(p.other(), get(p.path()), listing),
				p.denied(p.other().in(p.user().user), get(p.path()), listing))
		}),
		must("RB-36", "a subject of the kind Group is the users in exactly this group", "an identity provider assigns the groups", func(ctx context.Context, p *access) error {
			team := p.name("team")
			return p.check(ctx, []object{p.role("r", reader), p.bind("r", "Role", "r", groupSubject(team), groupSubject("*"))},
				allowed(p.user().in(team), get(p.path())),
				allowed(p.user().in(p.name("a"), team), get(p.path())),
				p.denied(p.user().in(p.name("Team"), team+"s"), get(p.path()), listing),
				p.denied(p.user(), get(p.path()), listing),
				p.denied(identity{user: team}, get(p.path()), listing))
		}),
		must("RB-37", "a subject of the kind ServiceAccount is the user system:serviceaccount:NAMESPACE:NAME", "pods use ServiceAccounts", func(ctx context.Context, p *access) error {
			_, other, err := p.inOtherNamespace(ctx)
			if err != nil {
				return err
			}
			return p.check(ctx, []object{p.role("r", reader), p.bind("r", "Role", "r", serviceAccountSubject(p.namespace, "robot"), serviceAccountSubject(other, "far"))},
				allowed(p.serviceAccount("robot"), get(p.path())),
				allowed(identity{user: "system:serviceaccount:" + other + ":far"}, get(p.path())),
				p.denied(p.serviceAccount("far"), get(p.path()), listing),
				p.denied(identity{user: "system:serviceaccount:" + other + ":robot"}, get(p.path()), listing),
				p.denied(identity{user: "robot"}, get(p.path()), listing))
		}),
		must("RB-38", "ServiceAccounts are in the groups system:serviceaccounts and system:serviceaccounts:NAMESPACE", "all ServiceAccounts of a namespace get a role", func(ctx context.Context, p *access) error {
			_, other, err := p.inOtherNamespace(ctx)
			if err != nil {
				return err
			}
			secrets := "/api/v1/namespaces/" + p.namespace + "/secrets"
			far := identity{user: "system:serviceaccount:" + other + ":robot"}
			return p.check(ctx, []object{
				p.role("r", reader), p.bind("r", "Role", "r", groupSubject("system:serviceaccounts:"+p.namespace)),
				p.role("s", policyRule("list", "", "secrets")), p.bind("s", "Role", "s", groupSubject("system:serviceaccounts")),
			},
				allowed(p.serviceAccount("robot"), get(p.path())), allowed(p.serviceAccount("robot"), get(secrets)),
				p.denied(far, get(p.path()), listing), allowed(far, get(secrets)),
				p.denied(p.user(), get(secrets), "list secrets"),
				p.denied(p.serviceAccount("robot").in(p.name("team")), get(p.path()), listing))
		}),
		must("RB-39", "system:authenticated is the group of all users but system:anonymous, which is in system:unauthenticated", "public data is granted to these groups", func(ctx context.Context, p *access) error {
			anonymous, secrets := identity{user: "system:anonymous"}, "/api/v1/namespaces/"+p.namespace+"/secrets"
			return p.check(ctx, []object{
				p.role("r", reader), p.bind("r", "Role", "r", groupSubject("system:authenticated")),
				p.role("s", policyRule("list", "", "secrets")), p.bind("s", "Role", "s", groupSubject("system:unauthenticated")),
			},
				allowed(p.user(), get(p.path())), allowed(p.user().in(p.name("team")), get(p.path())), allowed(p.serviceAccount("robot"), get(p.path())),
				p.denied(anonymous, get(p.path()), listing), allowed(anonymous, get(secrets)),
				p.denied(p.user(), get(secrets), "list secrets"))
		}),
		must("RB-40", "a binding is to all of its subjects, which may be none", "a role has several users", func(ctx context.Context, p *access) error {
			all := []object{userSubject(p.user()), groupSubject(p.name("team")), serviceAccountSubject(p.namespace, "robot")}
			return p.check(ctx, []object{
				p.role("r", reader), p.bind("r", "Role", "r", all...), p.role("s", policyRule("*", "*", "*")), p.bind("s", "Role", "s"),
			},
				allowed(p.user(), get(p.path())), allowed(p.other().in(p.name("team")), get(p.path())), allowed(p.serviceAccount("robot"), get(p.path())),
				p.denied(p.other(), get(p.path()), listing),
				p.denied(p.user(), del(p.path()), "deletecollection configmaps"))
		}),
	}
}

// accessBindingCases returns the cases about bindings and denials (RB-41 to RB-49), and about a watch
// whose user loses the permission to open it (WA-37).
func accessBindingCases() []Case {
	must := accessRules(Must, docRoleBindings)
	reasons := accessRules(Should, docRBACReasons)
	denials := accessRules(Must, "kubernetes.io, Authorization; apiserver handlers/responsewriters/errors.go")
	const listing = "list configmaps"
	reader := policyRule("list", "", "configmaps")
	return []Case{
		must("RB-41", "the roleRef of a binding cannot be changed", "the permission to change subjects must not extend to the role", func(ctx context.Context, p *access) error {
			bindings := collection{group: rbacGroup, kind: "RoleBinding"}
			b := p.bind("b", "Role", "r", userSubject(p.user()))
			changed := p.bind("b", "Role", "s", userSubject(p.user()))
			cannot := bindings.invalidField("b", metav1.StatusCause{Type: metav1.CauseTypeFieldValueInvalid, Field: "roleRef", Message: "cannot change roleRef"})
			return p.check(ctx, []object{b},
				send(put(p.itemOf(b), changed), cannot.check),
				send(mergePatch(p.itemOf(b), object{"roleRef": object{"kind": "ClusterRole"}}), cannot.check),
				send(mergePatch(p.itemOf(b), object{"subjects": []object{userSubject(p.other())}}), code(http.StatusOK)),
				send(get(p.itemOf(b)), value("r", "roleRef", "name"), value("Role", "roleRef", "kind")))
		}),
		must("RB-42", "a binding of a role that does not exist grants nothing until the role is created", "both may be created in any order", func(ctx context.Context, p *access) error {
			if err := p.check(ctx, []object{p.bind("b", "Role", "r", userSubject(p.user())), p.bindCluster("b", p.name("c"), userSubject(p.user()))},
				p.denied(p.user(), get(p.path()), listing), deniedPath(p.user(), get("/"+p.name("path")))); err != nil {
				return err
			}
			return p.check(ctx, []object{p.role("r", reader), p.clusterRole("c", pathRule("get", "/"+p.name("path")))},
				allowed(p.user(), get(p.path())), send(get("/"+p.name("path")).as(p.user()), code(http.StatusNotFound)))
		}),
		reasons("RB-43", "a denial names the roles that do not exist", "the user can find the error", func(ctx context.Context, p *access) error {
			role, cluster := `role.rbac.authorization.k8s.io "r" not found`, `clusterrole.rbac.authorization.k8s.io "`+p.name("c")+`" not found`
			says := func(c call, action, text string) exchange {
				e := p.denied(p.user(), c, action)
				e.expect = append(e.expect, textAt("RBAC: "+text, "message"))
				return e
			}
			if err := p.check(ctx, []object{p.bind("b", "Role", "r", userSubject(p.user()))}, says(get(p.path()), listing, role)); err != nil {
				return err
			}
			path := deniedPath(p.user(), get("/"+p.name("path")))
			path.expect = append(path.expect, textAt("RBAC: "+cluster, "message"))
			return p.check(ctx, []object{p.bindCluster("b", p.name("c"), userSubject(p.user()))}, says(get(p.path()), listing, "["+cluster+", "+role+"]"), path)
		}),
		must("RB-44", "changes of the rules of a role become effective", "permissions are withdrawn from users that are logged in", func(ctx context.Context, p *access) error {
			r := p.role("r", reader)
			if err := p.check(ctx, []object{r, p.bind("b", "Role", "r", userSubject(p.user()))}, allowed(p.user(), get(p.path()))); err != nil {
				return err
			}
			if err := p.change(ctx, put(p.itemOf(r), p.role("r", policyRule("get", "", "configmaps")))); err != nil {
				return err
			}
			return p.s.expectAll(ctx, p.denied(p.user(), get(p.path()), listing), send(get(p.item("a")).as(p.user()), code(http.StatusNotFound)))
		}),
		must("RB-44/subjects", "changes of the subjects of a binding become effective", "users change teams", func(ctx context.Context, p *access) error {
			b := p.bind("b", "Role", "r", userSubject(p.user()))
			if err := p.check(ctx, []object{p.role("r", reader), b}, allowed(p.user(), get(p.path()))); err != nil {
				return err
			}
			if err := p.change(ctx, mergePatch(p.itemOf(b), object{"subjects": []object{userSubject(p.other())}})); err != nil {
				return err
			}
			return p.s.expectAll(ctx, p.denied(p.user(), get(p.path()), listing), allowed(p.other(), get(p.path())))
		}),
		must("RB-44/deletedRole", "a role that is deleted grants nothing, until it is created again", "permissions are withdrawn from users that are logged in", func(ctx context.Context, p *access) error {
			r, c := p.role("r", reader), p.clusterRole("c", reader)
			return p.checkDeletedGrants(ctx, []object{r, c}, p.bind("b", "Role", "r", userSubject(p.user())), p.bindCluster("b", p.name("c"), userSubject(p.other())))
		}),
		must("RB-44/deletedBinding", "a binding that is deleted grants nothing, until it is created again", "permissions are withdrawn from users that are logged in", func(ctx context.Context, p *access) error {
			b, d := p.bind("b", "Role", "r", userSubject(p.user())), p.bindCluster("b", p.name("c"), userSubject(p.other()))
			return p.checkDeletedGrants(ctx, []object{b, d}, p.role("r", reader), p.clusterRole("c", reader))
		}),
		must("RB-45", "a RoleBinding refers to a Role in its own namespace", "the permissions of a namespace are defined there", func(ctx context.Context, p *access) error {
			_, other, err := p.inOtherNamespace(ctx)
			if err != nil {
				return err
			}
			elsewhere := post("/apis/"+rbacVersion+"/namespaces/"+other+"/roles", p.role("r", reader))
			if err := p.change(ctx, elsewhere); err != nil {
				return err
			}
			if err := p.check(ctx, []object{p.bind("b", "Role", "r", userSubject(p.user()))}, p.denied(p.user(), get(p.path()), listing)); err != nil {
				return err
			}
			return p.check(ctx, []object{p.role("r", reader)}, allowed(p.user(), get(p.path())))
		}),
		must("RB-46", "a ClusterRoleBinding refers to a ClusterRole", "a Role is about one namespace", func(ctx context.Context, p *access) error {
			b := p.bindCluster("b", p.name("r"), userSubject(p.user())).with("roleRef", roleRef("Role", p.name("r")))
			bindings := collection{group: rbacGroup, kind: "ClusterRoleBinding"}
			cause := metav1.StatusCause{Type: metav1.CauseTypeFieldValueNotSupported, Field: "roleRef.kind", Message: `"ClusterRole"`}
			return p.s.expect(ctx, post(p.pathOf(b), b), bindings.invalidField(p.name("b"), cause).check)
		}),
		denials("RB-47", "a denial quotes the name of the user, and escapes characters of HTML", "the message may be displayed by a browser", func(ctx context.Context, p *access) error {
			one := func(user, quoted string) exchange {
				return send(get(p.path()).as(identity{user: p.name(user)}), isDeniedTo(regexp.QuoteMeta(`"`+p.name(quoted)+`"`), "list", "configmaps", "", `in the namespace "`+p.namespace+`"`)...)
			}
			return p.s.expectAll(ctx, one("a<b>&c", "a&lt;b&gt;&amp;c"), one(`o"neil`, `o\"neil`), one("https://idp.example.com/#a", "https://idp.example.com/#a"))
		}),
		denials("RB-48", "a denial has the code 403, the reason Forbidden, and the resource and name as details", "clients act on the reason", func(ctx context.Context, p *access) error {
			return p.s.expectAll(ctx,
				p.denied(p.user(), get(p.item("a")), "get configmaps a"),
				p.denied(p.user(), get(p.in("apps/v1", "deployments/a")), "get deployments.apps a"),
				send(get("/"+p.name("path")).as(p.user()), isForbidden(regexp.MustCompile(`^forbidden: User "`+p.user().user+`" cannot get path "/`+p.name("path")+`"`), metav1.StatusDetails{}), hasNosniff))
		}),
		accessRules(Must, "apiserver handlers/watch.go")("WA-37", "a watch continues after the user has lost the permission to open it", "requests are authorized when they begin", checkWatchWithoutPermission),
		accessRules(Must, "kubernetes.io, Using RBAC Authorization, User-facing roles")("RB-49", "the group system:masters may do everything, without a role", "an administrator can repair roles", func(ctx context.Context, p *access) error {
			return p.s.expectAll(ctx,
				allowed(p.user().in("system:masters"), get(p.path())),
				allowed(p.user().in("system:masters"), get("/")),
				allowed(p.user().in("system:masters"), post(p.in(rbacVersion, "roles"), p.role("r", policyRule("*", "*", "*")))),
				p.denied(identity{user: "system:masters"}, get(p.path()), listing),
				p.denied(p.user(), get(p.path()), listing))
		}),
	}
}

func checkWatchWithoutPermission(ctx context.Context, p *access) error {
	b := p.bind("b", "Role", "r", userSubject(p.user()))
	if err := p.install(ctx, p.role("r", policyRule("list,watch", "", "configmaps")), b); err != nil {
		return err
	}
	open := get(p.path() + "?watch=1&fieldSelector=metadata.name%3Da").as(p.user())
	w, err := p.s.watch(ctx, open)
	if err != nil {
		return err
	}
	defer w.close()
	if err := p.change(ctx, del(p.itemOf(b))); err != nil {
		return err
	}
	if err := p.s.expectAll(ctx, p.denied(p.user(), open, "watch configmaps a"), send(post(p.path(), p.object("a")), code(http.StatusCreated))); err != nil {
		return err
	}
	_, err = w.want("ADDED", "a")
	return err
}

// checkDeletedGrants creates roles and bindings that allow both users to list ConfigMaps, deletes
// some of them and creates these again.
func (p *access) checkDeletedGrants(ctx context.Context, deleted []object, kept ...object) error {
	both := []exchange{allowed(p.user(), get(p.path())), allowed(p.other(), get(p.path()))}
	if err := p.check(ctx, append(kept, deleted...), both...); err != nil {
		return err
	}
	var deletions []call
	for _, one := range deleted {
		deletions = append(deletions, del(p.itemOf(one)))
	}
	if err := p.change(ctx, deletions...); err != nil {
		return err
	}
	if err := p.s.expectAll(ctx, p.denied(p.user(), get(p.path()), "list configmaps"), p.denied(p.other(), get(p.path()), "list configmaps")); err != nil {
		return err
	}
	return p.check(ctx, deleted, both...)
}
