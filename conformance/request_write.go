package conformance

import (
	"context"
	"net/http"
	"strings"
)

// The media types of patches.
const (
	jsonPatchType      = "application/json-patch+json"
	mergePatchType     = "application/merge-patch+json"
	strategicPatchType = "application/strategic-merge-patch+json"
	applyPatchType     = "application/apply-patch+yaml"
	cborApplyType      = "application/apply-patch+cbor"
)

func patch(mediaType, path string, body any) call {
	return call{method: http.MethodPatch, path: path, body: body, contentType: mediaType}
}

func jsonPatch(path string, operations ...object) call {
	return patch(jsonPatchType, path, operations)
}

func strategicPatch(path string, body any) call { return patch(strategicPatchType, path, body) }

// applyAs returns a server-side apply with a field manager.
func applyAs(manager, path string, body any) call {
	return patch(applyPatchType, path, body).withQuery("fieldManager=" + manager)
}

// withQuery adds query parameters.
func (c call) withQuery(parameters string) call {
	separator := "?"
	if strings.Contains(c.path, "?") {
		separator = "&"
	}
	c.path += separator + parameters
	return c
}

// withUserAgent sets the User-Agent.
func (c call) withUserAgent(agent string) call {
	c.agent = agent
	return c
}

// exchange is a call and the expectations for its response.
type exchange struct {
	call   call
	expect []expectation
}

func send(c call, expect ...expectation) exchange { return exchange{c, expect} }

// expectAll sends calls one after the other, until a response does not meet its expectations.
func (s *session) expectAll(ctx context.Context, exchanges ...exchange) error {
	for _, one := range exchanges {
		if err := s.expect(ctx, one.call, one.expect...); err != nil {
			return err
		}
	}
	return nil
}
