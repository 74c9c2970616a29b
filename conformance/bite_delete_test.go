package conformance_test

import (
	"net/http"
	"slices"
	"strings"
)

// deletionLies are about deletions.
var deletionLies = slices.Concat(deleteLies, deleteOptionLies, graceLies)

var deleteLies = []told{
	{"deletes in vain", asking(func(r *http.Request) {
		if r.Method == http.MethodDelete {
			r.Body, r.ContentLength = http.NoBody, 0
			q := r.URL.Query()
			q.Set("dryRun", "All")
			r.URL.RawQuery = q.Encode()
		}
	}), `^DL-((0[1345678]|05/put|10/met|11/met|14|17/body|17/group|26|28|29|31|31/continue|32|36|37)/typed|22/unbound|23/now|01/object)$`},
	{"deletes what is not there", insteadOf(404), `^DL-(01|02|05|07|14|37)/typed$`},
	{"marks nothing as deleted", body(is(http.MethodDelete), swap(`"deletionTimestamp"`, `"deleted"`)), `^DL-(03|04|14|21)/typed$`},
	{"forgets to say which object is gone", body(is(http.MethodDelete), swap(`"uid"`, `"uuid"`)), `^DL-(01|10/met|11/met|17/body|26|37)/typed$`},
	{"writes whenever it deletes", body(is(http.MethodDelete), swapNumber(`"resourceVersion":"`, 1)), `^DL-0[34]/typed$`},
	{"calls the last state by a version of its own", body(is(http.MethodPatch), swapNumber(`"resourceVersion":"`, 1)), `^DL-05/typed$`},
	{"calls the last state by a version of its own, after PUT", body(is(http.MethodPut), swapNumber(`"resourceVersion":"`, 1)), `^DL-05/put/typed$`},
	{"wants finalizers off from the back", sending(is(http.MethodPatch), swap(`["conformance.example.com/hold-too"]`, `["a/b/c"]`)), `^DL-07/typed$`},
	{"freezes what is being deleted", sending(is(http.MethodPatch), swap(`"labels"`, `"lables"`)), `^DL-08/typed$`},
	{"forgets finalizers", sending(is(http.MethodPut), swap(`"finalizers":["conformance.example.com/hold"]`, `"finalizers":[]`)), `^DL-36/typed$`},
}

var deleteOptionLies = []told{
	{"has nothing against deletions", insteadOf(422), `^DL-(06|15|16|27|35|35/collection)/typed$`},
	{"has no conflicts of deletions", insteadOf(409), `^DL-(10|11|30|31/version|34)/typed$`},
	{"takes any body of a deletion", insteadOf(400), `^DL-1[89]/typed$`},
	{"takes a body in any encoding", insteadOf(415), `^DL-20/typed$`},
	{"never says that a deletion is only begun", insteadOf(202), `^DL-21/typed$`},
	{"reads no options", asking(func(r *http.Request) {
		if r.Method == http.MethodDelete {
			r.Body, r.ContentLength, r.URL.RawQuery = http.NoBody, 0, ""
		}
	}), `^DL-(10|11|15|16|17|18|19|20|21|28/dry|29|30|31|31/continue|31/version|34|35|35/collection)/typed$`},
	{"reads the query before the body", asking(func(r *http.Request) {
		if r.Method == http.MethodDelete && r.URL.RawQuery != "" {
			r.Body, r.ContentLength = http.NoBody, 0
		}
	}), `^DL-(17/body|31/version)/typed$`},
	{"knows one group of options", sending(is(http.MethodDelete), swap(`"meta.k8s.io/v1","kind":"DeleteOptions"`, `"meta.k8s.io/v1","kind":"Options"`)), `^DL-17/group/typed$`},
	{"ignores preconditions", sending(is(http.MethodDelete), swap(`"preconditions"`, `"presumptions"`)), `^DL-((10|11|30)/typed|1[01]/namespace)$`},
	{"keeps nothing for dependents", body(is(http.MethodDelete), swap(`"foregroundDeletion"`, `"foreground"`)), `^DL-12/typed$`},
	{"frees no dependents", body(is(http.MethodDelete), swap(`"orphan"`, `"orphaned"`)), `^DL-13(/old)?/typed$`},
	{"deletes as unreadable what it can read", deaf("ignoreStoreReadErrorWithClusterBreakingPotential"), `^DL-(34|35|35/collection)/typed$`},
	{"deletes when it is told to try", deaf("dryRun"), `^DL-(17|28/dry)/typed$`},
	{"deletes what was not selected", deaf("labelSelector"), `^DL-29/typed$`},
	{"deletes more than the limit", deaf("limit"), `^DL-31/typed$`},
	{"deletes from the beginning", deaf("continue"), `^DL-31/continue/typed$`},
	{"deletes at any version", deaf("resourceVersion"), `^DL-(11|31/version)/typed$`},
	{"lists what it has deleted as deleted", body(is(http.MethodDelete), swap(`"creationTimestamp"`, `"deletionTimestamp"`)), `^DL-(28|28/dry|29|31|32)/typed$`},
}

var graceLies = []told{
	{"counts grace differently", body(is(http.MethodDelete), swapNumber(`"deletionGracePeriodSeconds":`, 1)),
		`^(DL-(22/given|22/default|22/ended|22/unbound|23/now|23/later|24|25|36/graceful)|DL-0[34]/typed)$`},
	{"shows the end of grace alone", frames(func(_ []string, event string) []string {
		if strings.Contains(event, `"type":"MODIFIED"`) {
			return nil
		}
		return []string{event}
	}), `^DL-23/events$`},
	{"removes what has grace left", sending(is(http.MethodPost), swap(`"nodeName"`, `"nodename"`)), `^DL-(22/given|22/default|23/later|24|25|36/graceful)$`},
}
