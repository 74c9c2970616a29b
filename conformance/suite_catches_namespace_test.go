package conformance_test

import (
	"net/http"
	"regexp"
)

// namespaceFaults are about namespaces.
var namespaceFaults = []faultyServer{
	{"has namespaces for everybody", withoutCode(404), `^NS-(01/typed|07/end|07/held)$`},
	{"lets namespaces fill up again", withoutCode(403), `^NS-(02/typed|04)$`},
	{"does not say why a namespace is closed", changeBody(hasMethod(http.MethodPost), replaceText(`"NamespaceTerminating"`, `"Terminating"`)), `^NS-02/typed$`},
	{"freezes what is in a namespace that is being deleted", changePath(replaceText("/kept", "/lost")), `^NS-03/typed$`},
	{"has other phases", changeBody(anyRequest, replaceText(`"Active"`, `"Ready"`)), `^NS-(05|07/replace)$`},
	{"takes no finalizers for a spec", changeRequestBody(hasMethod(http.MethodPost), replaceText(`"spec":{"finalizers"`, `"spec":{"finals"`)), `^NS-05/sent$`},
	{"deletes namespaces in secret", changeBody(hasMethod(http.MethodDelete), replaceText(`"Terminating"`, `"Active"`)), `^NS-0[68]$`},
	{"ends namespaces before what is in them", changeRequest(func(r *http.Request) {
		if r.Method == http.MethodGet && regexp.MustCompile(`^/api/v1/namespaces/[^/]+$`).MatchString(r.URL.Path) {
			r.URL.Path += "-gone"
		}
	}), `^NS-(05|08|09)$`},
	{"finalizes nothing", changePath(replaceText("/finalize", "/status")), `^NS-07/(replace|end|held)$`},
	{"reviews nothing", withoutCode(201), `^NS-10$`},
	{"labels no namespaces", changeBody(anyRequest, replaceText(`"kubernetes.io/metadata.name"`, `"name"`)), `^NS-11$`},
	{"allows anything on namespaces", withoutCode(405), `^NS-12$`},
}
