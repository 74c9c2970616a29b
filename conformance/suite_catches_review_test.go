package conformance_test

import (
	"net/http"
	"strings"
)

// reviewFaults break rules about virtual resources.
var reviewFaults = []faultyServer{
	{"answers 501 to reads of reviews", withoutCode(405), `^VR-02/`},
	{"lists the verb list for reviews", changeBody(hasPathSuffix("k8s.io/v1"), replaceText(`"verbs":["create"]`, `"verbs":["create","list"]`)), `^VR-02/`},
	{"answers 200 to created reviews", changeResponse(isReview, func(r *http.Response) {
		if r.StatusCode == http.StatusCreated {
			r.StatusCode = http.StatusOK
		}
	}), `^VR-01/`},
	{"denies every access in reviews", changeBody(isReview, replaceText(`"allowed":true`, `"allowed":false`)), `^VR-(01/(access|local|own)|05/access)$`},
	{"returns no resource rules", changeBody(isReview, replaceText(`"resourceRules"`, `"rules"`)), `^VR-01/rules$`},
	{"authenticates every token in TokenReviews", changeBody(isReview, replaceText(`"status":{`, `"status":{"authenticated":true,`)), `^VR-0[15]/token$`},
	{"returns no user in SelfSubjectReviews", changeBody(isReview, replaceText(`"userInfo"`, `"user"`)), `^VR-01/self$`},
	{"accepts reviews of another namespace", changeResponse(isReview, func(r *http.Response) {
		if r.StatusCode == http.StatusBadRequest {
			r.StatusCode = http.StatusCreated
		}
	}), `^VR-(03|04/token)$`},
	{"answers 501 to invalid reviews", withoutCode(422), `^VR-04/(access|either|local)$`},
	{"returns the status of the client in reviews", changeBody(isReview, replaceText(`"allowed":true`, `"allowed":true,"reason":"forged"`)), `^VR-05/access$`},
}

func isReview(r *http.Request) bool {
	return r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "reviews")
}
