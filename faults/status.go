package faults

import (
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Expired returns 410 Expired: the requested resourceVersion is no longer available (EX-01).
func Expired() metav1.Status { return newStatus(http.StatusGone, metav1.StatusReasonExpired, 0) }

// Gone returns 410 with the reason Gone, which older servers used instead of Expired.
func Gone() metav1.Status { return newStatus(http.StatusGone, metav1.StatusReasonGone, 0) }

// Timeout504 returns 504 Timeout with the cause ResourceVersionTooLarge: the server has not reached
// the requested resourceVersion (RS-05). retryAfter is rounded up to seconds; 0 omits it.
func Timeout504(retryAfter time.Duration) metav1.Status {
	s := newStatus(http.StatusGatewayTimeout, metav1.StatusReasonTimeout, retryAfter)
	if s.Details == nil {
		s.Details = &metav1.StatusDetails{}
	}
	s.Details.Causes = []metav1.StatusCause{{
		Type: metav1.CauseTypeResourceVersionTooLarge, Message: tooLargeResourceVersion,
	}}
	return s
}

// TooManyRequests returns 429 TooManyRequests. retryAfter is rounded up to seconds; 0 omits it.
func TooManyRequests(retryAfter time.Duration) metav1.Status {
	return newStatus(http.StatusTooManyRequests, metav1.StatusReasonTooManyRequests, retryAfter)
}

// Conflict returns 409 Conflict: the object was changed by another client.
func Conflict() metav1.Status { return newStatus(http.StatusConflict, metav1.StatusReasonConflict, 0) }

// InternalError returns 500 InternalError.
func InternalError() metav1.Status {
	return newStatus(http.StatusInternalServerError, metav1.StatusReasonInternalError, 0)
}

// Unavailable returns 503 ServiceUnavailable. retryAfter is rounded up to seconds; 0 omits it.
func Unavailable(retryAfter time.Duration) metav1.Status {
	return newStatus(http.StatusServiceUnavailable, metav1.StatusReasonServiceUnavailable, retryAfter)
}

// Unauthorized returns 401 Unauthorized: the credentials are missing or no longer valid.
func Unauthorized() metav1.Status {
	return newStatus(http.StatusUnauthorized, metav1.StatusReasonUnauthorized, 0)
}

// Forbidden returns 403 Forbidden: the client is not allowed to do this.
func Forbidden() metav1.Status {
	return newStatus(http.StatusForbidden, metav1.StatusReasonForbidden, 0)
}

func newStatus(code int32, reason metav1.StatusReason, retryAfter time.Duration) metav1.Status {
	s := metav1.Status{Code: code, Reason: reason}
	if retryAfter > 0 {
		seconds := math.Ceil(retryAfter.Seconds())
		s.Details = &metav1.StatusDetails{RetryAfterSeconds: int32(min(seconds, math.MaxInt32))}
	}
	return s
}

// canonicalStatus returns the form of a Status that rules store: without the fields that all
// failures have in common and without empty details.
func canonicalStatus(s metav1.Status) metav1.Status {
	s = *s.DeepCopy()
	s.TypeMeta = metav1.TypeMeta{}
	if s.Status == metav1.StatusFailure {
		s.Status = ""
	}
	if d := s.Details; d != nil {
		if len(d.Causes) == 0 {
			d.Causes = nil
		}
		if d.Name == "" && d.Group == "" && d.Kind == "" && d.UID == "" && d.Causes == nil && d.RetryAfterSeconds == 0 {
			s.Details = nil
		}
	}
	return s
}

func checkStatus(s metav1.Status) error {
	switch {
	case s.Code < 400 || s.Code > 599:
		return fmt.Errorf("a failure has a code from 400 to 599, not %d", s.Code)
	case s.Status != "":
		return fmt.Errorf("the status of a fault is %s, not %q", metav1.StatusFailure, s.Status)
	case s.Details != nil && s.Details.RetryAfterSeconds < 0:
		return errors.New("retryAfter must not be negative")
	case s.ListMeta != metav1.ListMeta{Continue: s.Continue}:
		return errors.New("only continue can be set in the metadata of a Status")
	}
	return nil
}

// statusText returns the text of an effect that has a Status.
func statusText(name string, s metav1.Status) string {
	args := []string{strconv.Itoa(int(s.Code))}
	if s.Reason != "" || s.Message != "" {
		args = append(args, quote(string(s.Reason)))
	}
	if s.Message != "" {
		args = append(args, quote(s.Message))
	}
	option := func(name, value string) {
		if value != "" {
			args = append(args, callText(name, quote(value)))
		}
	}
	if d := s.Details; d != nil {
		option("group", d.Group)
		option("kind", d.Kind)
		option("name", d.Name)
		option("uid", string(d.UID))
		for _, c := range d.Causes {
			args = append(args, causeText(c))
		}
		if d.RetryAfterSeconds != 0 {
			option("retryAfter", (time.Duration(d.RetryAfterSeconds) * time.Second).String())
		}
	}
	option("continue", s.Continue)
	return callText(name, args...)
}

func causeText(c metav1.StatusCause) string {
	args := []string{quote(string(c.Type)), quote(c.Message)}
	if c.Field != "" {
		args = append(args, quote(c.Field))
	}
	return callText("cause", args...)
}
