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

// writeStatus responds with a Status.
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
	// Errors of a disconnected client do not matter.
	_, _ = w.Write(body)
}

// prefersProtobuf reports whether the first supported type of the Accept header is protobuf.
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

// preferredFraming returns the framing of a watch that a rule answers.
func preferredFraming(r *http.Request) framing {
	if prefersProtobuf(r) {
		return protobufFraming{}
	}
	return jsonFraming{}
}

// jsonStatus encodes a Status in JSON with a newline at the end, as kube-apiserver does.
func jsonStatus(s metav1.Status) []byte {
	data, err := json.Marshal(s)
	if err != nil {
		panic("faults: a Status does not encode: " + err.Error()) // not possible for strings and numbers
	}
	return append(data, '\n')
}

// protobufStatus encodes a Status in protobuf, including its envelope.
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
