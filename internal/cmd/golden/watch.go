package golden

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/fakeapi/internal/cmd/httpdiff"
)

// stream sends the events of a response on the returned channel and closes it when the body ends or
// ctx is done. It reads ahead so that the steps during a watch do not block the server.
func stream(ctx context.Context, response *http.Response) <-chan any {
	body := bufio.NewReader(response.Body)
	next := nextLine
	if strings.Contains(response.Header.Get("Content-Type"), "protobuf") {
		next = nextFrame
	}
	events := make(chan any, 1000)
	go func() {
		defer close(events)
		for {
			event, err := next(body)
			if event != nil {
				select {
				case events <- event:
				case <-ctx.Done():
					return
				}
			}
			if err != nil {
				return
			}
		}
	}()
	return events
}

// nextLine reads a JSON event. It returns both an event and an error if the last event has no line
// feed.
func nextLine(body *bufio.Reader) (event any, err error) {
	line, err := body.ReadBytes('\n')
	if line = bytes.TrimSpace(line); len(line) == 0 {
		return nil, err
	}
	if bad := httpdiff.Decode(line, &event); bad != nil {
		return fmt.Sprintf("invalid JSON: %.200q", line), err
	}
	return event, err
}

// maxFrameSize is the maximum size of a protobuf frame in bytes.
const maxFrameSize = 16 << 20

// nextFrame reads a protobuf event: a length of four bytes and a WatchEvent. The returned event has
// the envelope of its object.
func nextFrame(body *bufio.Reader) (any, error) {
	var head [4]byte
	if _, err := io.ReadFull(body, head[:]); err != nil {
		return nil, err
	}
	length := binary.BigEndian.Uint32(head[:])
	if length > maxFrameSize {
		return fmt.Sprintf("invalid frame: its length is %d", length), io.ErrUnexpectedEOF
	}
	frame := make([]byte, length)
	if _, err := io.ReadFull(body, frame); err != nil {
		return "invalid frame: it is truncated", err
	}
	var event metav1.WatchEvent
	if err := event.Unmarshal(frame); err != nil {
		return fmt.Sprintf("invalid WatchEvent: %v", err), nil
	}
	return map[string]any{"type": event.Type, "protobufObject": httpdiff.Envelope(event.Object.Raw)}, nil
}

// collect reads events until the wanted number has arrived (if the recording ended so), the stream
// ends or the time is over. It returns the events and how the watch ended.
func collect(events <-chan any, w Watch, want Response) (got []any, end string) {
	deadline := time.After(time.Duration(w.ForMs) * time.Millisecond)
	for {
		select {
		case event, open := <-events:
			if !open {
				return got, ServerClosed
			}
			got = append(got, event)
			enough := want.End == ClientStopped && len(got) >= len(want.Events)
			flooded := len(got) > w.MaxEvents+len(want.Events)
			if enough || flooded {
				return got, ClientStopped
			}
		case <-deadline:
			return got, OpenAtDeadline
		}
	}
}

// compareEvents compares the events of a watch and how it ended.
func (r *replay) compareEvents(want Response, got []any, end string, d *httpdiff.Differences) {
	if len(got) != len(want.Events) {
		*d = append(*d, httpdiff.Difference{
			At: "events", Note: fmt.Sprintf("%d for %d", len(got), len(want.Events)), Left: summary(want.Events), Right: summary(got),
		})
	}
	for i := range min(len(got), len(want.Events)) {
		at := fmt.Sprintf("event %d", i)
		r.placeholders.Compare(at, r.canonicalizer.Event(want.Events[i]), r.canonicalizer.Event(got[i]), d)
	}
	if end != want.End {
		d.Add("end of the stream", want.End, end)
	}
}

// summary returns the types and object names of the events.
func summary(events []any) string {
	var names []string
	for _, e := range events {
		event, _ := e.(map[string]any)
		object, _ := event["object"].(map[string]any)
		metadata, _ := object["metadata"].(map[string]any)
		kind, _ := event["type"].(string)
		name, _ := metadata["name"].(string)
		names = append(names, strings.TrimSpace(kind+" "+name))
	}
	return "[" + strings.Join(names, ", ") + "]"
}
