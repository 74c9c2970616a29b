package timeline

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	"example.com/fakeapi/internal/frames"
	"example.com/fakeapi/internal/requestinfo"
)

// secretFields has the fields of a resource whose values are secrets. They are those that kubectl
// does not print, and those of the resources that the audit policies of clusters do not record:
// Secrets, TokenRequests and TokenReviews.
type secretFields struct {
	// names are the names of the fields in JSON. All values below a field of that name are secrets.
	names []string
	// object has the fields of the object in protobuf, and status those of a Status.
	object, status protobufFields
}

// lastApplied is the annotation in which kubectl apply keeps the object as it was applied.
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// secretFieldsOf returns the fields of the resource of a request, or nil if it has no secrets.
func secretFieldsOf(info requestinfo.RequestInfo) *secretFields {
	switch {
	case info.Group == "" && info.Resource == "secrets":
		return &secretFields{names: []string{"data", "stringData", lastApplied}, object: secretProtobuf()}
	case info.Group == "" && info.Resource == "serviceaccounts" && info.Subresource == "token":
		return &secretFields{names: []string{"token"}, object: tokenRequestProtobuf()}
	case info.Group == "authentication.k8s.io" && info.Resource == "tokenreviews":
		return &secretFields{names: []string{"token"}, object: tokenReviewProtobuf()}
	}
	return nil
}

// redact returns the exchange without its secrets. Bodies are replaced, not changed.
func (e Exchange) redact() Exchange {
	e.Path = requestinfo.RedactURI(e.Path)
	fields := secretFieldsOf(e.Info)
	if fields == nil {
		return e
	}
	e.Request = fields.redact(e.Request)
	if quotesRequest(e.StatusCode) {
		fields.names = append(fields.names, "message")
		fields.status = statusProtobuf()
	}
	e.Response = fields.redact(e.Response)
	for i := range e.Frames {
		e.Frames[i].Body = fields.redact(e.Frames[i].Body)
	}
	return e
}

// quotesRequest reports whether the message of a Status with a code may quote the body of the
// request, as that of one that cannot be decoded.
func quotesRequest(code int) bool {
	return code == http.StatusBadRequest || code == http.StatusUnprocessableEntity || code >= http.StatusInternalServerError
}

// redact returns a body with the values of the fields replaced. What cannot be parsed is left out,
// because it may have secrets.
func (f *secretFields) redact(b Body) Body {
	if len(b.Data) == 0 {
		return b
	}
	missing := b.Size - int64(len(b.Data))
	data, dropped := f.redactData(b)
	if len(data) == 0 {
		data = []byte(requestinfo.Redacted)
		dropped = max(dropped, 1)
	}
	b.Data, b.Size = data, int64(len(data)+dropped)+missing
	return b
}

// redactData returns the redacted data, and how many bytes at the end of the body are left out.
func (f *secretFields) redactData(b Body) (data []byte, dropped int) {
	truncated := b.Size > int64(len(b.Data))
	switch start := bytes.TrimLeft(b.Data, " \t\r\n"); {
	case bytes.HasPrefix(start, []byte("{")), bytes.HasPrefix(start, []byte("[")):
		return f.redactJSON(b.Data)
	case b.ContentType == runtime.ContentTypeProtobuf:
		return f.redactProtobuf(b.Data), 0
	case truncated:
	case strings.HasSuffix(b.ContentType, "yaml"):
		if text, err := yaml.YAMLToJSON(b.Data); err == nil {
			if text, left := f.redactJSON(text); left == 0 {
				data, _ = yaml.JSONToYAML(text)
			}
		}
	case strings.Contains(b.ContentType, "cbor"):
		data = f.redactCBOR(b.Data)
	}
	if data == nil {
		dropped = len(b.Data)
	}
	return data, dropped
}

func (f *secretFields) redactCBOR(data []byte) []byte {
	text, err := frames.CBORToJSON(data)
	if err != nil {
		return nil
	}
	text, left := f.redactJSON(text)
	var value any
	if left > 0 || kjson.UnmarshalCaseSensitivePreserveInts(text, &value) != nil {
		return nil
	}
	data, err = direct.Marshal(value)
	if err != nil {
		return nil
	}
	return append([]byte(frames.CBORSelfDescribedTag), data...)
}

// jsonLevel is an object or a list around a position in JSON.
type jsonLevel struct {
	isObject, isSecret bool
	// field is the name of the field at the position. It is known if hasField is true.
	field    string
	hasField bool
}

// redactJSON replaces values. It keeps all other bytes as they are, up to where the text ends or is
// not JSON, and returns the number of bytes after that.
func (f *secretFields) redactJSON(text []byte) (redacted []byte, left int) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	levels := []jsonLevel{{}}
	names := f.names
	done := 0
	for {
		token, err := d.Token()
		if err != nil {
			if rest := text[done:]; len(levels) == 1 && len(bytes.TrimSpace(rest)) == 0 {
				return append(redacted, rest...), 0
			}
			return redacted, len(text) - done
		}
		piece := text[done:d.InputOffset()]
		done = int(d.InputOffset())
		at := &levels[len(levels)-1]
		switch name, _ := token.(string); {
		case token == json.Delim('}'), token == json.Delim(']'):
			levels = levels[:len(levels)-1]
		case at.isObject && !at.hasField:
			at.field, at.hasField = name, true
		default:
			isSecret := at.isSecret || at.isObject && slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, at.field) })
			at.hasField = false
			if delim, ok := token.(json.Delim); ok {
				if len(levels) == 1 && delim == '[' { // the operations of a JSON Patch
					names = append(slices.Clip(names), "value")
				}
				levels = append(levels, jsonLevel{isObject: delim == '{', isSecret: isSecret})
			} else if isSecret && token != nil && token != "" {
				redacted = append(redacted, piece[:len(piece)-len(bytes.TrimLeft(piece, " \t\r\n:,"))]...)
				piece = []byte(`"` + requestinfo.Redacted + `"`)
			}
		}
		redacted = append(redacted, piece...)
	}
}
