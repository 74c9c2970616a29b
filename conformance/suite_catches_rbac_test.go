package conformance_test

import (
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"strings"
)

// Faults of authorization by RBAC are made in three ways: a request is sent as the administrator,
// which allows what should be denied; it is sent as a user without roles, which is the reverse; or
// a role or binding is changed when it is written, so that it grants more or less.

// asAdministrator does not impersonate the user of requests that meet a condition.
func asAdministrator(when func(*http.Request) bool) fault {
	return changeRequest(func(r *http.Request) {
		if r.Header.Get("Impersonate-User") != "" && when(r) {
			for name := range r.Header {
				if strings.HasPrefix(name, "Impersonate-") {
					r.Header.Del(name)
				}
			}
		}
	})
}

// asUserWithoutRoles impersonates another user in requests that meet a condition.
func asUserWithoutRoles(when func(*http.Request) bool) fault {
	return setImpersonated(func(r *http.Request) string {
		if when(r) {
			return "conformance-without-roles"
		}
		return r.Header.Get("Impersonate-User")
	})
}

// setImpersonated changes the impersonated user of requests that impersonate one.
func setImpersonated(user func(*http.Request) string) fault {
	return changeRequest(func(r *http.Request) {
		if r.Header.Get("Impersonate-User") != "" {
			r.Header.Set("Impersonate-User", user(r))
		}
	})
}

// changeGroups changes the impersonated groups of requests that impersonate a user.
func changeGroups(change func(user string, groups []string) []string) fault {
	return changeRequest(func(r *http.Request) {
		if user := r.Header.Get("Impersonate-User"); user != "" {
			groups := change(user, r.Header.Values("Impersonate-Group"))
			r.Header.Del("Impersonate-Group")
			for _, one := range groups {
				r.Header.Add("Impersonate-Group", one)
			}
		}
	})
}

// changeGrants changes the roles and bindings that are written, except for those of markers.
func changeGrants(change func(string) string) fault {
	return changeRequestBody(func(r *http.Request) bool {
		return r.Method != http.MethodGet && r.Method != http.MethodDelete && strings.Contains(r.URL.Path, "/rbac.authorization.k8s.io/")
	}, func(body string) string {
		if strings.Contains(body, "-marker-") || strings.Contains(body, `"markers"`) {
			return body
		}
		return change(body)
	})
}

// replaceGrants changes roles and bindings by a regular expression.
func replaceGrants(pattern, with string) fault {
	expression := regexp.MustCompile(pattern)
	return changeGrants(func(body string) string { return expression.ReplaceAllString(body, with) })
}

// keepFirstSubject removes all subjects of a binding but the first.
func keepFirstSubject(body string) string {
	var binding map[string]any
	if json.Unmarshal([]byte(body), &binding) != nil {
		return body
	}
	subjects, _ := binding["subjects"].([]any)
	if len(subjects) < 2 {
		return body
	}
	binding["subjects"] = subjects[:1]
	changed, _ := json.Marshal(binding)
	return string(changed)
}

// inPath is a condition on the path of a request.
func inPath(pattern string) func(*http.Request) bool {
	expression := regexp.MustCompile(pattern)
	return func(r *http.Request) bool { return expression.MatchString(r.URL.Path) }
}

// bothOf is the condition that two conditions are met.
func bothOf(a, b func(*http.Request) bool) func(*http.Request) bool {
	return func(r *http.Request) bool { return a(r) && b(r) }
}

// isWrite is the condition that a request is not a read.
func isWrite(r *http.Request) bool { return r.Method != http.MethodGet && r.Method != http.MethodHead }

// byUser is the condition that a request impersonates a user whose name matches.
func byUser(pattern string) func(*http.Request) bool {
	expression := regexp.MustCompile(pattern)
	return func(r *http.Request) bool { return expression.MatchString(r.Header.Get("Impersonate-User")) }
}

// inReview is the condition that a request is a review whose body contains a text.
func inReview(text string) func(*http.Request) bool {
	return func(r *http.Request) bool {
		if !isReview(r) {
			return false
		}
		body, err := r.GetBody() // the body may have been sent
		if err != nil {
			panic(err) // the request is that of the suite
		}
		content, err := io.ReadAll(body)
		return err == nil && strings.Contains(string(content), text)
	}
}

// ignoreWrites sends writes that meet a condition as dry runs, so that they are not stored.
func ignoreWrites(when func(*http.Request) bool) fault {
	return changeRequest(func(r *http.Request) {
		if when(r) {
			q := r.URL.Query()
			q.Set("dryRun", "All")
			r.URL.RawQuery = q.Encode()
		}
	})
}

