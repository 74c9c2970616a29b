package load

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

const (
	jsonMedia       = "application/json"
	mergeMedia      = "application/merge-patch+json"
	strategicMedia  = "application/strategic-merge-patch+json"
	operationsMedia = "application/json-patch+json"
	applyMedia      = "application/apply-patch+yaml"
	userAgent       = "fakeapi-bench"
	// requestTimeout is the timeout of a request that is not a watch.
	requestTimeout = time.Minute
)

// client is a client that sends requests.
type client struct {
	base string
	http http.RoundTripper
	// accept is the media type of the responses.
	accept string
}

func newClient(config Config) (*client, error) {
	transport, err := config.Connect()
	if err != nil {
		return nil, err
	}
	return &client{strings.TrimRight(config.BaseURL, "/"), transport, jsonMedia}, nil
}

// accepting returns a client with the same connections that requests another media type.
func (c *client) accepting(media string) *client { return &client{c.base, c.http, media} }

// close closes the idle connections.
func (c *client) close() { (&http.Client{Transport: c.http}).CloseIdleConnections() }

// responseError is the error of a response with an error status.
type responseError struct {
	code int
	text string
}

func (r *responseError) Error() string { return r.text }

// open sends a request and returns the response when its headers have arrived. The caller must
// close the body.
func (c *client) open(ctx context.Context, method, path, contentType string, body []byte) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, method, c.base+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Accept", c.accept)
	r.Header.Set("User-Agent", userAgent)
	if len(body) > 0 {
		r.Header.Set("Content-Type", contentType)
	}
	answer, err := c.http.RoundTrip(r)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", method, path, err)
	}
	if answer.StatusCode < http.StatusBadRequest {
		return answer, nil
	}
	defer func() { _ = answer.Body.Close() }()
	said, _ := io.ReadAll(io.LimitReader(answer.Body, 500)) // an incomplete body is enough for the message
	return nil, &responseError{answer.StatusCode, fmt.Sprintf("%s %s: %s: %s", method, path, answer.Status, bytes.TrimSpace(said))}
}

// read sends a request and returns the whole response body.
func (c *client) read(ctx context.Context, method, path, contentType string, body []byte) (all []byte, err error) {
	var b bytes.Buffer
	err = c.copy(ctx, &b, method, path, contentType, body)
	return b.Bytes(), err
}

// do sends a request and discards the response body.
func (c *client) do(ctx context.Context, method, path, contentType string, body []byte) error {
	return c.copy(ctx, io.Discard, method, path, contentType, body)
}

func (c *client) copy(ctx context.Context, to io.Writer, method, path, contentType string, body []byte) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	answer, err := c.open(ctx, method, path, contentType, body)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	if _, err := io.Copy(to, answer.Body); err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	return nil
}
