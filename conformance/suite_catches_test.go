package conformance_test

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/fakeapi/conformance"
)

// faultyServer is a server that breaks a rule, and a regular expression of the cases that must fail
// against it. TestFakeWithInMemoryNetwork checks that each case is in one.
type faultyServer struct {
	name    string
	fault   fault
	failing string // regular expression of IDs
}

// faultyServers are all faulty servers.
var faultyServers = slices.Concat(generalFaults, pageFaults, streamFaults, watchFaults, selectorFaults, metaFaults, writeFaults, deletionFaults, namespaceFaults, subresourceFaults, patchFaults, applyFaults, fieldFaults, openAPIFaults, tableFaults, reviewFaults, accessFaults, encodingFaults, documentFaults, customFaults, reasonFaults, ruleFaults, builtinFaults, webhookFaults, policyFaults, rbacFaults)

// generalFaults break rules of several groups.
var generalFaults = []faultyServer{
	// Codes and Status objects.
	{"answers 501 instead of 404", withoutCode(404), `^(PV-01/group|PV-08/verbs|PV-16|PV-17/typed|PV-18/typed|PV-19|PV-26/typed|GT-01/(group|typed))$`},
	{"answers 501 instead of 405", withoutCode(405), `^(PV-06/typed|PV-07/typed|PV-13/typed|PV-14|PV-27/typed|GT-09/typed)$`},
	{"answers 501 instead of 409", withoutCode(409), `^(NM-02|NM-03|NM-09)/typed$`},
	{"answers 501 instead of 400", withoutCode(400), `^(PV-(23|24/limit|24/timeoutSeconds|25)/typed|PV-31/watch|NM-(15|16|17|20)/typed|RS-(01/list|02|18)/typed|WA-18/before/typed|CH-1[3-6]/typed|SE-(03|04/syntax|11|13)/typed|SE-06)$`},
	{"answers 501 instead of 410 for lists", withoutCode(410), `^(RS-07/(exact|limit)/typed|CH-(18|19)/typed|EX-01/typed)$`},
	{"answers 501 instead of 422 for names and list options", withoutCode(422), `^(NM-(04|11|12|13)/typed|NM-13/segment|NM-14/.*|RS-(19|20|22|25/unset|25/version|26|27)/typed|WA-23/typed|CH-22/continue/typed|SI-(05|06|11/continue|15)/typed)$`},
	{"answers 501 instead of 503", withoutCode(503), `^PV-28$`},
	{"answers 501 instead of 504 for reads", withoutCode(504), `^(GT-05/typed|RS-05/(list/typed|limit|exact|notolderthan)|CH-17/typed)$`},
	{"answers 501 instead of 500", withoutCode(500), `^(GT-06|WA-22)/typed$`},
	{"answers 501 instead of 406", withoutCode(406), `^WA-30/typed$`},
	{"answers 501 instead of 201", withoutCode(201), `^(NM-01|NM-(07|18)/typed|WA-01/headers/typed)$`},
	{"leaves the reason out of Status objects", changeBody(isNotWatch, replaceText(`"reason":`, `"because":`)), `^(PV-(06|07|13|17|18|26|27)/typed|PV-14|PV-23/typed|NM-(02|04|11|15)/typed|GT-(01|05)/typed|RS-(18|19|20|26)/typed)$`},
	{"changes the message of Status objects", changeBody(isNotWatch, replaceText(`"message":"`, `"message":"oops `)), `^(PV-(06|07|13)/typed|NM-(02|03|09|15|16|17|20)/typed|GT-01/typed|RS-(07/exact|18|30)/typed)$`},
	{"leaves the details out of Status objects", changeBody(isNotWatch, replaceText(`"details":`, `"about":`)), `^(NM-(02|04|09|11)/typed|NM-14/.*|GT-(01|05)/typed|RS-(05/list|19|20|22|25/version|26|27)/typed)$`},
	{"changes the code of Status objects", changeBody(isNotWatch, replaceText(`"code":`, `"code":1`)), `^(PV-(06|07)/typed|NM-02/typed|GT-01/typed)$`},
	{"sets no Retry-After", changeResponse(anyRequest, func(r *http.Response) { r.Header.Del("Retry-After") }), `^(NM-09/typed|GT-05/typed|RS-05/(list/typed|limit|exact|notolderthan)|CH-17/typed|EX-06/typed)$`},
	{"changes the kind of Status objects", changeBody(isNotWatch, replaceText(`"kind":"Status"`, `"kind":"Problem"`)), `^(PV-14|NM-02/typed|GT-01/typed|RS-19/typed)$`},

	// Paths.
	{"rejects GET", changeRequest(func(r *http.Request) {
		if r.Method == http.MethodGet {
			r.Method = http.MethodOptions
		}
	}), `^(PV-0(1/core|1/group|2|3/typed|4|8/verbs|9/false/typed)|PV-(10|21|22)/typed|PV-30/status|PV-31/get/typed|GT-0(2|3|4|7|8)/typed|LS-.*(typed|07|absent)|RS-[12].*/typed)$`},
	{"rejects PUT", withoutMethod(http.MethodPut), `^(PV-08/verbs|WA-15/typed|NM-1[567]/typed)$`},
	{"rejects apply", changeRequest(func(r *http.Request) {
		if r.Header.Get("Content-Type") == "application/apply-patch+yaml" {
			r.Header.Set("Content-Type", "application/x-nothing")
		}
	}), `^NM-21/(existing|absent)/typed$`},
	{"rejects HEAD", changeRequest(func(r *http.Request) {
		if r.Method == http.MethodHead {
			r.Method = http.MethodGet
		}
	}), `^GT-09/typed$`},
	{"uses other names for resources", changePath(func(p string) string {
		return p[:strings.LastIndex(p, "/")+1] + strings.ToUpper(p[strings.LastIndex(p, "/")+1:])
	}),
		`^(PV-0(1/core|2|3/typed|4))$`},
	{"rejects a trailing slash", changePath(func(p string) string {
		return strings.TrimSuffix(p, "/") + strings.Repeat("x", strings.Count(p, "s/")/2)
	}), `^PV-21/typed$`},
	{"serves no paths under /watch/", changePath(replaceText("/watch/", "/wach/")), `^(PV-11/(item|collection/typed)|PV-31/watch)$`},
	{"ignores the label selector of deletecollection", ignoreParameter("labelSelector"), `^PV-08/deletecollection$`},
	{"returns one apiVersion for all versions", changeBody(hasPathSuffix("/horizontalpodautoscalers/a"), replaceText(`"autoscaling/v1"`, `"autoscaling/v2"`)), `^PV-29/autoscaler$`},
	{"returns another uid in each version", changeBody(func(r *http.Request) bool { return strings.Contains(r.URL.Path, "events.k8s.io") }, replaceText(`"uid":"`, `"uid":"0`)), `^PV-29/events$`},
	{"serves no status subresource", changePath(replaceText("/status", "/statuses")), `^PV-30/status$`},
	{"serves no finalize subresource", changePath(replaceText("/finalize", "/finalizes")), `^PV-30/finalize$`},
	{"rejects unknown query parameters", changeRequest(func(r *http.Request) {
		if r.URL.Query().Has("nosuchparameter") {
			r.URL.RawQuery = "limit=abc"
		}
	}), `^PV-22/typed$`},
	{"watches objects by their item path", changeRequest(func(r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/a") && r.URL.Query().Has("watch") {
			r.URL.Path = strings.TrimSuffix(r.URL.Path, "/a")
			r.URL.RawQuery += "&timeoutSeconds=1"
		}
	}), `^PV-10/typed$`},
	{"applies field selectors to GET of an object", changeRequest(func(r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/a") && r.URL.Query().Has("fieldSelector") {
			r.URL.Path = strings.TrimSuffix(r.URL.Path, "a") + "b"
		}
	}), `^PV-31/get/typed$`},

	// Ignored parameters.
	{"ignores watch", ignoreParameter("watch"), `^(PV-(05|12)|PV-09/(true|unparsable)/typed|WA-(01/headers|03|05|19|21)/typed|WA-28)$`},
	{"watches for watch=false", setParameter("watch", "true"), `^PV-09/false/typed$`},
	{"ignores export", ignoreParameter("export"), `^PV-23/typed$`},
	{"looks up the object before it rejects export", changeRequest(func(r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/absent") {
			r.URL.RawQuery = ""
		}
	}), `^PV-23/typed$`},
	{"rejects export on lists", changeRequest(func(r *http.Request) {
		if isList(r) && r.URL.Query().Has("export") {
			r.URL.RawQuery = "limit=abc"
		}
	}), `^PV-23/typed$`},
	{"ignores timeout", ignoreParameter("timeout"), `^PV-25/typed$`},
	{"ignores the timeout of writes", changeRequest(func(r *http.Request) {
		if r.Method != http.MethodGet {
			r.URL.RawQuery = ""
		}
	}), `^PV-25/typed$`},
	{"rejects an invalid timeout of a watch", changeRequest(func(r *http.Request) {
		if isWatch(r) && r.URL.Query().Has("timeout") {
			r.URL.RawQuery = "timeout=abc"
		}
	}), `^PV-25/typed$`},
	{"ignores limit", ignoreParameter("limit"), `^(PV-24/limit/typed|RS-(13|15|16|17|21/limit|24/limit)/typed|CH-(01|07|10)/typed)$`},
	{"ignores timeoutSeconds", ignoreParameter("timeoutSeconds"), `^(PV-24/timeoutSeconds/typed|WA-(16|21)/typed)$`},
	{"ignores resourceVersionMatch", ignoreParameter("resourceVersionMatch"), `^(RS-(19|20|21/all|21/before|22|25/unset|25/version|26)/typed|WA-23/typed)$`},
	{"ignores resourceVersion", ignoreParameter("resourceVersion"), `^(GT-0[56]/typed|RS-(01/list|02|05/list|07/exact|07/limit|15|18|21/all|21/before|21/limit|30)/typed|WA-(03|07|19|21|22)/typed|LS-04/typed)$`},
	{"ignores sendInitialEvents", ignoreParameter("sendInitialEvents"), `^(RS-27/typed|SI-0[1-9]/typed)$`},
	{"ignores continue", ignoreParameter("continue"), `^(RS-(13|16|17|18|25/version)/typed|CH-(08|22/continue)/typed|SI-11/continue/typed)$`},
	{"ignores label selectors", ignoreParameter("labelSelector"), `^(WA-(12|13|14|14/initial)/typed|WA-18/before/typed|CH-10/typed|SE-(01|01/empty|02|10/list|10/watch|10/deletecollection)/typed|SI-13/typed)$`},
	{"ignores field selectors", ignoreParameter("fieldSelector"), `^(PV-(12|31/watch)|SE-(04|05|10/list|10/watch|10/deletecollection)/typed|SE-05/cluster)$`},
	{"ignores dryRun of writes", ignoreParameter("dryRun"), `^WA-15/typed$`},
	{"rejects timeoutSeconds on lists", changeRequest(func(r *http.Request) {
		if isList(r) && r.URL.Query().Has("timeoutSeconds") {
			r.URL.RawQuery = "limit=abc"
		}
	}), `^LS-08/typed$`},
	{"answers 404 to resourceVersionMatch on GET", changeRequest(func(r *http.Request) {
		if r.URL.Query().Has("resourceVersionMatch") {
			r.URL.Path += "/nothing"
		}
	}), `^GT-07/typed$`},
	{"reads NotOlderThan as Exact", changeRequest(func(r *http.Request) {
		if r.URL.Query().Get("resourceVersion") == "1" {
			r.URL.RawQuery = "resourceVersionMatch=Exact&resourceVersion=1"
		}
	}), `^RS-28/typed$`},
	{"rejects resourceVersion 0", replaceVersionZero("resourceVersion=abc"), `^(GT-03|RS-(11|14|17|23)|WA-06)/typed$`},

	// Lists.
	{"leaves the last item out of lists", changeBody(isList, dropLastItem), `^(LS-0[58]/typed|RS-(10|12|16|17|24/all|29|11)/typed|PV-04|CH-(02|04|08|09)/typed|EX-04/typed|SE-09/typed|SI-14/typed)$`},
	{"returns a wrong resourceVersion of lists", changeBody(isList, replaceText(`"metadata":{"resourceVersion":"`, `"metadata":{"resourceVersion":"1`)), `^(RS-(15|21/all|21/before|21/limit)/typed)$`},
	{"returns resourceVersions in hexadecimal", changeBody(anyRequest, replaceText(`"resourceVersion":"`, `"resourceVersion":"0x`)), `^(RS-(01/form|03|23)/typed|GT-04/typed|LS-01/typed)$`},
	{"rejects leading zeros of a resourceVersion", changeRequest(func(r *http.Request) {
		r.URL.RawQuery = strings.Replace(r.URL.RawQuery, "resourceVersion=00", "resourceVersion=0x", 1)
	}), `^RS-01/zeros/typed$`},
	{"returns resourceVersions with a leading zero", changeBody(anyRequest, replaceText(`"metadata":{"resourceVersion":"`, `"metadata":{"resourceVersion":"0`)), `^(RS-01/form|RS-15)/typed$`},
	{"sets kind and apiVersion on typed items", changeBody(isList, replaceText(`{"metadata":{"name":`, `{"kind":"Secret","apiVersion":"v1","metadata":{"name":`)), `^LS-02/typed$`},
	{"returns null for no items", changeBody(isList, replaceText(`"items":[]`, `"items":null`)), `^LS-01/empty/typed$`},
	{"returns lists of the kind List", changeBody(isList, func(s string) string {
		return regexp.MustCompile(`"kind":"\w+List"`).ReplaceAllString(s, `"kind":"List"`)
	}), `^(PV-01/(core|group)|PV-02|PV-03/typed|LS-0(1/typed|3/absent|7))$`},
	{"orders lists in reverse", changeBody(isList, reverseItems), `^(LS-05|RS-10)/typed$`},
	{"serves lists at the previous resourceVersion", addToParameter("resourceVersion", -1), `^(LS-04|RS-(15|21/all|21/limit)|WA-07)/typed$`},
	{"returns a continue token on the last page", changeBody(isList, replaceText(`"metadata":{"resourceVersion"`, `"metadata":{"continue":"abc","resourceVersion"`)), `^RS-(13|24/limit)/typed$`},

	// Objects.
	{"returns an old resourceVersion on reads", changeBody(hasMethod(http.MethodGet), addToNumber(`"resourceVersion":"`, -1000)), `^(GT-0[24]|RS-(12|24/all|28|29))/typed$`},
	{"changes the resourceVersion on reads", increaseVersionOnRead(), `^GT-08/typed$`},
	{"drops generateName", changeBody(hasMethod(http.MethodPost), replaceText(`"generateName":`, `"generated":`)), `^NM-0[567]/typed$`},
	{"generates four characters instead of five", changeBody(hasMethod(http.MethodPost), shortenNames), `^NM-(05|06)/typed$`},
	{"generates names with vowels", changeBody(hasMethod(http.MethodPost), insertVowels), `^NM-10/typed$`},
	{"rejects every create of a Secret", changeRequest(func(r *http.Request) {
		if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/secrets") {
			r.URL.Path = strings.TrimSuffix(r.URL.Path, "s") + "x"
		}
	}), `^NM-0[1239](/typed)?$`},
	{"keeps the namespace of cluster-scoped objects", keepNamespaceOfClusterScoped, `^NM-19$`},
	{"drops the namespace of created objects", changeBody(hasMethod(http.MethodPost), replaceText(`"namespace":`, `"room":`)), `^NM-18/typed$`},
	{"serves no index at /", changePath(moveRoot), `^PV-20$`},
	{"leaves groups out of the index", changeBody(hasPathSuffix("/"), replaceText(`"/apis/apps"`, `"/apps"`)), `^PV-20$`},

	// Watches.
	{"drops the second event", changeEvents(func(before []string, event string) []string {
		if len(before) == 1 {
			return nil
		}
		return []string{event}
	}), `^(PV-(05|12)|LS-04/typed|WA-(02|03|05|06|07|08|10|12|24|25|28|40|36)(/typed)?|CH-22/limit/typed|EX-05/typed|SI-(01|03|10|11)/typed)$`},
	{"sends every event twice", changeEvents(func(_ []string, event string) []string { return []string{event, event} }), `^(WA-(03|07|08|14/initial|28|40)(/typed)?|LS-04/typed|PV-11/(item|collection/typed))$`},
	{"sends CHANGED instead of MODIFIED", replaceInEvents(`"type":"MODIFIED"`, `"type":"CHANGED"`), `^WA-(02|03|11|25|28|40)(/typed)?$`},
	{"sends no DELETED events", changeEvents(func(_ []string, event string) []string {
		if strings.Contains(event, `"type":"DELETED"`) {
			return nil
		}
		return []string{event}
	}), `^WA-((02|09|10|11|12|13|25|36)/typed|11/grace)$`},
	{"drops the label app from events", replaceInEvents(`"app":`, `"ppa":`), `^WA-13/typed$`},
	{"drops the labels from events", replaceInEvents(`"labels":`, `"lables":`), `^WA-(01/objects|13|36)/typed$`},
	{"sends DELETED with a wrong last state", replaceInEvents(`"conformance.example.com/step":"0"`, `"conformance.example.com/step":"1"`), `^WA-09/typed$`},
	{"drops the finalizers from events", replaceInEvents(`"finalizers":`, `"finals":`), `^WA-10/typed$`},
	{"drops the deletionTimestamp from events", replaceInEvents(`"deletionTimestamp":`, `"deleted":`), `^WA-1(0/typed|1/grace|1/typed)$`},
	{"sends decreasing resourceVersions", changeEvents(decreaseVersions), `^WA-(03|04|07|40)/typed$`},
	{"sends the reason Gone instead of Expired", replaceInEvents(`"reason":"Expired"`, `"reason":"Gone"`), `^WA-19/typed$`},
	{"sends no Status in ERROR events", replaceInEvents(`"kind":"Status"`, `"kind":"Secret"`), `^WA-18/after/typed$`},
	{"sends an event before ERROR", replaceInEvents(`{"type":"ERROR"`, `{"type":"ADDED","object":{}}`+"\n"+`{"type":"ERROR"`), `^WA-(18/after|19|20)/typed$`},
	{"sends an event after ERROR", changeEvents(func(_ []string, event string) []string {
		if strings.Contains(event, `"type":"ERROR"`) {
			return []string{event, `{"type":"ADDED","object":{}}` + "\n"}
		}
		return []string{event}
	}), `^WA-(18/after|19|20)/typed$`},
	{"sets the Content-Type of YAML on watches", changeResponse(isWatch, func(r *http.Response) { r.Header.Set("Content-Type", "application/yaml") }), `^WA-31/(json/typed|protobuf)$`},
	{"answers JSON to watches in protobuf", changeRequest(func(r *http.Request) { r.Header.Set("Accept", "application/json") }), `^(WA-(30/typed|32|31/protobuf|36/typed)|SI-16/protobuf)$`},
	{"aborts streams", abortStreams, `^WA-16/typed$`},
}