// accept answers 200 instead of a code to requests that meet a condition.
func accept(code int, when func(*http.Request) bool) fault {
	return changeResponse(when, func(r *http.Response) {
		if r.StatusCode == code {
			r.StatusCode = http.StatusOK
		}
	})
}

const (
	rolePaths   = `/rbac\.authorization\.k8s\.io/v1/.*roles`
	grantPaths  = `/rbac\.authorization\.k8s\.io/v1/`
	suitePaths  = `^/conformance-`
	inNamespace = `^/apis?/.*/namespaces/[^/]+/[a-z]`
)

// notReview is the condition that a request is not a review.
func notReview(r *http.Request) bool { return !isReview(r) }

// rbacFaults break rules about RBAC.
var rbacFaults = []faultyServer{
	// Verbs and rules.
	{"authorizes everything in namespaces", asAdministrator(inPath(inNamespace)), `^RB-(01/.*|02|03|04|06|09|1[0-3]|12/write|15|16|17|18|19|20|20/resource|21|22|23|3[5-9]|40|4[2-5]|44/.*|47|48|49|55)$`},
	{"authorizes everything at the cluster scope", asAdministrator(func(r *http.Request) bool { return notReview(r) && !strings.Contains(r.URL.Path, "/namespaces/") }),
		`^RB-(04/paths|24|25|26|27|28|29|30|32|33|34|42|48|51|52|54|64|69|70)$`},
	{"grants all verbs", replaceGrants(`"verbs":\[[^]]*\]`, `"verbs":["*"]`), `^RB-(01/.*|03|04|04/paths|06|07|08|08/absent|13|14|32)$`},
	{"grants no verbs by *", replaceGrants(`"verbs":\["\*"\]`, `"verbs":["get"]`), `^RB-(05|23|24|34|61|65|76|86)$`},
	{"compares verbs by their beginnings", replaceGrants(`"get"`, `"get","getattr","delete"`), `^RB-(01/get|14)$`},
	{"requires the verb of the type of a patch", asUserWithoutRoles(func(r *http.Request) bool {
		return strings.HasPrefix(r.Header.Get("Content-Type"), "application/json-patch")
	}), `^RB-03$`},
	{"requires another verb for HEAD", asAdministrator(hasMethod(http.MethodHead)), `^RB-(06|32)$`},
	{"requires only patch for an apply that creates", asAdministrator(inPath(`/configmaps/new$`)), `^RB-(07|08/absent)$`},
	{"requires only update for a PUT that creates", asAdministrator(inPath(`/leases/new$`)), `^RB-08$`},
	{"ignores resourceNames", replaceGrants(`"resourceNames":\[[^]]*\],`, ``), `^RB-(09|10|11|12|12/write|13|63|67|72|76|82|85|88)$`},
	{"denies names without resourceNames", asUserWithoutRoles(inPath(`/configmaps/b$`)), `^RB-09/all$`},
	{"does not add up permissions", asUserWithoutRoles(inPath(`/secrets$`)), `^RB-14$`},
	{"ignores apiGroups", replaceGrants(`"apiGroups":\[[^]]*\]`, `"apiGroups":["*"]`), `^RB-(15|17|19|21|72|82)$`},
	{"grants nothing by the group *", replaceGrants(`"apiGroups":\["\*"\]`, `"apiGroups":["none"]`), `^RB-(16|23|34|76|86)$`},
	{"compares resources by patterns", replaceGrants(`"config\*"`, `"configmaps"`), `^RB-17$`},
	{"authorizes one version", asUserWithoutRoles(inPath(`/autoscaling/v2/`)), `^RB-18$`},
	{"does not include subresources in *", asUserWithoutRoles(inPath(`/(scale|status)$`)), `^RB-(19|20|21)$`},
	{"includes the resource of a subresource", replaceGrants(`"deployments/scale"`, `"deployments","deployments/scale"`), `^RB-20$`},
	{"includes subresources in a resource", replaceGrants(`"pods"`, `"pods","pods/log"`), `^RB-20/resource$`},
	{"includes everything in */scale", replaceGrants(`"\*/scale"`, `"*"`), `^RB-21$`},
	{"denies resources that are not served", asUserWithoutRoles(inPath(`nothing\.example\.com`)), `^RB-22$`},

	// Scopes and paths.
	{"denies across namespaces", asUserWithoutRoles(inPath(`^/api/v1/(configmaps|nodes)`)), `^RB-(27|28|34|50/bound)$`},
	{"applies no bindings to ClusterRoles in namespaces", replaceGrants(`("kind":"RoleBinding".*"roleRef":{"apiGroup":"[^"]*","kind":")ClusterRole"`, `${1}Role"`), `^RB-(23|26|33|54|56/.*|66|67|70)$`},
	{"compares paths by their beginnings", replaceGrants(`"nonResourceURLs":\["(/[^"*]*)"`, `"nonResourceURLs":["$1*"`), `^RB-29$`},
	{"ignores a * in a path", replaceGrants(`\*"\]?,"verbs"`, `"],"verbs"`), `^RB-31$`},
	{"ignores a * at the end of a path", replaceGrants(`/\*"`, `/"`), `^RB-(30|72)$`},
	{"takes a * within a path as a pattern", asAdministrator(inPath(`-b-a$`)), `^RB-30$`},
	{"authorizes all paths", asAdministrator(inPath(suitePaths)), `^RB-(29|30|32|33|34|42|43|48|51|54)$`},

	// Subjects and bindings.
	{"compares users without case", setImpersonated(func(r *http.Request) string {
		return strings.ReplaceAll(r.Header.Get("Impersonate-User"), "-User", "-user")
	}), `^RB-35$`},
	{"compares groups without case", changeGroups(func(_ string, groups []string) []string {
		return strings.Fields(strings.ToLower(strings.Join(groups, " ")))
	}), `^RB-36$`},
	{"ignores groups", changeGroups(func(string, []string) []string { return nil }), `^RB-(36|38|40|49|73|80)$`},
	{"ignores the namespace of a ServiceAccount", asAdministrator(byUser(`^system:serviceaccount:.*:(robot|far)$`)), `^RB-(37|38)$`},
	{"denies ServiceAccounts", asUserWithoutRoles(byUser(`^system:serviceaccount:`)), `^RB-(35|37|38|40|57|73)$`},
	{"does not add the groups of ServiceAccounts", changeGroups(func(user string, groups []string) []string {
		if strings.HasPrefix(user, "system:serviceaccount:") {
			groups = append(groups, "a")
		}
		return groups
	}), `^RB-(38|80)$`},
	{"takes anonymous users as authenticated", setImpersonated(func(r *http.Request) string {
		return strings.ReplaceAll(r.Header.Get("Impersonate-User"), "system:anonymous", "anonymous")
	}), `^RB-(39|52)$`},
	{"uses the first subject of a binding", changeGrants(keepFirstSubject), `^RB-(37|40|73|74)$`},
	{"accepts invalid bindings", accept(http.StatusUnprocessableEntity, inPath(grantPaths)), `^RB-(41|46)$`},
	{"refuses bindings of roles that do not exist", changeResponse(bothOf(hasMethod(http.MethodPost), inPath(`bindings$`)), func(r *http.Response) { r.StatusCode = http.StatusNotFound }), `^RB-(14|42|43|45|67|71|78)$`},
	{"does not name roles that do not exist", changeBody(anyRequest, replaceText("RBAC: ", "")), `^RB-(43|73|78)$`},
	{"ignores updates of roles and bindings", ignoreWrites(func(r *http.Request) bool {
		return (r.Method == http.MethodPut || r.Method == http.MethodPatch) && inPath(grantPaths)(r)
	}), `^RB-(07|08|44|44/subjects)$`},
	{"ignores deletions of roles and bindings", ignoreWrites(bothOf(hasMethod(http.MethodDelete), inPath(grantPaths))), `^RB-44/deleted(Role|Binding)$`},
	{"authorizes each event of a watch", replaceInEvents(`"type":"ADDED"`, `"type":"ERROR"`), `^WA-37$`},
	{"ends watches", setParameter("watch", "false"), `^WA-37$`},
	{"does not escape the names of users", changeBody(anyRequest, func(s string) string {
		return strings.NewReplacer(`\u0026lt;`, `<`, `&lt;`, `<`).Replace(s)
	}), `^RB-47$`},
	{"leaves the details out of denials", changeBody(anyRequest, replaceText(`"details":`, `"about":`)), `^RB-(01/.*|02|48|60|66)$`},
	{"leaves the reason out of denials", changeBody(anyRequest, replaceText(`"reason":"Forbidden"`, `"reason":"Denied"`)), `^RB-(02|09|48|52|60|66|84)$`},

	// The roles that every cluster has.
	{"does not mark the roles of the bootstrap", changeBody(inPath(`/cluster-admin|/system:`), replaceText("rbac-defaults", "none")), `^RB-(50|51/roles)$`},
	{"has other default roles", changeBody(inPath(`/clusterroles/`), replaceText(`"rules":[`, `"rules":[],"old":[`)), `^RB-(50|51/roles)$`},
	{"binds cluster-admin as view", replaceGrants(`"name":"cluster-admin"`, `"name":"view"`), `^RB-(50/bound|54|69|70)$`},
	{"does not allow discovery", setImpersonated(func(r *http.Request) string {
		if strings.Count(r.URL.Path, "/") == 1 && strings.HasPrefix(r.URL.Path, "/api") {
			return "system:anonymous"
		}
		return r.Header.Get("Impersonate-User")
	}), `^RB-(51|55)$`},
	{"allows reviews of other users", asAdministrator(inPath(`/(subjectaccessreviews|tokenreviews)$`)), `^RB-(53|75|79)$`},
	{"does not allow reviews of the own permissions", asAdministrator(inPath(`/selfsubjectreviews$`)), `^RB-(53|80|81)$`},
	{"authorizes ServiceAccounts", asAdministrator(byUser(`:default$`)), `^RB-55$`},
	{"allows all in reviews", changeBody(inReview(`"namespace":"conformance-`), replaceText(`"allowed":false`, `"allowed":true`)), `^RB-(05|53|56/.*|57|72|74|75|76|78)$`},
	{"denies all in reviews", changeBody(inReview(`"name":"a"`), replaceText(`"allowed":true`, `"allowed":false`)), `^RB-(05|56/.*|57|72|73|74|75|76|78|82)$`},
	{"has no ClusterRole view", changePath(replaceText("/clusterroles/view", "/clusterroles/vista")), `^RB-(56/.*|58|59)$`},
	{"does not aggregate ClusterRoles", replaceGrants(`"labels":{`, `"annotations":{`), `^RB-(58|59)$`},

	// Escalation.
	{"does not check writes of roles and bindings", asAdministrator(bothOf(isWrite, inPath(grantPaths))), `^RB-(6[0-9]|70|71)$`},
	{"does not check updates of roles and bindings", asAdministrator(bothOf(inPath(grantPaths), func(r *http.Request) bool {
		return r.Method == http.MethodPut || r.Method == http.MethodPatch
	})), `^RB-(62|66|68|69)$`},
	{"refuses all writes of roles and bindings by users", asUserWithoutRoles(bothOf(isWrite, inPath(grantPaths))), `^RB-(6[1-9]|70|71)$`},
	{"ignores the verb escalate", replaceGrants(`"escalate"`, `"none"`), `^RB-65$`},
	{"ignores the verb bind", replaceGrants(`"bind"`, `"none"`), `^RB-67$`},
	{"names other verbs in messages about escalation", changeBody(inPath(grantPaths), func(s string) string {
		return regexp.MustCompile(`Verbs:\[[^]]*\]`).ReplaceAllString(s, `Verbs:[]`)
	}), `^RB-(6[0-4]|6[6-8]|71)$`},
	{"does not name resolution errors", changeBody(inPath(grantPaths), replaceText("resolution errors", "errors")), `^RB-71$`},
	{"checks deletions of roles and bindings", asUserWithoutRoles(bothOf(hasMethod(http.MethodDelete), inPath(grantPaths))), `^RB-68$`},

	// Reviews and impersonation.
	{"adds groups in reviews", changeRequestBody(isReview, replaceText(`"spec":{"resourceAttributes"`, `"spec":{"groups":["system:authenticated"],"resourceAttributes"`)), `^RB-74$`},
	{"lists no rules of the namespace", changeRequestBody(hasPathSuffix("/selfsubjectrulesreviews"), func(s string) string {
		return regexp.MustCompile(`"namespace":"[^"]*"`).ReplaceAllString(s, `"namespace":"default"`)
	}), `^RB-(77|78)$`},
	{"lists the rules of the administrator", asAdministrator(hasPathSuffix("/selfsubjectrulesreviews")), `^RB-(77|78)$`},
	{"ignores the uid of an impersonated user", changeRequest(func(r *http.Request) { r.Header.Del("Impersonate-Uid") }), `^RB-(81|85)$`},
	{"ignores the extra values of an impersonated user", changeRequest(func(r *http.Request) {
		for name := range r.Header {
			if strings.HasPrefix(name, "Impersonate-Extra-") {
				r.Header.Del(name)
			}
		}
	}), `^RB-(81|85)$`},
	{"ignores the verb impersonate", replaceGrants(`"impersonate"`, `"none"`), `^RB-(82|85|86)$`},
	{"ignores tokens", changeRequest(func(r *http.Request) {
		if notReview(r) {
			r.Header.Del("Authorization")
		}
	}), `^RB-8([345]|[789])$`},
	{"authorizes as the impersonator", changeRequest(func(r *http.Request) {
		if r.Header.Get("Authorization") != "" && notReview(r) {
			r.Header.Del("Impersonate-User")
			r.Header.Del("Impersonate-Group")
		}
	}), `^RB-8[4-9]$`},
	{"ignores the verbs of constrained impersonation", replaceGrants(`"impersonate-on:[^"]*"`, `"none"`), `^RB-8[7-9]$`},
	{"allows to impersonate for all requests", replaceGrants(`"impersonate-on:([^:]*):[^"]*"`, `"impersonate-on:$1:list","impersonate-on:$1:get"`), `^RB-8[78]$`},
}
