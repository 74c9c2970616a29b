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
		must("RB-35", "a subject of the kind User is the user with exactly this name", "names of users are opaque strings", func(ctx context.Context, a *access) error {
			o := append(a.grant("r", userSubject(a.user()), reader), a.bind("s", "Role", "r", userSubject(identity{user: "*"}), userSubject(a.serviceAccount("robot"))))
			return a.check(ctx, o,
				allowed(a.user(), get(a.path())),
				allowed(a.serviceAccount("robot"), get(a.path())),
				a.denied(a.identity("User"), get(a.path()), listing),
				a.denied(a.identity("users"), get(a.path()), listing),
				a.denied(a.other(), get(a.path()), listing),
				a.denied(a.other().in(a.user().user), get(a.path()), listing))
		}),
		must("RB-36", "a subject of the kind Group is the users in exactly this group", "an identity provider assigns the groups", func(ctx context.Context, a *access) error {
			team := a.name("team")
			return a.check(ctx, []object{a.role("r", reader), a.bind("r", "Role", "r", groupSubject(team), groupSubject("*"))},
				allowed(a.user().in(team), get(a.path())),
				allowed(a.user().in(a.name("a"), team), get(a.path())),
				a.denied(a.user().in(a.name("Team"), team+"s"), get(a.path()), listing),
				a.denied(a.user(), get(a.path()), listing),
				a.denied(identity{user: team}, get(a.path()), listing))
		}),
		must("RB-37", "a subject of the kind ServiceAccount is the user system:serviceaccount:NAMESPACE:NAME", "pods use ServiceAccounts", func(ctx context.Context, a *access) error {
			_, other, err := a.inOtherNamespace(ctx)
			if err != nil {
				return err
			}
			return a.check(ctx, []object{a.role("r", reader), a.bind("r", "Role", "r", serviceAccountSubject(a.namespace, "robot"), serviceAccountSubject(other, "far"))},
				allowed(a.serviceAccount("robot"), get(a.path())),
				allowed(identity{user: "system:serviceaccount:" + other + ":far"}, get(a.path())),
				a.denied(a.serviceAccount("far"), get(a.path()), listing),
				a.denied(identity{user: "system:serviceaccount:" + other + ":robot"}, get(a.path()), listing),
				a.denied(identity{user: "robot"}, get(a.path()), listing))
		}),
		must("RB-38", "ServiceAccounts are in the groups system:serviceaccounts and system:serviceaccounts:NAMESPACE", "all ServiceAccounts of a namespace get a role", func(ctx context.Context, a *access) error {
			_, other, err := a.inOtherNamespace(ctx)
			if err != nil {
				return err
			}
			secrets := "/api/v1/namespaces/" + a.namespace + "/secrets"
			far := identity{user: "system:serviceaccount:" + other + ":robot"}
			return a.check(ctx, []object{
				a.role("r", reader), a.bind("r", "Role", "r", groupSubject("system:serviceaccounts:"+a.namespace)),
				a.role("s", policyRule("list", "", "secrets")), a.bind("s", "Role", "s", groupSubject("system:serviceaccounts")),
			},
				allowed(a.serviceAccount("robot"), get(a.path())), allowed(a.serviceAccount("robot"), get(secrets)),
				a.denied(far, get(a.path()), listing), allowed(far, get(secrets)),
				a.denied(a.user(), get(secrets), "list secrets"),
				a.denied(a.serviceAccount("robot").in(a.name("team")), get(a.path()), listing))
		}),
		must("RB-39", "system:authenticated is the group of all users but system:anonymous, which is in system:unauthenticated", "public data is granted to these groups", func(ctx context.Context, a *access) error {
			anonymous, secrets := identity{user: "system:anonymous"}, "/api/v1/namespaces/"+a.namespace+"/secrets"
			return a.check(ctx, []object{
				a.role("r", reader), a.bind("r", "Role", "r", groupSubject("system:authenticated")),
				a.role("s", policyRule("list", "", "secrets")), a.bind("s", "Role", "s", groupSubject("system:unauthenticated")),
			},
				allowed(a.user(), get(a.path())), allowed(a.user().in(a.name("team")), get(a.path())), allowed(a.serviceAccount("robot"), get(a.path())),
				a.denied(anonymous, get(a.path()), listing), allowed(anonymous, get(secrets)),
				a.denied(a.user(), get(secrets), "list secrets"))
		}),
		must("RB-40", "a binding is to all of its subjects, which may be none", "a role has several users", func(ctx context.Context, a *access) error {
			all := []object{userSubject(a.user()), groupSubject(a.name("team")), serviceAccountSubject(a.namespace, "robot")}
			return a.check(ctx, []object{
				a.role("r", reader), a.bind("r", "Role", "r", all...), a.role("s", policyRule("*", "*", "*")), a.bind("s", "Role", "s"),
			},
				allowed(a.user(), get(a.path())), allowed(a.other().in(a.name("team")), get(a.path())), allowed(a.serviceAccount("robot"), get(a.path())),
				a.denied(a.other(), get(a.path()), listing),
				a.denied(a.user(), del(a.path()), "deletecollection configmaps"))
		}),
	}
}