func TestFaultyServersFail(t *testing.T) {
	t.Parallel()
	for _, one := range faultyServers {
		t.Run(one.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := configInMemory(t)
				if userCases.MatchString(strings.Trim(one.failing, "^$")) {
					c = configWithUsers(t)
					c.UnprivilegedClient = &http.Client{Transport: one.fault(c.UnprivilegedClient.Transport)}
				}
				c.Client = &http.Client{Transport: one.fault(c.Client.Transport)}
				c.Patience = 5 * time.Minute
				c.Parallel = 1 // some faults depend on the requests before
				c.Run = regexp.MustCompile(one.failing)
				requireAllFail(t, c)
			})
		})
	}
}

// TestMoreBookmarksPass checks that a server may send a further bookmark at any time.
func TestMoreBookmarksPass(t *testing.T) {
	t.Parallel()
	again := changeEvents(func(_ []string, event string) []string {
		bookmark := strings.Replace(event, `"annotations":{"k8s.io/initial-events-end":"true"}`, `"annotations":{}`, 1)
		if !isBookmark(event) || bookmark == event {
			return []string{event}
		}
		return []string{event, bookmark}
	})
	synctest.Test(t, func(t *testing.T) {
		c := configInMemory(t)
		c.Client = &http.Client{Transport: again(c.Client.Transport)}
		c.Run = regexp.MustCompile(`^SI-(01|02|03|04|08|10|13|14)/typed$`)
		report, err := conformance.Execute(t.Context(), c)
		require.NoError(t, err)
		require.NoError(t, report.Err())
	})
}

