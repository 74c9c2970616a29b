package conformance_test

import (
	"net/http"
	"slices"
	"strings"
)

// deletionFaults break rules about deletions.
var deletionFaults = slices.Concat(deleteFaults, deleteOptionFaults, graceFaults)

var deleteFaults = []faultyServer{
	{"deletes in a dry run only", changeRequest(func(r *http.Request) {
		if r.Method == http.MethodDelete {
			r.Body, r.ContentLength = http.NoBody, 0
			q := r.URL.Query()
			q.Set("dryRun", "All")
			r.URL.RawQuery = q.Encode()
		}
	}), `^DL-((0[1345678]|05/put|10/met|11/met|14|17/body|17/group|26|28|29|31|31/continue|32|36|37)/typed|22/unbound|23/now|01/object)$`},
	{"answers 501 instead of 404 after a deletion", withoutCode(404), `^DL-(01|02|05|07|14|37)/typed$`},
	{"leaves the deletionTimestamp out of responses to DELETE", changeBody(hasMethod(http.MethodDelete), replaceText(`"deletionTimestamp"`, `"deleted"`)), `^DL-(03|04|14|21)/typed$`},
	{"leaves the uid out of responses to DELETE", changeBody(hasMethod(http.MethodDelete), replaceText(`"uid"`, `"uuid"`)), `^DL-(01|10/met|11/met|17/body|26|37)/typed$`},
	{"increments the resourceVersion at every DELETE", changeBody(hasMethod(http.MethodDelete), addToNumber(`"resourceVersion":"`, 1)), `^DL-0[34]/typed$`},
	{"increments the resourceVersion when PATCH removes the object", changeBody(hasMethod(http.MethodPatch), addToNumber(`"resourceVersion":"`, 1)), `^DL-05/typed$`},
	{"increments the resourceVersion when PUT removes the object", changeBody(hasMethod(http.MethodPut), addToNumber(`"resourceVersion":"`, 1)), `^DL-05/put/typed$`},
	{"rejects the removal of the first finalizer", changeRequestBody(hasMethod(http.MethodPatch), replaceText(`["conformance.example.com/hold-too"]`, `["a/b/c"]`)), `^DL-07/typed$`},
	{"ignores labels in patches of a terminating object", changeRequestBody(hasMethod(http.MethodPatch), replaceText(`"labels"`, `"lables"`)), `^DL-08/typed$`},
	{"removes all finalizers at a PUT", changeRequestBody(hasMethod(http.MethodPut), replaceText(`"finalizers":["conformance.example.com/hold"]`, `"finalizers":[]`)), `^DL-36/typed$`},
}

var deleteOptionFaults = []faultyServer{
	{"answers 501 to invalid delete options", withoutCode(422), `^DL-(06|15|16|27|35|35/collection)/typed$`},
	{"answers 501 to failed delete preconditions", withoutCode(409), `^DL-(10|11|30|31/version|34)/typed$`},
	{"answers 501 to invalid bodies of DELETE", withoutCode(400), `^DL-1[89]/typed$`},
	{"answers 501 to unsupported encodings of DELETE", withoutCode(415), `^DL-20/typed$`},
	{"answers 501 instead of 202 to DELETE", withoutCode(202), `^DL-21/typed$`},
	{"ignores all delete options", changeRequest(func(r *http.Request) {
		if r.Method == http.MethodDelete {
			r.Body, r.ContentLength, r.URL.RawQuery = http.NoBody, 0, ""
		}
	}), `^DL-(10|11|15|16|17|18|19|20|21|28/dry|29|30|31|31/continue|31/version|34|35|35/collection)/typed$`},
	{"ignores the body of DELETE when there is a query", changeRequest(func(r *http.Request) {
		if r.Method == http.MethodDelete && r.URL.RawQuery != "" {
			r.Body, r.ContentLength = http.NoBody, 0
		}
	}), `^DL-(17/body|31/version)/typed$`},
	{"accepts DeleteOptions of one group only", changeRequestBody(hasMethod(http.MethodDelete), replaceText(`"meta.k8s.io/v1","kind":"DeleteOptions"`, `"meta.k8s.io/v1","kind":"Options"`)), `^DL-17/group/typed$`},
	{"ignores delete preconditions", changeRequestBody(hasMethod(http.MethodDelete), replaceText(`"preconditions"`, `"presumptions"`)), `^DL-((10|11|30)/typed|1[01]/namespace)$`},
	{"does not add the finalizer foregroundDeletion", changeBody(hasMethod(http.MethodDelete), replaceText(`"foregroundDeletion"`, `"foreground"`)), `^DL-12/typed$`},
	{"does not add the finalizer orphan", changeBody(hasMethod(http.MethodDelete), replaceText(`"orphan"`, `"orphaned"`)), `^DL-13(/old)?/typed$`},
	{"ignores ignoreStoreReadErrorWithClusterBreakingPotential", ignoreParameter("ignoreStoreReadErrorWithClusterBreakingPotential"), `^DL-(34|35|35/collection)/typed$`},
	{"ignores dryRun of DELETE", ignoreParameter("dryRun"), `^DL-(17|28/dry)/typed$`},
	{"ignores the label selector of DELETE", ignoreParameter("labelSelector"), `^DL-29/typed$`},
	{"ignores the limit of DELETE", ignoreParameter("limit"), `^DL-31/typed$`},
	{"ignores the continue token of DELETE", ignoreParameter("continue"), `^DL-31/continue/typed$`},
	{"ignores the resourceVersion of DELETE", ignoreParameter("resourceVersion"), `^DL-(11|31/version)/typed$`},
	{"sets a deletionTimestamp in the items of a deleted collection", changeBody(hasMethod(http.MethodDelete), replaceText(`"creationTimestamp"`, `"deletionTimestamp"`)), `^DL-(28|28/dry|29|31|32)/typed$`},
}

var graceFaults = []faultyServer{
	{"returns a wrong deletionGracePeriodSeconds", changeBody(hasMethod(http.MethodDelete), addToNumber(`"deletionGracePeriodSeconds":`, 1)),
		`^(DL-(22/given|22/default|22/ended|22/unbound|23/now|23/later|24|25|36/graceful)|DL-0[34]/typed)$`},
	{"sends no MODIFIED event before DELETED", changeEvents(func(_ []string, event string) []string {
		if strings.Contains(event, `"type":"MODIFIED"`) {
			return nil
		}
		return []string{event}
	}), `^DL-23/events$`},
	{"ignores the node name of pods", changeRequestBody(hasMethod(http.MethodPost), replaceText(`"nodeName"`, `"nodename"`)), `^DL-(22/given|22/default|23/later|24|25|36/graceful)$`},
}
