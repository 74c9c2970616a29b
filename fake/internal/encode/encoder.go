package encode

import (
	"bytes"
	"encoding/json"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"example.com/fakeapi/fake/internal/codec"
	"example.com/fakeapi/fake/internal/jsonvalue"
	"example.com/fakeapi/fake/internal/negotiate"
	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/memstore"
)

// Encoder encodes objects of one resource in the form that a client accepts.
type Encoder struct {
	res  *resource.Resource
	out  negotiate.Output
	kind schema.GroupVersionKind
	// typeMeta is the beginning of the JSON of an object: the opening brace, kind and apiVersion. It
	// is the opening brace if customJSON is set. In CBOR it is the two encoded pairs.
	typeMeta string
	// cacheKey is the key under which the encoding is cached with a record, "" if the encoding is
	// the stored form itself.
	cacheKey string
	// customJSON reports that codec.ConvertedJSON makes and caches the encoding, which has the kind
	// and apiVersion.
	customJSON bool
	// metadataOnly reports that a body is the beginning of the stored form, up to the end of the
	// metadata. bodyEnd follows each body.
	metadataOnly bool
	bodyEnd      string
	// decorated reports that Decorate was called.
	decorated bool
	// table encodes rows. It is nil unless the form is a Table.
	table *tableEncoder
}

// NewEncoder returns an Encoder of r for the negotiated output.
func NewEncoder(r *resource.Resource, out negotiate.Output) *Encoder {
	e := &Encoder{res: r, out: out, kind: r.GroupVersionKind()}
	if out.Form != negotiate.Full {
		e.kind = schema.GroupVersionKind{Group: metav1.GroupName, Version: "v1", Kind: "PartialObjectMetadata"}
		if out.Beta {
			e.kind.Version = "v1beta1"
		}
	}
	switch {
	case out.Form == negotiate.Table:
		e.kind.Kind = "Table"
	case out.Form != negotiate.Full && out.Media == negotiate.Protobuf:
		e.cacheKey = "protobuf partial" + conversionCacheKey(r)
	case out.Form != negotiate.Full && out.Media == negotiate.CBOR:
		e.cacheKey = "cbor partial" + conversionCacheKey(r)
	case out.Media == negotiate.CBOR:
		e.cacheKey = "cbor " + r.Version + "." + r.Group + conversionCacheKey(r)
	case out.Form != negotiate.Full && r.Custom == nil && r.GroupVersion() == r.StorageVersion:
		e.cacheKey, e.metadataOnly, e.bodyEnd = "metadata", true, "}"
	case out.Form != negotiate.Full:
		e.cacheKey = "json partial " + r.Version + "." + r.Group + conversionCacheKey(r)
	case out.Media == negotiate.Protobuf:
		e.cacheKey = "protobuf " + r.Version + "." + r.Group
	case r.Custom != nil:
		e.customJSON = true
	case r.GroupVersion() != r.StorageVersion:
		e.cacheKey = "json " + r.Version + "." + r.Group
	}
	switch {
	case out.Media == negotiate.CBOR:
		e.typeMeta = cborTypeMeta(e.kind)
	case e.customJSON:
		e.typeMeta = "{"
	default:
		e.typeMeta = typeMetaJSON(e.kind)
	}
	return e
}

// conversionCacheKey returns a suffix for cache keys that differs between the versions of a custom
// resource, and between states of its CustomResourceDefinition that convert differently. It is ""
// for built-in types.
func conversionCacheKey(r *resource.Resource) string {
	if r.Custom == nil {
		return ""
	}
	return " " + r.Custom.CacheKey()
}

func typeMetaJSON(kind schema.GroupVersionKind) string {
	return `{"kind":"` + kind.Kind + `","apiVersion":"` + kind.GroupVersion().String() + `",`
}

// Media returns the encoding of responses.
func (e *Encoder) Media() negotiate.Media { return e.out.Media }

// ContentType returns the Content-Type of a response, or of a watch if stream is set.
func (e *Encoder) ContentType(stream bool) string {
	return negotiate.ContentType(e.out.Media, stream)
}

// recordBody returns the encoded body of a record: JSON or CBOR without TypeMeta, JSON of a custom
// resource with it, or a protobuf message. e.bodyEnd follows it.
func (e *Encoder) recordBody(rec *memstore.Record) ([]byte, error) {
	if e.table != nil {
		return e.table.encodeRecord(rec)
	}
	cacheKey := e.cacheKey
	switch {
	case e.customJSON:
		return codec.ConvertedJSON(e.res, rec)
	case cacheKey == "" && !e.isDecorated(rec):
		return rec.Data, nil
	case cacheKey == "":
		cacheKey = "json decorated"
	case e.metadataOnly:
		return rec.CachedEncoding(cacheKey, codec.MetadataOnly)
	}
	return rec.CachedEncoding(cacheKey, func(rec *memstore.Record) ([]byte, error) {
		if e.res.Custom != nil && e.out.Media == negotiate.JSON { // of the metadata
			if body, ok, err := customMetadata(e.res, rec); ok || err != nil {
				return body, err
			}
		}
		obj, err := codec.DecodeServed(e.res, rec)
		if err != nil {
			return nil, err
		}
		return e.encodeBody(obj)
	})
}