// accessBindingCases returns the cases about bindings and denials (RB-41 to RB-49), and about a
// watch whose user loses the permission to open it (WA-37).
func accessBindingCases() []Case {
	must := accessRules(Must, docRoleBindings)
	reasons := accessRules(Should, docRBACReasons)
	denials := accessRules(Must, "kubernetes.io, Authorization; apiserver handlers/responsewriters/errors.go")
	const listing = "list configmaps"
	reader := policyRule("list", "", "configmaps")
	return []Case{
		must("RB-41", "the roleRef of a binding cannot be changed", "the permission to change subjects must not extend to the role", func(ctx context.Context, a *access) error {
			bindings := collection{group: rbacGroup, kind: "RoleBinding"}
			b := a.bind("b", "Role", "r", userSubject(a.user()))
			changed := a.bind("b", "Role", "s", userSubject(a.user()))
			cannot := bindings.invalidField("b", metav1.StatusCause{Type: metav1.CauseTypeFieldValueInvalid, Field: "roleRef", Message: "cannot change roleRef"})
			return a.check(ctx, []object{b},
				send(put(a.itemOf(b), changed), cannot.check),
				send(mergePatch(a.itemOf(b), object{"roleRef": object{"kind": "ClusterRole"}}), cannot.check),
				send(mergePatch(a.itemOf(b), object{"subjects": []object{userSubject(a.other())}}), code(http.StatusOK)),
				send(get(a.itemOf(b)), value("r", "roleRef", "name"), value("Role", "roleRef", "kind")))
		}),
		must("RB-42", "a binding of a role that does not exist grants nothing until the role is created", "both may be created in any order", func(ctx context.Context, a *access) error {
			if err := a.check(ctx, []object{a.bind("b", "Role", "r", userSubject(a.user())), a.bindCluster("b", a.name("c"), userSubject(a.user()))},
				a.denied(a.user(), get(a.path()), listing), deniedPath(a.user(), get("/"+a.name("path")))); err != nil {
				return err
			}
			return a.check(ctx, []object{a.role("r", reader), a.clusterRole("c", pathRule("get", "/"+a.name("path")))},
				allowed(a.user(), get(a.path())), send(get("/"+a.name("path")).as(a.user()), code(http.StatusNotFound)))
		}),
		reasons("RB-43", "a denial names the roles that do not exist", "the user can find the error", func(ctx context.Context, a *access) error {
			role, cluster := `role.rbac.authorization.k8s.io "r" not found`, `clusterrole.rbac.authorization.k8s.io "`+a.name("c")+`" not found`
			says := func(c call, action, text string) exchange {
				e := a.denied(a.user(), c, action)
				e.expect = append(e.expect, textAt("RBAC: "+text, "message"))
				return e
			}
			if err := a.check(ctx, []object{a.bind("b", "Role", "r", userSubject(a.user()))}, says(get(a.path()), listing, role)); err != nil {
				return err
			}
			path := deniedPath(a.user(), get("/"+a.name("path")))
			path.expect = append(path.expect, textAt("RBAC: "+cluster, "message"))
			return a.check(ctx, []object{a.bindCluster("b", a.name("c"), userSubject(a.user()))}, says(get(a.path()), listing, "["+cluster+", "+role+"]"), path)
		}),
		must("RB-44", "changes of the rules of a role become effective", "permissions are withdrawn from users that are logged in", func(ctx context.Context, a *access) error {
			o := a.role("r", reader)
			if err := a.check(ctx, []object{o, a.bind("b", "Role", "r", userSubject(a.user()))}, allowed(a.user(), get(a.path()))); err != nil {
				return err
			}
			if err := a.change(ctx, put(a.itemOf(o), a.role("r", policyRule("get", "", "configmaps")))); err != nil {
				return err
			}
			return a.s.expectAll(ctx, a.denied(a.user(), get(a.path()), listing), send(get(a.item("a")).as(a.user()), code(http.StatusNotFound)))
		}),
		must("RB-44/subjects", "changes of the subjects of a binding become effective", "users change teams", func(ctx context.Context, a *access) error {
			b := a.bind("b", "Role", "r", userSubject(a.user()))
			if err := a.check(ctx, []object{a.role("r", reader), b}, allowed(a.user(), get(a.path()))); err != nil {
				return err
			}
			if err := a.change(ctx, mergePatch(a.itemOf(b), object{"subjects": []object{userSubject(a.other())}})); err != nil {
				return err
			}
			return a.s.expectAll(ctx, a.denied(a.user(), get(a.path()), listing), allowed(a.other(), get(a.path())))
		}),
		must("RB-44/deletedRole", "a role that is deleted grants nothing, until it is created again", "permissions are withdrawn from users that are logged in", func(ctx context.Context, a *access) error {
			o, c := a.role("r", reader), a.clusterRole("c", reader)
			return a.checkDeletedGrants(ctx, []object{o, c}, a.bind("b", "Role", "r", userSubject(a.user())), a.bindCluster("b", a.name("c"), userSubject(a.other())))
		}),
		must("RB-44/deletedBinding", "a binding that is deleted grants nothing, until it is created again", "permissions are withdrawn from users that are logged in", func(ctx context.Context, a *access) error {
			b, d := a.bind("b", "Role", "r", userSubject(a.user())), a.bindCluster("b", a.name("c"), userSubject(a.other()))
			return a.checkDeletedGrants(ctx, []object{b, d}, a.role("r", reader), a.clusterRole("c", reader))
		}),
		must("RB-45", "a RoleBinding refers to a Role in its own namespace", "the permissions of a namespace are defined there", func(ctx context.Context, a *access) error {
			_, other, err := a.inOtherNamespace(ctx)
			if err != nil {
				return err
			}
			elsewhere := post("/apis/"+rbacVersion+"/namespaces/"+other+"/roles", a.role("r", reader))
			if err := a.change(ctx, elsewhere); err != nil {
				return err
			}
			if err := a.check(ctx, []object{a.bind("b", "Role", "r", userSubject(a.user()))}, a.denied(a.user(), get(a.path()), listing)); err != nil {
				return err
			}
			return a.check(ctx, []object{a.role("r", reader)}, allowed(a.user(), get(a.path())))
		}),
		must("RB-46", "a ClusterRoleBinding refers to a ClusterRole", "a Role is about one namespace", func(ctx context.Context, a *access) error {
			b := a.bindCluster("b", a.name("r"), userSubject(a.user())).with("roleRef", roleRef("Role", a.name("r")))
			bindings := collection{group: rbacGroup, kind: "ClusterRoleBinding"}
			cause := metav1.StatusCause{Type: metav1.CauseTypeFieldValueNotSupported, Field: "roleRef.kind", Message: `"ClusterRole"`}
			return a.s.expect(ctx, post(a.pathOf(b), b), bindings.invalidField(a.name("b"), cause).check)
		}),
		denials("RB-47", "a denial quotes the name of the user, and escapes characters of HTML", "the message may be displayed by a browser", func(ctx context.Context, a *access) error {
			one := func(user, quoted string) exchange {
				return send(get(a.path()).as(identity{user: a.name(user)}), isDeniedTo(regexp.QuoteMeta(`"`+a.name(quoted)+`"`), "list", "configmaps", "", `in the namespace "`+a.namespace+`"`)...)
			}
			return a.s.expectAll(ctx, one("a<b>&c", "a&lt;b&gt;&amp;c"), one(`o"neil`, `o\"neil`), one("https://idp.example.com/#a", "https://idp.example.com/#a"))
		}),
		denials("RB-48", "a denial has the code 403, the reason Forbidden, and the resource and name as details", "clients act on the reason", func(ctx context.Context, a *access) error {
			return a.s.expectAll(ctx,
				a.denied(a.user(), get(a.item("a")), "get configmaps a"),
				a.denied(a.user(), get(a.in("apps/v1", "deployments/a")), "get deployments.apps a"),
				send(get("/"+a.name("path")).as(a.user()), isForbidden(regexp.MustCompile(`^forbidden: User "`+a.user().user+`" cannot get path "/`+a.name("path")+`"`), metav1.StatusDetails{}), hasNosniff))
		}),
		accessRules(Must, "apiserver handlers/watch.go")("WA-37", "a watch continues after the user has lost the permission to open it", "requests are authorized when they begin", checkWatchWithoutPermission),
		accessRules(Must, "kubernetes.io, Using RBAC Authorization, User-facing roles")("RB-49", "the group system:masters may do everything, without a role", "an administrator can repair roles", func(ctx context.Context, a *access) error {
			return a.s.expectAll(ctx,
				allowed(a.user().in("system:masters"), get(a.path())),
				allowed(a.user().in("system:masters"), get("/")),
				allowed(a.user().in("system:masters"), post(a.in(rbacVersion, "roles"), a.role("r", policyRule("*", "*", "*")))),
				a.denied(identity{user: "system:masters"}, get(a.path()), listing),
				a.denied(a.user(), get(a.path()), listing))
		}),
	}
}

