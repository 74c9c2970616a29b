package handlers

import (
	"bufio"
	"io"
	"net"
	"net/http"

	"golang.org/x/net/websocket"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"

	"example.com/fakeapi/internal/frames"
)

// serveWebSocket performs the handshake of a WebSocket and calls serve. It calls onClose when the
// client closes it. As on a real server, which uses the same library, a client without an Origin
// gets 403, and a single requested protocol is confirmed without an effect, including
// base64.binary.k8s.io (WA-33, WA-34).
func serveWebSocket(w http.ResponseWriter, r *http.Request, media string, onClose func(), serve func(*webSocketWriter)) error {
	conn, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return apierrors.NewInternalError(err)
	}
	handler := websocket.Handler(func(ws *websocket.Conn) {
		defer func() { _ = ws.Close() }() // the client may have closed it
		go func() {
			defer onClose()
			_, _ = io.Copy(io.Discard, ws) // messages from the client are ignored
		}()
		serve(newWebSocketWriter(ws, media))
	})
	handler.ServeHTTP(&hijackedWriter{ResponseWriter: w, conn: conn, buffered: buffered}, r)
	return nil
}

// hijackedWriter is a ResponseWriter whose connection has been hijacked.
type hijackedWriter struct {
	http.ResponseWriter
	conn     net.Conn
	buffered *bufio.ReadWriter
}

// Hijack implements http.Hijacker.
func (h *hijackedWriter) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	return h.conn, h.buffered, nil
}

// webSocketWriter sends each frame of a watch as a message: JSON as text, with the newline at its
// end, and protobuf as binary, without its length prefix.
type webSocketWriter struct {
	ws    *websocket.Conn
	split frames.Splitter
	text  bool
}

func newWebSocketWriter(ws *websocket.Conn, media string) *webSocketWriter {
	return &webSocketWriter{ws: ws, split: frames.NewSplitter(frames.MediaType(media)), text: frames.MediaType(media) == runtime.ContentTypeJSON}
}

// send sends complete frames.
func (s *webSocketWriter) send(all []byte) error {
	for len(all) > 0 {
		n, _ := s.split.Advance(all)
		var err error
		if s.text {
			err = websocket.Message.Send(s.ws, string(all[:n]))
		} else {
			err = websocket.Message.Send(s.ws, all[frames.LengthPrefixSize:n])
		}
		if err != nil {
			return err
		}
		all = all[n:]
	}
	return nil
}
