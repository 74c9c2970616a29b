package conformance_test

import (
	"net/http"
	"regexp"
)

// namespaceLies are about namespaces.
var namespaceLies = []told{
	{"has namespaces for everybody", insteadOf(404), `^NS-(01/typed|07/end|07/held)$`},
	{"lets namespaces fill up again", insteadOf(403), `^NS-(02/typed|04)$`},
	{"does not say why a namespace is closed", body(is(http.MethodPost), swap(`"NamespaceTerminating"`, `"Terminating"`)), `^NS-02/typed$`},
	{"freezes what is in a namespace that is being deleted", path(swap("/kept", "/lost")), `^NS-03/typed$`},
	{"has other phases", body(always, swap(`"Active"`, `"Ready"`)), `^NS-(05|07/replace)$`},
	{"takes no finalizers for a spec", sending(is(http.MethodPost), swap(`"spec":{"finalizers"`, `"spec":{"finals"`)), `^NS-05/sent$`},
	{"deletes namespaces in secret", body(is(http.MethodDelete), swap(`"Terminating"`, `"Active"`)), `^NS-0[68]$`},
	{"ends namespaces before what is in them", asking(func(r *http.Request) {
		if r.Method == http.MethodGet && regexp.MustCompile(`^/api/v1/namespaces/[^/]+$`).MatchString(r.URL.Path) {
			r.URL.Path += "-gone"
		}
	}), `^NS-(05|08|09)$`},
	{"finalizes nothing", path(swap("/finalize", "/status")), `^NS-07/(replace|end|held)$`},
	{"reviews nothing", insteadOf(201), `^NS-10$`},
	{"labels no namespaces", body(always, swap(`"kubernetes.io/metadata.name"`, `"name"`)), `^NS-11$`},
	{"allows anything on namespaces", insteadOf(405), `^NS-12$`},
}
