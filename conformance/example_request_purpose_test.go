package conformance_test

import (
	"context"
	"fmt"
	"net/http"
	"regexp"

	"example.com/fakeapi/conformance"
	fakeapi "example.com/fakeapi/fake"
)

// countingTransport counts the requests of cases that check something, not those that prepare or
// clean up.
type countingTransport struct {
	next http.RoundTripper
	by   map[string]int
}

// RoundTrip implements http.RoundTripper.
func (c countingTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if place := conformance.RequestPurposeFrom(r.Context()); !place.Setup && !place.Cleanup && place.Case != "" {
		c.by[place.Case]++
	}
	return c.next.RoundTrip(r)
}

// A transport reads the purpose of a request.
func ExampleRequestPurposeFrom() {
	srv, err := fakeapi.New()
	if err != nil {
		panic(err)
	}
	defer srv.Close()
	sent := countingTransport{srv.Client().Transport, map[string]int{}}
	_, err = conformance.Execute(context.Background(), conformance.Config{
		BaseURL: srv.URL(), Client: &http.Client{Transport: sent}, Run: regexp.MustCompile(`^GT-01/typed$`),
	})
	fmt.Println(len(sent.by), sent.by["GT-01/typed"] > 0, err)
	// Output: 1 true <nil>
}
