package faults

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"golang.org/x/net/http/httpguts"
	utilnet "k8s.io/apimachinery/pkg/util/net"
)

// SetHeader sets a header of the response to these values. Without values the header is removed.
// The effect also applies to the response of a later effect. "Connection: close" closes the
// connection after the response, over HTTP/2 by GOAWAY.
func SetHeader(name string, values ...string) Effect {
	return setHeader{headerValues{name, append([]string(nil), values...)}}
}

type setHeader struct{ headerValues }

func (e setHeader) String() string { return e.callText("header") }

func (e setHeader) applyBefore(x *exchange) outcome {
	x.changeHeader(e.setIn)
	return proceed
}

func (e setHeader) applyCommitted(x *exchange, _ *bufferedResponse) outcome { return e.applyBefore(x) }

// headerValues is a header with its values.
type headerValues struct {
	name   string
	values []string
}

func (v headerValues) callText(word string) string {
	return callText(word, append([]string{quote(v.name)}, quoteAll(v.values)...)...)
}
func (headerValues) isFinal() bool { return false }
func (v headerValues) check() error {
	for _, value := range append([]string{""}, v.values...) {
		if err := checkHeader(v.name, value); err != nil {
			return err
		}
	}
	return nil
}

func (v headerValues) setIn(h http.Header) {
	// A key without values prevents net/http from adding a Date or Content-Type.
	h[http.CanonicalHeaderKey(v.name)] = slices.Clone(v.values)
}

// Warn adds a Warning header with code 299 to the response for each text, as kube-apiserver does
// (WN-01).
func Warn(texts ...string) Effect {
	w := warn{texts: append([]string(nil), texts...)}
	for _, text := range w.texts {
		value, err := utilnet.NewWarningHeader(299, "-", text)
		if err != nil {
			w.err = fmt.Errorf("%q is not a valid warning: %w", text, err)
		}
		w.headers = append(w.headers, value)
	}
	return w
}

type warn struct {
	texts, headers []string
	err            error // of the first text that is not a valid warning
}

func (e warn) String() string { return callText("warn", quoteAll(e.texts)...) }
func (warn) isFinal() bool    { return false }
func (e warn) check() error {
	if len(e.texts) == 0 {
		return errors.New("warn needs at least one text")
	}
	return e.err
}

func (e warn) applyBefore(x *exchange) outcome {
	x.changeHeader(func(h http.Header) { h["Warning"] = append(h["Warning"], e.headers...) })
	return proceed
}

func (e warn) applyCommitted(x *exchange, _ *bufferedResponse) outcome { return e.applyBefore(x) }

// Skew adds d, which may be negative, to the Date header of the response, as of a server whose
// clock is wrong. Times in objects are unchanged.
func Skew(d time.Duration) Effect { return skew{d} }

type skew struct{ d time.Duration }

func (e skew) String() string { return callText("skew", e.d.String()) }
func (skew) isFinal() bool    { return false }
func (skew) check() error     { return nil }

func (e skew) applyBefore(x *exchange) outcome {
	x.changeHeader(func(h http.Header) {
		date, err := http.ParseTime(h.Get("Date"))
		if err != nil { // net/http adds the header later
			date = time.Now()
		}
		h.Set("Date", date.Add(e.d).UTC().Format(http.TimeFormat))
	})
	return proceed
}

func (e skew) applyCommitted(x *exchange, _ *bufferedResponse) outcome { return e.applyBefore(x) }

// checkHeader returns an error if net/http would silently drop or change the header (RFC 9110,
// section 5).
func checkHeader(name, value string) error {
	if name == "" {
		return errors.New("a header must have a name")
	}
	if !httpguts.ValidHeaderFieldName(name) {
		return fmt.Errorf("%q is not a valid header name", name)
	}
	if !httpguts.ValidHeaderFieldValue(value) {
		return fmt.Errorf("%q is not a valid header value: it contains control characters", value)
	}
	return nil
}
