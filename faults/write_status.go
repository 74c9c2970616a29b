package faults

import (
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/munnerz/goautoneg"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"example.com/fakeapi/internal/frames"
)

// writeStatus answers a request with a Status.
func writeStatus(w http.ResponseWriter, r *http.Request, s metav1.Status) {
	contentType, body := runtime.ContentTypeJSON, jsonStatus(s)
	if prefersProtobuf(r) {
		contentType, body = runtime.ContentTypeProtobuf, protobufStatus(s)
	}
	h := w.Header()
	h.Set("Content-Type", contentType)
	h.Set("Cache-Control", "no-cache, private")
	if s.Details != nil && s.Details.RetryAfterSeconds > 0 { // EX-06
		h.Set("Retry-After", strconv.Itoa(int(s.Details.RetryAfterSeconds)))
	}
	w.WriteHeader(int(s.Code))
	// A client that has left does not miss anything.
	_, _ = w.Write(body)
}

// prefersProtobuf reads the Accept header as far as a Status needs it: the first
// type that can be served decides.
func prefersProtobuf(r *http.Request) bool {
	header := r.Header.Get("Accept")
	if header == "" {
		return false
	}
	for _, clause := range goautoneg.ParseAccept(header) {
		switch clause.Type + "/" + clause.SubType {
		case runtime.ContentTypeProtobuf:
			return true
		case runtime.ContentTypeJSON, "*/*", "application/*":
			return false
		}
	}
	return false
}

// preferredFraming chooses the framing for a watch that a rule answers.
func preferredFraming(r *http.Request) framing {
	if prefersProtobuf(r) {
		return protobufFraming{}
	}
	return jsonFraming{}
}

// jsonStatus encodes a Status as the API server does, with a newline behind it.
func jsonStatus(s metav1.Status) []byte {
	data, err := json.Marshal(s)
	if err != nil {
		panic("faults: a Status does not encode: " + err.Error()) // it is strings and numbers
	}
	return append(data, '\n')
}

// protobufStatus encodes a Status in the envelope that names its type.
func protobufStatus(s metav1.Status) []byte {
	raw := mustMarshal(&s)
	envelope := mustMarshal(&runtime.Unknown{
		TypeMeta: runtime.TypeMeta{APIVersion: s.APIVersion, Kind: s.Kind},
		Raw:      raw,
	})
	return append([]byte(frames.ProtobufPrefix), envelope...)
}

// mustMarshal encodes messages of strings, numbers and bytes, which cannot fail.
func mustMarshal(m interface{ Marshal() ([]byte, error) }) []byte {
	data, err := m.Marshal()
	if err != nil {
		panic("faults: a message does not encode: " + err.Error())
	}
	return data
}
