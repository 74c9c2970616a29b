package conformance

import (
	"context"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const docWebSocket = "Kubernetes API conventions, WebSockets and SPDY; apiserver pkg/endpoints/handlers/watch.go"

// webSocketCases returns the cases about watches over WebSockets (WA-33, WA-34).
func webSocketCases() []Case {
	return []Case{
		onSecrets(Case{
			ID: "WA-33", Level: Must, Title: "a watch can use a WebSocket, with a text message for each event",
			Why: "browsers cannot read a stream in another way", Source: docWebSocket,
		}, checkWatchOverWebSocket),
		onSecrets(Case{
			ID: "WA-33/protocol", Level: Must, Title: "a WebSocket with a subprotocol, whatever its name, returns it and sends the same messages",
			Why: "browsers close a WebSocket that does not confirm the requested subprotocol", Source: docWebSocket,
		}, checkWebSocketProtocol),
		onSecrets(Case{
			ID: "WA-33/protobuf", Level: Must, Title: "a watch in protobuf over a WebSocket sends a binary message for each event, without the length",
			Why: "the messages already separate the events", Source: docWebSocket,
		}, checkProtobufWebSocket),
		onSecrets(Case{
			ID:    "WA-34",
			Level: Should, Title: "a WebSocket request without an Origin or with several subprotocols is rejected, and a watch that cannot start gets its error",
			Why: "other web pages could watch with the credentials of the user", Source: "golang.org/x/net/websocket, which the API server uses",
		}, checkWebSocketRejected),
	}
}

// The first bytes of the frames of a WebSocket that are complete messages.
const (
	textFrame   = 0x81
	binaryFrame = 0x82
	closeFrame  = 0x88
)

// doWebSocket is do for a call that requests a WebSocket. HTTP/2 has none.
func (s *session) doWebSocket(ctx context.Context, c call, expect ...expectation) (*response, error) {
	r, err := s.do(ctx, c, expect...)
	if err != nil && strings.Contains(err.Error(), "invalid Upgrade request header") {
		return nil, s.skipf("the client uses HTTP/2: %v", err)
	}
	return r, err
}

// watchTwoOverWebSocket creates the objects a and b, and expects that a watch over a WebSocket
// sends a message for each of them, in frames of one type. It returns the messages and the
// response. The function change may add to the request.
func (s *session) watchTwoOverWebSocket(ctx context.Context, c collection, frame byte, change func(call) call) ([2]string, *response, error) {
	var two [2]string
	for _, name := range []string{"a", "b"} {
		if _, err := c.create(ctx, c.object(name)); err != nil {
			return two, nil, err
		}
	}
	request := change(get(c.path() + "?watch=1&timeoutSeconds=3").asWebSocket(s.run.config.BaseURL))
	r, err := s.doWebSocket(ctx, request, code(101), headerIs("Sec-WebSocket-Accept", "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="))
	if err != nil {
		return two, r, err
	}
	messages, err := parseMessages(r.body, frame)
	if err != nil {
		return two, r, r.errorf("%w", err)
	}
	if len(messages) != len(two) {
		return two, r, r.errorf("expected two messages, got %d", len(messages))
	}
	copy(two[:], messages)
	return two, r, nil
}

// expectTextEvents expects that a and b were ADDED.
func expectTextEvents(r *response, messages [2]string) error {
	for i, name := range []string{"a", "b"} {
		if !strings.HasPrefix(messages[i], `{"type":"ADDED"`) || !strings.Contains(messages[i], `"name":"`+name+`"`) {
			return r.errorf("expected that %s was ADDED in message %d", name, i)
		}
	}
	return nil
}

func checkWatchOverWebSocket(ctx context.Context, s *session, c collection) error {
	messages, r, err := s.watchTwoOverWebSocket(ctx, c, textFrame, func(c call) call { return c })
	if err != nil {
		return err
	}
	return expectTextEvents(r, messages)
}

func checkWebSocketProtocol(ctx context.Context, s *session, c collection) error {
	const name = "absent.conformance.example.com"
	messages, r, err := s.watchTwoOverWebSocket(ctx, c, textFrame, func(c call) call { return c.withHeader("Sec-WebSocket-Protocol", name) })
	if err != nil {
		return err
	}
	if err := r.expect(headerIs("Sec-WebSocket-Protocol", name)); err != nil {
		return err
	}
	return expectTextEvents(r, messages)
}

func checkProtobufWebSocket(ctx context.Context, s *session, c collection) error {
	messages, r, err := s.watchTwoOverWebSocket(ctx, c, binaryFrame, func(c call) call { return c.withAccept(protobufWatch) })
	if err != nil {
		return err
	}
	for i, message := range messages {
		var e metav1.WatchEvent
		if err := e.Unmarshal([]byte(message)); err != nil {
			return r.errorf("expected a WatchEvent in protobuf in message %d: %w", i, err)
		}
		if got, err := protobufKind(e.Object.Raw); e.Type != "ADDED" || err != nil || got != c.kind {
			return r.errorf("expected that a %s was ADDED in message %d, got the type %q, the kind %q and the error %v", c.kind, i, e.Type, got, err)
		}
	}
	return nil
}

func checkWebSocketRejected(ctx context.Context, s *session, c collection) error {
	watch := get(c.path() + "?watch=1&timeoutSeconds=1")
	for _, origin := range []string{"", "null"} {
		if _, err := s.doWebSocket(ctx, watch.asWebSocket(origin), code(403)); err != nil {
			return err
		}
	}
	origin := s.run.config.BaseURL
	return s.expectAll(ctx,
		send(watch.asWebSocket(origin).withHeader("Sec-WebSocket-Protocol", "a.conformance.example.com, b.conformance.example.com"), code(400)),
		send(get(c.path()+"?watch=1&resourceVersion=abc").asWebSocket(origin), code(500), field("Failure", "status")),
	)
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

// parseMessages decodes the frames of a WebSocket (RFC 6455, section 5.2), up to the one that
// closes it. All must be complete messages of one type, and of less than 64 KiB.
func parseMessages(p []byte, frame byte) (messages []string, err error) {
	for len(p) >= 2 && p[0] != closeFrame {
		size, head := int(p[1]), 2
		if size == 126 && len(p) >= 4 {
			size, head = int(p[2])<<8|int(p[3]), 4
		}
		if p[0] != frame || size > 65535 || len(p) < head+size {
			return nil, fmt.Errorf("expected complete messages in frames of the type %x, got one that starts with %x", frame, p[:2])
		}
		messages = append(messages, string(p[head:head+size]))
		p = p[head+size:]
	}
	return messages, nil
}