// CacheObject caches the encoding of a record of a built-in type whose object is obj, of the
// storage version, so that the record need not be decoded. It may change obj.
func (e *Encoder) CacheObject(rec *memstore.Record, obj runtime.Object) error {
	if e.table != nil || e.metadataOnly || e.cacheKey == "" {
		return nil
	}
	_, err := rec.CachedEncoding(e.cacheKey, func(rec *memstore.Record) ([]byte, error) {
		resource.Accessor(obj).SetResourceVersion(rec.Revision.String())
		served, err := e.res.Convert(obj, e.res.GroupVersion())
		if err != nil {
			return nil, err
		}
		return e.encodeBody(served)
	})
	return err
}

// encodeBody returns the encoded body of an object of the served version, as recordBody does. It
// may change obj.
func (e *Encoder) encodeBody(obj runtime.Object) ([]byte, error) {
	if e.table != nil {
		return e.table.encodeObject(obj)
	}
	if d := e.decorator(); d != nil {
		d.Decorate(obj)
	}
	if e.out.Form != negotiate.Full {
		m, err := meta.Accessor(obj)
		if err != nil {
			return nil, err
		}
		obj = meta.AsPartialObjectMetadata(m)
	}
	if e.metadataOnly {
		body, err := json.Marshal(codec.WithoutTypeMeta(obj))
		return bytes.TrimSuffix(body, []byte(e.bodyEnd)), err
	}
	if e.customJSON {
		obj.GetObjectKind().SetGroupVersionKind(e.kind)
		return jsonvalue.Append(nil, obj.(*unstructured.Unstructured).Object)
	}
	switch untyped := codec.WithoutTypeMeta(obj); e.out.Media {
	case negotiate.Protobuf:
		return codec.MarshalProtobuf(untyped)
	case negotiate.CBOR:
		return codec.MarshalCBOR(untyped)
	default:
		return json.Marshal(untyped)
	}
}

// EncodeRecord returns the response for one stored object. It is in buffer, which must be empty and
// may be nil, if that is large enough and the encoding allows it.
func (e *Encoder) EncodeRecord(rec *memstore.Record, buffer []byte) ([]byte, error) {
	body, err := e.recordBody(rec)
	if err != nil {
		return nil, err
	}
	return e.formatBody(body, buffer)
}

// EncodeObject returns the response for an object of the served version that is not stored. It may
// change obj.
func (e *Encoder) EncodeObject(obj runtime.Object) ([]byte, error) {
	body, err := e.encodeBody(obj)
	if err != nil {
		return nil, err
	}
	return e.formatBody(body, nil)
}

// formatBody returns the response for an encoded body. For buffer, see EncodeRecord.
func (e *Encoder) formatBody(body, buffer []byte) ([]byte, error) {
	if e.out.Media == negotiate.CBOR {
		return e.addCBORTypeMeta(buffer, body)
	}
	return e.format(e.addTypeMeta(buffer, body))
}

// addTypeMeta appends body with its TypeMeta, or in its envelope.
func (e *Encoder) addTypeMeta(b, body []byte) []byte {
	if e.out.Media == negotiate.Protobuf {
		b = codec.AppendEnvelope(b, e.kind.GroupVersion().String(), e.kind.Kind, len(body))
		b = append(b, body...)
		return append(b, codec.EnvelopeEnd()...)
	}
	b = append(slices.Grow(b, len(e.typeMeta)+len(body)+len(e.bodyEnd)+len("\n")), e.typeMeta...)
	return append(append(b, body[1:]...), e.bodyEnd...)
}

func (e *Encoder) format(b []byte) ([]byte, error) { return formatDocument(e.out, b) }

// formatDocument returns JSON in the format that the client accepts: one line, indented, or YAML.
func formatDocument(out negotiate.Output, b []byte) ([]byte, error) {
	switch {
	case out.Media == negotiate.Protobuf, out.Media == negotiate.CBOR:
		return b, nil
	case out.Media == negotiate.YAML:
		return yaml.JSONToYAML(b)
	case out.Pretty:
		var indented bytes.Buffer
		if err := json.Indent(&indented, b, "", "  "); err != nil {
			return nil, err
		}
		return indented.Bytes(), nil
	}
	return append(b, '\n'), nil
}

// EncodeDocument returns the response for an object that is not a resource, for instance a Status
// or a discovery document.
func EncodeDocument(out negotiate.Output, obj runtime.Object) ([]byte, error) {
	switch out.Media {
	case negotiate.Protobuf:
		message, err := codec.MarshalProtobuf(obj)
		if err != nil {
			return nil, err
		}
		kind := obj.GetObjectKind().GroupVersionKind()
		return codec.Envelope(kind.GroupVersion().String(), kind.Kind, message), nil
	case negotiate.CBOR:
		return appendCBORDocument(nil, obj)
	}
	b, err := json.Marshal(obj)
	if err != nil {
		return nil, err
	}
	return formatDocument(out, b)
}
