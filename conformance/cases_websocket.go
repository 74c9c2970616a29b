package conformance

import (
	"context"
	"fmt"
	"strings"
)

// webSocketCases returns the cases about watches over WebSockets (WA-33, WA-34).
func webSocketCases() []Case {
	return []Case{
		onSecrets(Case{
			ID: "WA-33", Level: Must, Title: "a watch can use a WebSocket, with a text message for each event",
			Why: "browsers cannot read a stream in another way", Source: "Kubernetes API conventions, WebSockets and SPDY; apiserver pkg/endpoints/handlers/watch.go",
		}, checkWatchOverWebSocket),
		onSecrets(Case{
			ID: "WA-34", Level: Should, Title: "a WebSocket request without an Origin is rejected, and a watch that cannot start gets its error",
			Why: "other web pages could watch with the credentials of the user", Source: "golang.org/x/net/websocket, which the API server uses",
		}, func(ctx context.Context, s *session, c collection) error {
			if _, err := s.doWebSocket(ctx, get(c.path()+"?watch=1&timeoutSeconds=1").asWebSocket(""), code(403)); err != nil {
				return err
			}
			return s.expect(ctx, get(c.path()+"?watch=1&resourceVersion=abc").asWebSocket(s.run.config.BaseURL), code(500), field("Failure", "status"))
		}),
	}
}

// doWebSocket is do for a call that requests a WebSocket. HTTP/2 has none.
func (s *session) doWebSocket(ctx context.Context, c call, expect ...expectation) (*response, error) {
	r, err := s.do(ctx, c, expect...)
	if err != nil && strings.Contains(err.Error(), "invalid Upgrade request header") {
		return nil, s.skipf("the client uses HTTP/2: %v", err)
	}
	return r, err
}

func checkWatchOverWebSocket(ctx context.Context, s *session, c collection) error {
	for _, name := range []string{"a", "b"} {
		if _, err := c.create(ctx, c.object(name)); err != nil {
			return err
		}
	}
	r, err := s.doWebSocket(ctx, get(c.path()+"?watch=1&timeoutSeconds=3").asWebSocket(s.run.config.BaseURL), code(101),
		headerIs("Sec-WebSocket-Accept", "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="))
	if err != nil {
		return err
	}
	messages, err := parseTextMessages(r.body)
	if err != nil {
		return r.errorf("%w", err)
	}
	if len(messages) != 2 {
		return r.errorf("expected two messages, got %d", len(messages))
	}
	for i, name := range []string{"a", "b"} {
		if !strings.HasPrefix(messages[i], `{"type":"ADDED"`) || !strings.Contains(messages[i], `"name":"`+name+`"`) {
			return r.errorf("expected that %s was ADDED in message %d", name, i)
		}
	}
	return nil
}

// asWebSocket requests a WebSocket with an Origin header, or without one if origin is "".
func (c call) asWebSocket(origin string) call {
	c = c.withHeader("Connection", "Upgrade").withHeader("Upgrade", "websocket").
		withHeader("Sec-WebSocket-Version", "13").withHeader("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ==")
	if origin != "" {
		c = c.withHeader("Origin", origin)
	}
	return c
}

// parseTextMessages decodes the frames of a WebSocket (RFC 6455, section 5.2), up to the one that
// closes it. All must be complete text messages of less than 64 KiB.
func parseTextMessages(p []byte) (messages []string, err error) {
	const text, closes = 0x81, 0x88
	for len(p) >= 2 && p[0] != closes {
		size, head := int(p[1]), 2
		if size == 126 && len(p) >= 4 {
			size, head = int(p[2])<<8|int(p[3]), 4
		}
		if p[0] != text || size > 65535 || len(p) < head+size {
			return nil, fmt.Errorf("expected complete text messages, got one that starts with %x", p[:2])
		}
		messages = append(messages, string(p[head:head+size]))
		p = p[head+size:]
	}
	return messages, nil
}
