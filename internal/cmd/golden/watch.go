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

// stream hands out the events of an answer until its body ends, and closes the
// channel then, or when the context is done. It reads ahead, so that a server
// is not held up by what happens during a watch.
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

// nextLine reads an event in JSON. At the end there may be both an event, without
// a line feed behind it, and an error.
func nextLine(body *bufio.Reader) (event any, err error) {
	line, err := body.ReadBytes('\n')
	if line = bytes.TrimSpace(line); len(line) == 0 {
		return nil, err
	}
	if bad := httpdiff.Decode(line, &event); bad != nil {
		return fmt.Sprintf("no JSON: %.200q", line), err
	}
	return event, err
}

// maxFrameSize is how long a protobuf frame may say that it is, in bytes.
const maxFrameSize = 16 << 20

// nextFrame reads an event in protobuf: a length of four bytes, then a
// WatchEvent. The event is given with its object's envelope.
func nextFrame(body *bufio.Reader) (any, error) {
	var head [4]byte
	if _, err := io.ReadFull(body, head[:]); err != nil {
		return nil, err
	}
	length := binary.BigEndian.Uint32(head[:])
	if length > maxFrameSize {
		return fmt.Sprintf("no frame: its length is %d", length), io.ErrUnexpectedEOF
	}
	frame := make([]byte, length)
	if _, err := io.ReadFull(body, frame); err != nil {
		return "no frame: it is cut short", err
	}
	var event metav1.WatchEvent
	if err := event.Unmarshal(frame); err != nil {
		return fmt.Sprintf("no WatchEvent: %v", err), nil
	}
	return map[string]any{"type": event.Type, "protobufObject": httpdiff.Envelope(event.Object.Raw)}, nil
}

// collect reads events until the wanted number is there (if the recording ended
// so), the stream ends or its time is over, and tells which of them it was.
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

// summary is what the events are called: types, and names of objects.
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
