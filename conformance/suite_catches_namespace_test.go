package conformance_test

import (
	"net/http"
	"regexp"
)

// namespaceFaults break rules about namespaces.
var namespaceFaults = []faultyServer{
	{"answers 501 instead of 404 for absent namespaces", withoutCode(404), `^NS-(01/typed|07/end|07/held)$`},
	{"answers 501 instead of 403 for terminating namespaces", withoutCode(403), `^NS-(02/(put|typed)|04)$`},
	{"uses another cause than NamespaceTerminating", changeBody(hasMethod(http.MethodPost), replaceText(`"NamespaceTerminating"`, `"Terminating"`)), `^NS-02/typed$`},
	{"creates by PUT in a terminating namespace", changeResponse(hasMethod(http.MethodPut), replaceCode(http.StatusForbidden, http.StatusCreated)), `^NS-02/put$`},
	{"rejects writes in a terminating namespace", changePath(replaceText("/kept", "/lost")), `^NS-03/typed$`},
	{"returns another phase than Active", changeBody(anyRequest, replaceText(`"Active"`, `"Ready"`)), `^NS-(05|07/replace)$`},
	{"ignores spec.finalizers of a new namespace", changeRequestBody(hasMethod(http.MethodPost), replaceText(`"spec":{"finalizers"`, `"spec":{"finals"`)), `^NS-05/sent$`},
	{"returns the phase Active for a deleted namespace", changeBody(hasMethod(http.MethodDelete), replaceText(`"Terminating"`, `"Active"`)), `^NS-0[68]$`},
	{"removes a namespace before its content", changeRequest(func(r *http.Request) {
		if r.Method == http.MethodGet && regexp.MustCompile(`^/api/v1/namespaces/[^/]+$`).MatchString(r.URL.Path) {
			r.URL.Path += "-gone"
		}
	}), `^NS-(05|08|09)$`},
	{"ignores finalize", changePath(replaceText("/finalize", "/status")), `^NS-07/(replace|end|held)$`},
	{"answers 501 to LocalSubjectAccessReviews", withoutCode(201), `^NS-10$`},
	{"does not label namespaces", changeBody(anyRequest, replaceText(`"kubernetes.io/metadata.name"`, `"name"`)), `^NS-11$`},
	{"answers 501 instead of 405 to deletecollection of namespaces", withoutCode(405), `^NS-12$`},
}
