package httpdiff

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"unicode/utf8"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"
	protobufserializer "k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"

	"example.com/fakeapi/internal/frames"
)

// Media types of bodies that are compared as values, in addition to those of package frames.
const (
	typeYAML     = "application/yaml"
	typeCBORItem = "application/cbor"
)

// uncomparedBody is the value of a body of which only the presence is compared.
const uncomparedBody = "a body that is not compared"

// DecodeBody decodes a body for comparison. A body that does not match its media type is returned
// as a text with the error.
func DecodeBody(header http.Header, body []byte) any {
	if len(body) == 0 {
		return nil
	}
	contentType := header.Get("Content-Type")
	media := frames.MediaType(contentType)
	switch {
	case media == runtime.ContentTypeJSON, strings.HasSuffix(media, "+json"):
		return BodyAs("", body)
	case media == typeYAML, strings.HasSuffix(media, "+yaml"):
		text, err := yaml.YAMLToJSON(body)
		if err != nil {
			return BodyAs(AsText, body)
		}
		return BodyAs("", text)
	case media == runtime.ContentTypeProtobuf:
		return decodeProtobuf(body)
	case media == typeCBORItem, media == runtime.ContentTypeCBORSequence:
		return decodeItem(body)
	case media == "text/plain" && strings.Contains(contentType, "version=0.0.4"):
		return uncomparedBody // metrics
	case strings.HasPrefix(media, "text/"), media == "" && utf8.Valid(body):
		return strings.ToValidUTF8(string(body), "�")
	}
	return uncomparedBody
}

// Gunzip decompresses a body with Content-Encoding gzip, unless the transport has done so already.
// Of a truncated body it returns the part that can be read.
func Gunzip(header http.Header, body []byte) []byte {
	if header.Get("Content-Encoding") != "gzip" || !bytes.HasPrefix(body, []byte("\x1f\x8b")) {
		return body
	}
	packed, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		return body
	}
	all, _ := io.ReadAll(packed)
	return all
}

// decodeItem decodes a CBOR item.
func decodeItem(body []byte) any {
	var v any
	if err := direct.Unmarshal(bytes.TrimPrefix(body, []byte(frames.CBORSelfDescribedTag)), &v); err != nil {
		return fmt.Sprintf("no CBOR: %v", err)
	}
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprintf("no CBOR of an object: %v", err)
	}
	return BodyAs("", text)
}

// knownTypes returns a scheme with the types whose protobuf encoding can be decoded.
var knownTypes = sync.OnceValue(func() *runtime.Scheme {
	s := runtime.NewScheme()
	utilruntime.Must(clientscheme.AddToScheme(s))
	utilruntime.Must(apiextensionsv1.AddToScheme(s))
	utilruntime.Must(metav1.AddMetaToScheme(s))
	return s
})

// decodeProtobuf decodes a protobuf message. For an unknown type it returns the envelope.
func decodeProtobuf(body []byte) any {
	types := knownTypes()
	object, _, err := protobufserializer.NewSerializer(types, types).Decode(body, nil, nil)
	if err != nil {
		return Envelope(body)
	}
	text, err := json.Marshal(object)
	if err != nil {
		return Envelope(body)
	}
	return BodyAs("", text)
}

// DecodeEvents decodes the events of a watch stream. It ignores an incomplete event at the end.
func DecodeEvents(contentType string, body []byte) []any {
	media := frames.MediaType(contentType)
	splitter := frames.NewSplitter(media)
	events := []any{}
	for from, at := 0, 0; at < len(body); {
		n, complete := splitter.Advance(body[at:])
		at += n
		if complete {
			events = append(events, decodeEvent(media, body[from:at]))
			from = at
		}
	}
	return events
}

func decodeEvent(media string, frame []byte) any {
	switch media {
	case runtime.ContentTypeCBORSequence:
		return decodeItem(frame)
	case runtime.ContentTypeProtobuf:
		var event metav1.WatchEvent
		if err := event.Unmarshal(frame[min(len(frame), frames.LengthPrefixSize):]); err != nil {
			return fmt.Sprintf("invalid WatchEvent: %v", err)
		}
		return map[string]any{"type": event.Type, "object": decodeProtobuf(event.Object.Raw)}
	}
	return BodyAs("", frame)
}
