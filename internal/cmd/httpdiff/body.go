package httpdiff

import (
	"bytes"
	"compress/gzip"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"example.com/fakeapi/internal/frames"
)

// Forms of a body other than JSON, see [BodyAs].
const (
	AsText     = "text"     // the exact text
	AsSummary  = "summary"  // the keys of a large JSON object, with the sizes of their values
	AsProtobuf = "protobuf" // the envelope of a protobuf message; all of a Status
	AsHex      = "hex"      // the first twelve bytes
)

// maxBodySize is the maximum size of a response body in bytes, before and after decompression.
const maxBodySize = 64 << 20

// ReadBody reads a response body to its end and decompresses it.
func ReadBody(response *http.Response) ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(response.Body, maxBodySize))
	if err != nil || response.Header.Get("Content-Encoding") != "gzip" {
		return body, err
	}
	unpacked, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(unpacked, maxBodySize))
}

// BodyAs decodes a body for comparison in one of the forms above, or as JSON if form is "". An
// empty body is nil in every form. A body that cannot be decoded is returned as a text with the
// error.
func BodyAs(form string, body []byte) any {
	if len(body) == 0 {
		return nil
	}
	switch form {
	case AsText:
		return string(body)
	case AsHex:
		return hex.EncodeToString(body[:min(len(body), 12)])
	case AsProtobuf:
		return Envelope(body)
	}
	var v any
	if err := Decode(body, &v); err != nil {
		return fmt.Sprintf("invalid JSON: %.200q", body)
	}
	if form == AsSummary {
		return summary(v)
	}
	return v
}

// summary lists the keys of an object: k{n} for an object with n keys, k[n] for an array of n
// items, k for other values.
func summary(v any) any {
	m, ok := v.(map[string]any)
	if !ok {
		return fmt.Sprintf("not an object: %s", Short(v))
	}
	keys := []any{}
	for _, k := range sortedKeys(m) {
		switch x := m[k].(type) {
		case map[string]any:
			k = fmt.Sprintf("%s{%d}", k, len(x))
		case []any:
			k = fmt.Sprintf("%s[%d]", k, len(x))
		}
		keys = append(keys, k)
	}
	return map[string]any{"summary": keys}
}

// Envelope describes a protobuf message by the fields of its runtime.Unknown, and a Status by all
// its fields.
func Envelope(message []byte) any {
	wrapped, ok := bytes.CutPrefix(message, []byte(frames.ProtobufPrefix))
	if !ok {
		return fmt.Sprintf("invalid protobuf: %.200q", message)
	}
	var u runtime.Unknown
	if err := u.Unmarshal(wrapped); err != nil {
		return fmt.Sprintf("invalid protobuf: %v", err)
	}
	v := map[string]any{"magic": hex.EncodeToString([]byte(frames.ProtobufPrefix)), "apiVersion": u.APIVersion, "kind": u.Kind}
	var status metav1.Status
	if u.Kind == "Status" && status.Unmarshal(u.Raw) == nil {
		v["status"], v["reason"], v["message"], v["code"] = status.Status, status.Reason, status.Message, status.Code
	} else {
		v["contentType"], v["contentEncoding"], v["hasRaw"] = u.ContentType, u.ContentEncoding, len(u.Raw) > 0
	}
	return toJSON(v)
}

// toJSON converts a Go value to the types that Decode returns.
func toJSON(v any) any {
	var out any
	if err := Decode([]byte(jsonText(v)), &out); err != nil {
		return err.Error()
	}
	return out
}
