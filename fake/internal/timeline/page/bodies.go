package page

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"html/template"
	"strings"
	"unicode/utf8"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/client-go/kubernetes/scheme"

	"example.com/fakeapi/fake/internal/timeline"
	"example.com/fakeapi/internal/frames"
)

// body is a Body as the page shows it. Text is the text that was sent, or the decoded body. Bytes
// is set if the text is not what was sent.
type body struct {
	Media string `json:"media"`
	Size  int64  `json:"size"`
	Kept  int    `json:"kept"`
	Text  string `json:"text,omitempty"`
	JSON  bool   `json:"json,omitempty"`
	Bytes string `json:"bytes,omitempty"`
}

// bodies has every distinct body once, because an event goes to many watches and may be the
// response to a write as well. The page has one body per line, and parses a body when it is shown.
type bodies struct {
	all  []body
	seen map[bodyKey]int
}

type bodyKey struct {
	media, data string
	size        int64
	frame       bool
}

func newBodies() *bodies { return &bodies{seen: map[bodyKey]int{}} }

// add returns the number of a body, from 1, or 0 if it is empty.
func (b *bodies) add(sent timeline.Body) int { return b.store(sent, false, newPageBody) }

// addFrame is add for a watch event. It stores the object without the event around it.
func (b *bodies) addFrame(sent timeline.Body) int {
	return b.store(sent, true, func(sent timeline.Body) body { return newPageBody(unwrap(sent)) })
}

func (b *bodies) store(sent timeline.Body, frame bool, read func(timeline.Body) body) int {
	if len(sent.Data) == 0 && sent.Size == 0 {
		return 0
	}
	key := bodyKey{sent.ContentType, string(sent.Data), sent.Size, frame}
	at, ok := b.seen[key]
	if !ok {
		b.all = append(b.all, read(sent))
		at = len(b.all)
		b.seen[key] = at
	}
	return at
}

// lines returns the bodies as JSON, each on one line.
func (b *bodies) lines() (template.JS, error) {
	var lines strings.Builder
	encoder := json.NewEncoder(&lines)
	for _, one := range b.all {
		if err := encoder.Encode(one); err != nil {
			return "", err
		}
	}
	return template.JS(lines.String()), nil
}

func newPageBody(sent timeline.Body) body {
	b := body{Media: sent.ContentType, Size: max(sent.Size, int64(len(sent.Data))), Kept: len(sent.Data)}
	if text, ok := decodeBinary(sent); ok {
		b.Text, b.JSON = text, true
	} else if utf8.Valid(sent.Data) && bytes.IndexByte(sent.Data, 0) < 0 {
		b.Text, b.JSON = string(sent.Data), isJSON(sent)
		return b
	}
	b.Bytes = base64.StdEncoding.EncodeToString(sent.Data)
	return b
}

func isJSON(sent timeline.Body) bool {
	return strings.HasSuffix(sent.ContentType, "json") || bytes.HasPrefix(bytes.TrimSpace(sent.Data), []byte("{"))
}

// decodeBinary decodes protobuf and CBOR to JSON. It returns false for a truncated or invalid body,
// and for other media types.
func decodeBinary(sent timeline.Body) (string, bool) {
	switch {
	case bytes.HasPrefix(sent.Data, []byte(frames.ProtobufPrefix)):
		object, _, err := protobuf.NewSerializer(scheme.Scheme, scheme.Scheme).Decode(sent.Data, nil, nil)
		if err != nil {
			return "", false
		}
		text, err := json.Marshal(object)
		return string(text), err == nil
	case strings.Contains(sent.ContentType, "cbor"):
		text, err := frames.CBORToJSON(sent.Data)
		return string(text), err == nil
	}
	return "", false
}

// unwrap returns the object of a watch event, or the body itself if it is not an event.
func unwrap(sent timeline.Body) timeline.Body {
	if sent.Size > int64(len(sent.Data)) {
		return sent
	}
	var object []byte
	switch sent.ContentType {
	case runtime.ContentTypeJSON:
		object = unwrapJSON(sent.Data)
	case runtime.ContentTypeProtobuf:
		object = unwrapProtobuf(sent.Data)
	case runtime.ContentTypeCBORSequence:
		object = unwrapCBOR(sent.Data)
	}
	if len(object) == 0 {
		return sent
	}
	return timeline.Body{ContentType: sent.ContentType, Data: object, Size: int64(len(object))}
}

func unwrapProtobuf(data []byte) []byte {
	var event metav1.WatchEvent
	if len(data) <= frames.LengthPrefixSize || event.Unmarshal(data[frames.LengthPrefixSize:]) != nil {
		return nil
	}
	return event.Object.Raw
}

func unwrapCBOR(data []byte) []byte {
	var event metav1.WatchEvent
	if direct.Unmarshal(bytes.TrimPrefix(data, []byte(frames.CBORSelfDescribedTag)), &event) != nil {
		return nil
	}
	return event.Object.Raw
}

func unwrapJSON(data []byte) []byte {
	var event struct {
		Type   string          `json:"type"`
		Object json.RawMessage `json:"object"`
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&event); err != nil || d.More() {
		return nil
	}
	return event.Object
}
