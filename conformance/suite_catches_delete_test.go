package conformance_test

import (
	"net/http"
	"slices"
	"strings"
)

// deletionFaults are about deletions.
var deletionFaults = slices.Concat(deleteFaults, deleteOptionFaults, graceFaults)

var deleteFaults = []faultyServer{
	{"deletes in vain", changeRequest(func(r *http.Request) {
		if r.Method == http.MethodDelete {
			r.Body, r.ContentLength = http.NoBody, 0
			q := r.URL.Query()
			q.Set("dryRun", "All")
			r.URL.RawQuery = q.Encode()
		}
	}), `^DL-((0[1345678]|05/put|10/met|11/met|14|17/body|17/group|26|28|29|31|31/continue|32|36|37)/typed|22/unbound|23/now|01/object)$`},
	{"deletes what is not there", withoutCode(404), `^DL-(01|02|05|07|14|37)/typed$`},
	{"marks nothing as deleted", changeBody(hasMethod(http.MethodDelete), replaceText(`"deletionTimestamp"`, `"deleted"`)), `^DL-(03|04|14|21)/typed$`},
	{"forgets to say which object is gone", changeBody(hasMethod(http.MethodDelete), replaceText(`"uid"`, `"uuid"`)), `^DL-(01|10/met|11/met|17/body|26|37)/typed$`},
	{"writes whenever it deletes", changeBody(hasMethod(http.MethodDelete), addToNumber(`"resourceVersion":"`, 1)), `^DL-0[34]/typed$`},
	{"calls the last state by a version of its own", changeBody(hasMethod(http.MethodPatch), addToNumber(`"resourceVersion":"`, 1)), `^DL-05/typed$`},
	{"calls the last state by a version of its own, after PUT", changeBody(hasMethod(http.MethodPut), addToNumber(`"resourceVersion":"`, 1)), `^DL-05/put/typed$`},
	{"wants finalizers off from the back", changeRequestBody(hasMethod(http.MethodPatch), replaceText(`["conformance.example.com/hold-too"]`, `["a/b/c"]`)), `^DL-07/typed$`},
	{"freezes what is being deleted", changeRequestBody(hasMethod(http.MethodPatch), replaceText(`"labels"`, `"lables"`)), `^DL-08/typed$`},
	{"forgets finalizers", changeRequestBody(hasMethod(http.MethodPut), replaceText(`"finalizers":["conformance.example.com/hold"]`, `"finalizers":[]`)), `^DL-36/typed$`},
}

var deleteOptionFaults = []faultyServer{
	{"has nothing against deletions", withoutCode(422), `^DL-(06|15|16|27|35|35/collection)/typed$`},
	{"has no conflicts of deletions", withoutCode(409), `^DL-(10|11|30|31/version|34)/typed$`},
	{"takes any body of a deletion", withoutCode(400), `^DL-1[89]/typed$`},
	{"takes a body in any encoding", withoutCode(415), `^DL-20/typed$`},
	{"never says that a deletion is only begun", withoutCode(202), `^DL-21/typed$`},
	{"reads no options", changeRequest(func(r *http.Request) {
		if r.Method == http.MethodDelete {
			r.Body, r.ContentLength, r.URL.RawQuery = http.NoBody, 0, ""
		}
	}), `^DL-(10|11|15|16|17|18|19|20|21|28/dry|29|30|31|31/continue|31/version|34|35|35/collection)/typed$`},
	{"reads the query before the body", changeRequest(func(r *http.Request) {
		if r.Method == http.MethodDelete && r.URL.RawQuery != "" {
			r.Body, r.ContentLength = http.NoBody, 0
		}
	}), `^DL-(17/body|31/version)/typed$`},
	{"knows one group of options", changeRequestBody(hasMethod(http.MethodDelete), replaceText(`"meta.k8s.io/v1","kind":"DeleteOptions"`, `"meta.k8s.io/v1","kind":"Options"`)), `^DL-17/group/typed$`},
	{"ignores preconditions", changeRequestBody(hasMethod(http.MethodDelete), replaceText(`"preconditions"`, `"presumptions"`)), `^DL-((10|11|30)/typed|1[01]/namespace)$`},
	{"keeps nothing for dependents", changeBody(hasMethod(http.MethodDelete), replaceText(`"foregroundDeletion"`, `"foreground"`)), `^DL-12/typed$`},
	{"frees no dependents", changeBody(hasMethod(http.MethodDelete), replaceText(`"orphan"`, `"orphaned"`)), `^DL-13(/old)?/typed$`},
	{"deletes as unreadable what it can read", ignoreParameter("ignoreStoreReadErrorWithClusterBreakingPotential"), `^DL-(34|35|35/collection)/typed$`},
	{"deletes when it is told to try", ignoreParameter("dryRun"), `^DL-(17|28/dry)/typed$`},
	{"deletes what was not selected", ignoreParameter("labelSelector"), `^DL-29/typed$`},
	{"deletes more than the limit", ignoreParameter("limit"), `^DL-31/typed$`},
	{"deletes from the beginning", ignoreParameter("continue"), `^DL-31/continue/typed$`},
	{"deletes at any version", ignoreParameter("resourceVersion"), `^DL-(11|31/version)/typed$`},
	{"lists what it has deleted as deleted", changeBody(hasMethod(http.MethodDelete), replaceText(`"creationTimestamp"`, `"deletionTimestamp"`)), `^DL-(28|28/dry|29|31|32)/typed$`},
}

var graceFaults = []faultyServer{
	{"counts grace differently", changeBody(hasMethod(http.MethodDelete), addToNumber(`"deletionGracePeriodSeconds":`, 1)),
		`^(DL-(22/given|22/default|22/ended|22/unbound|23/now|23/later|24|25|36/graceful)|DL-0[34]/typed)$`},
	{"shows the end of grace alone", changeEvents(func(_ []string, event string) []string {
		if strings.Contains(event, `"type":"MODIFIED"`) {
			return nil
		}
		return []string{event}
	}), `^DL-23/events$`},
	{"removes what has grace left", changeRequestBody(hasMethod(http.MethodPost), replaceText(`"nodeName"`, `"nodename"`)), `^DL-(22/given|22/default|23/later|24|25|36/graceful)$`},
}
