package conformance

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

const (
	docCompression = "Kubernetes API Concepts, Response compression"
	// gzipThreshold is the size in bytes above which responses are compressed.
	gzipThreshold = 128 << 10
)

// compressionCases returns the cases about large responses (HT).
func compressionCases() []Case {
	return []Case{
		onSecrets(Case{
			ID: "HT-02", Level: Must, Title: "a response above 128 KiB is compressed for a client that accepts gzip, in each encoding",
			Why:    "compression reduces large lists from megabytes to kilobytes",
			Source: docCompression,
		}, checkCompression),
		onSecrets(Case{
			ID: "HT-03", Level: Must, Title: "smaller responses are not compressed, and no responses for clients that do not accept gzip",
			Why:    "it would cost more time than it saves, and those clients could not read it",
			Source: docCompression,
		}, checkNoCompression),
		onSecrets(Case{
			ID: "HT-13", Level: Must, Title: "a large response is chunked, or has a correct Content-Length",
			Why:    "clients read until the declared end",
			Source: "RFC 9112, 6",
		}, checkContentLength),
	}
}

// createLarge creates two objects that only together exceed the threshold. It returns the
// resourceVersion of the second.
func createLarge(ctx context.Context, c collection) (resourceVersion string, err error) {
	for _, name := range []string{"a", "b"} {
		o := c.object(name).withMeta("annotations", object{"conformance.example.com/bulk": strings.Repeat("0123456789abcdef", 6<<10)})
		made, err := c.create(ctx, o)
		if err != nil {
			return "", err
		}
		resourceVersion = made.ResourceVersion
	}
	return resourceVersion, nil
}

// withAcceptEncoding sets Accept-Encoding.
func (c call) withAcceptEncoding(encoding string) call {
	c.encoding = encoding
	return c
}

// gunzip expects a response in gzip, and returns its decompressed body.
func gunzip(r *response) ([]byte, error) {
	if got := r.header.Get("Content-Encoding"); got != "gzip" {
		return nil, r.errorf("expected Content-Encoding gzip for a large response, got %q", got)
	}
	if !slices.Contains(r.header.Values("Vary"), "Accept-Encoding") {
		return nil, r.errorf("expected Vary to name Accept-Encoding, got %q", r.header.Values("Vary"))
	}
	z, err := gzip.NewReader(bytes.NewReader(r.body))
	if err != nil {
		return nil, r.errorf("expected gzip: %w", err)
	}
	plain, err := io.ReadAll(z)
	if err != nil {
		return nil, r.errorf("expected gzip: %w", err)
	}
	return plain, nil
}

// checkCompression lists at a fixed resourceVersion: that of the latest list changes with any
// write to the server.
func checkCompression(ctx context.Context, s *session, c collection) error {
	revision, err := createLarge(ctx, c)
	if err != nil {
		return err
	}
	list := get(c.path() + "?resourceVersionMatch=Exact&resourceVersion=" + revision)
	for _, accept := range []string{"application/json", mediaTypeYAML, mediaTypeProtobuf, "application/json;pretty=1"} {
		if err := compareCompressed(ctx, s, list.withAccept(accept)); err != nil {
			return err
		}
	}
	return nil
}

// compareCompressed expects that a large response is the same with gzip and without.
func compareCompressed(ctx context.Context, s *session, list call) error {
	plain, err := s.do(ctx, list.withAcceptEncoding("identity"), code(200), isUncompressed)
	if err != nil {
		return err
	}
	r, err := s.do(ctx, list.withAcceptEncoding("deflate, gzip"), code(200))
	if err != nil {
		return err
	}
	inside, err := gunzip(r)
	if err != nil {
		return err
	}
	if !bytes.Equal(inside, plain.body) {
		return r.errorf("expected %d bytes, the same as without gzip, got %d", len(plain.body), len(inside))
	}
	return nil
}

// isUncompressed expects a response without Content-Encoding.
func isUncompressed(r *response) error {
	if got := r.header.Get("Content-Encoding"); got != "" && got != "identity" {
		return fmt.Errorf("expected no Content-Encoding, got %q", got)
	}
	return nil
}

func checkNoCompression(ctx context.Context, s *session, c collection) error {
	if _, err := createLarge(ctx, c); err != nil {
		return err
	}
	return s.expectAll(ctx,
		send(get(c.item("a")).withAcceptEncoding("gzip"), code(200), isUncompressed, kind(c.apiVersion, c.kind)),
		send(get(c.path()+"?limit=1").withAcceptEncoding("gzip"), code(200), isUncompressed, kind(c.apiVersion, c.kind+"List")),
		send(get(c.item("none")).withAcceptEncoding("gzip"), code(404), isUncompressed, kind("v1", "Status")),
		send(get(c.path()).withAcceptEncoding("identity"), code(200), isUncompressed, kind(c.apiVersion, c.kind+"List")),
		send(get(c.path()).withAcceptEncoding("br, deflate"), code(200), isUncompressed, kind(c.apiVersion, c.kind+"List")),
	)
}

func checkContentLength(ctx context.Context, s *session, c collection) error {
	if _, err := createLarge(ctx, c); err != nil {
		return err
	}
	for _, encoding := range []string{"identity", "gzip"} {
		r, err := s.do(ctx, get(c.path()).withAcceptEncoding(encoding), code(200))
		if err != nil {
			return err
		}
		if length := r.header.Get("Content-Length"); length != "" && length != strconv.Itoa(len(r.body)) {
			return r.errorf("expected no Content-Length, or %d, got %s", len(r.body), length)
		}
		if encoding == "identity" && len(r.body) <= gzipThreshold {
			return r.errorf("expected more than %d bytes, got %d", gzipThreshold, len(r.body))
		}
	}
	return nil
}