func checkWatchWithoutPermission(ctx context.Context, a *access) error {
	b := a.bind("b", "Role", "r", userSubject(a.user()))
	if err := a.install(ctx, a.role("r", policyRule("list,watch", "", "configmaps")), b); err != nil {
		return err
	}
	open := get(a.path() + "?watch=1&fieldSelector=metadata.name%3Da").as(a.user())
	w, err := a.s.watch(ctx, open)
	if err != nil {
		return err
	}
	defer w.close()
	if err := a.change(ctx, del(a.itemOf(b))); err != nil {
		return err
	}
	if err := a.s.expectAll(ctx, a.denied(a.user(), open, "watch configmaps a"), send(post(a.path(), a.object("a")), code(http.StatusCreated))); err != nil {
		return err
	}
	_, err = w.want("ADDED", "a")
	return err
}

// checkDeletedGrants creates roles and bindings that allow both users to list ConfigMaps, deletes
// some of them and creates these again.
func (a *access) checkDeletedGrants(ctx context.Context, deleted []object, kept ...object) error {
	both := []exchange{allowed(a.user(), get(a.path())), allowed(a.other(), get(a.path()))}
	if err := a.check(ctx, append(kept, deleted...), both...); err != nil {
		return err
	}
	var deletions []call
	for _, one := range deleted {
		deletions = append(deletions, del(a.itemOf(one)))
	}
	if err := a.change(ctx, deletions...); err != nil {
		return err
	}
	if err := a.s.expectAll(ctx, a.denied(a.user(), get(a.path()), "list configmaps"), a.denied(a.other(), get(a.path()), "list configmaps")); err != nil {
		return err
	}
	return a.check(ctx, deleted, both...)
}
