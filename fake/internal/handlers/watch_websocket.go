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

// serveWebSocket does the handshake of a WebSocket, and lets serve write to it; gone is
// called when the client closes it. As on a real server, with the same library: a client
// without an Origin gets 403, one that names a single protocol hears of it again, and
// nothing is done about it, base64.binary.k8s.io or not (WA-33, WA-34).
func serveWebSocket(w http.ResponseWriter, r *http.Request, media string, onClose func(), serve func(*webSocketWriter)) error {
	conn, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return apierrors.NewInternalError(err)
	}
	handler := websocket.Handler(func(ws *websocket.Conn) {
		defer func() { _ = ws.Close() }() // the client may have been faster
		go func() {
			defer onClose()
			_, _ = io.Copy(io.Discard, ws) // clients have nothing to say
		}()
		serve(newWebSocketWriter(ws, media))
	})
	handler.ServeHTTP(&hijackedWriter{ResponseWriter: w, conn: conn, buffered: buffered}, r)
	return nil
}

// hijackedWriter is a ResponseWriter whose connection is not HTTP's any more.
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
// end, protobuf as binary, without the length before it.
type webSocketWriter struct {
	ws    *websocket.Conn
	split frames.Splitter
	text  bool
}

func newWebSocketWriter(ws *websocket.Conn, media string) *webSocketWriter {
	return &webSocketWriter{ws: ws, split: frames.NewSplitter(frames.MediaType(media)), text: frames.MediaType(media) == runtime.ContentTypeJSON}
}

// send sends whole frames.
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
