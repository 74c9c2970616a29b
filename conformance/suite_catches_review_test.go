package conformance_test

import (
	"net/http"
	"strings"
)

// reviewFaults are about virtual resources.
var reviewFaults = []faultyServer{
	{"keeps reviews", withoutCode(405), `^VR-02/`},
	{"can list reviews", changeBody(hasPathSuffix("k8s.io/v1"), replaceText(`"verbs":["create"]`, `"verbs":["create","list"]`)), `^VR-02/`},
	{"finds reviews at the store", changeResponse(isReview, func(r *http.Response) {
		if r.StatusCode == http.StatusCreated {
			r.StatusCode = http.StatusOK
		}
	}), `^VR-01/`},
	{"allows nothing", changeBody(isReview, replaceText(`"allowed":true`, `"allowed":false`)), `^VR-(01/(access|local|own)|05/access)$`},
	{"has no rules", changeBody(isReview, replaceText(`"resourceRules"`, `"rules"`)), `^VR-01/rules$`},
	{"knows every token", changeBody(isReview, replaceText(`"status":{`, `"status":{"authenticated":true,`)), `^VR-0[15]/token$`},
	{"does not know who asks", changeBody(isReview, replaceText(`"userInfo"`, `"user"`)), `^VR-01/self$`},
	{"does not mind the namespace", changeResponse(isReview, func(r *http.Response) {
		if r.StatusCode == http.StatusBadRequest {
			r.StatusCode = http.StatusCreated
		}
	}), `^VR-(03|04/token)$`},
	{"reviews whatever it gets", withoutCode(422), `^VR-04/(access|either|local)$`},
	{"believes what it is told", changeBody(isReview, replaceText(`"allowed":true`, `"allowed":true,"reason":"forged"`)), `^VR-05/access$`},
}

func isReview(r *http.Request) bool {
	return r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "reviews")
}
