package soak

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"example.com/fakeapi/internal/dev/verify/harness"
)

// checkHistoryLimit checks that the server keeps exactly as much history as it is configured to.
func (s *environment) checkHistoryLimit(last uint64) (complaints []string) {
	if last < historyLimit+2 {
		return nil
	}
	path, code := s.kinds[0].CollectionPath(""), func(rev uint64) int {
		query := url.Values{"resourceVersion": {strconv.FormatUint(rev, 10)}, "resourceVersionMatch": {"Exact"}, "limit": {"1"}}
		code, _, err := s.faultFree[0].Get(s.t, harness.JSON, s.kinds[0].CollectionPath(""), query)
		if err != nil {
			s.t.Error(err)
		}
		return code
	}
	if got := code(last - historyLimit - 1); got != http.StatusGone {
		complaints = append(complaints, fmt.Sprintf("unforgotten: %s from %d changes ago is answered with %d", path, historyLimit+1, got))
	}
	if got := code(last); got != http.StatusOK {
		complaints = append(complaints, fmt.Sprintf("forgotten: %s as it is now is answered with %d", path, got))
	}
	return complaints
}