// otherServers are the cases for servers with other features, see TestCBOR and
// TestWithoutStreamingLists.
var otherServers = regexp.MustCompile(`^(CB-02(/watch)?|CB-03|SI-12/(typed|custom))$`)

// requireFaultForEachCase requires that each case passed against a correct server, and fails
// against some faulty server. Of the cases that run for both a typed and a custom resource, one is
// enough.
func requireFaultForEachCase(t *testing.T, results []conformance.Result) {
	t.Helper()
	ids, passed := map[string]bool{}, map[string]bool{}
	for _, result := range results {
		ids[result.Case.ID] = true
		passed[result.Case.ID] = passed[result.Case.ID] || result.Outcome == conformance.Passed
	}
	for id := range ids {
		assert.True(t, passed[id] || otherServers.MatchString(id), "%s passed against no server", id)
	}
	var failing []*regexp.Regexp // the cases that a faulty server or caller makes fail
	for _, one := range faultyServers {
		failing = append(failing, regexp.MustCompile(one.failing))
	}
	for _, one := range faultyCallers {
		failing = append(failing, regexp.MustCompile(one.failing))
	}
	for _, result := range results {
		id := result.Case.ID
		rule, custom := strings.CutSuffix(id, "/custom")
		if result.Outcome != conformance.Passed || custom && ids[rule+"/typed"] {
			continue
		}
		caught := refusals.MatchString(id) || slices.ContainsFunc(failing, func(r *regexp.Regexp) bool { return r.MatchString(id) })
		assert.True(t, caught, "no faulty server makes %s fail: %s", id, result.Case.Title)
	}
}
