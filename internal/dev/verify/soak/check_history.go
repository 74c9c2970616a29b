package soak

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"example.com/fakeapi/internal/dev/verify/harness"
)

// checkHistoryLimit checks that the server keeps no more history than it is configured to, and the
// newest state.
func (e *environment) checkHistoryLimit(last uint64) (violations []string) {
	if last < historyLimit+2 {
		return nil
	}
	path := e.kinds[0].CollectionPath("")
	code := func(rev uint64) int {
		query := url.Values{"resourceVersion": {strconv.FormatUint(rev, 10)}, "resourceVersionMatch": {"Exact"}, "limit": {"1"}}
		code, _, err := e.faultFree[0].Get(e.t, harness.JSON, path, query)
		if err != nil {
			e.t.Error(err)
		}
		return code
	}
	if got := code(last - historyLimit - 1); got != http.StatusGone {
		violations = append(violations, fmt.Sprintf("history too long: the code for %s from %d changes ago is %d", path, historyLimit+1, got))
	}
	if got := code(last); got != http.StatusOK {
		violations = append(violations, fmt.Sprintf("history too short: the code for %s at the newest revision is %d", path, got))
	}
	return violations
}
