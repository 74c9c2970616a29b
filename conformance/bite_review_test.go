package conformance_test

import (
	"net/http"
	"strings"
)

// reviewLies are about virtual resources.
var reviewLies = []told{
	{"keeps reviews", insteadOf(405), `^VR-02/`},
	{"can list reviews", body(ending("k8s.io/v1"), swap(`"verbs":["create"]`, `"verbs":["create","list"]`)), `^VR-02/`},
	{"finds reviews at the store", saying(isReview, func(r *http.Response) {
		if r.StatusCode == http.StatusCreated {
			r.StatusCode = http.StatusOK
		}
	}), `^VR-01/`},
	{"allows nothing", body(isReview, swap(`"allowed":true`, `"allowed":false`)), `^VR-(01/(access|local|own)|05/access)$`},
	{"has no rules", body(isReview, swap(`"resourceRules"`, `"rules"`)), `^VR-01/rules$`},
	{"knows every token", body(isReview, swap(`"status":{`, `"status":{"authenticated":true,`)), `^VR-0[15]/token$`},
	{"does not know who asks", body(isReview, swap(`"userInfo"`, `"user"`)), `^VR-01/self$`},
	{"does not mind the namespace", saying(isReview, func(r *http.Response) {
		if r.StatusCode == http.StatusBadRequest {
			r.StatusCode = http.StatusCreated
		}
	}), `^VR-(03|04/token)$`},
	{"reviews whatever it gets", insteadOf(422), `^VR-04/(access|either|local)$`},
	{"believes what it is told", body(isReview, swap(`"allowed":true`, `"allowed":true,"reason":"forged"`)), `^VR-05/access$`},
}

func isReview(r *http.Request) bool {
	return r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "reviews")
}
