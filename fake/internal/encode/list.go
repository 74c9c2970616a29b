package encode

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/fakeapi/fake/internal/codec"
	"example.com/fakeapi/fake/internal/negotiate"
	"example.com/fakeapi/memstore"
)

// listBuffer is the size of the write buffer for lists, in bytes.
const listBuffer = 32 << 10

// WriteList writes a list of records. Items of a built-in list have no kind and apiVersion (LS-02);
// custom resources and the items of a PartialObjectMetadataList do. If it returns an error, nothing
// has been written. Errors of w are ignored, because the client is gone then.
func (e *Encoder) WriteList(w http.ResponseWriter, list metav1.ListMeta, items []*memstore.Record) error {
	if e.table != nil {
		return e.writeTable(w, list, items)
	}
	if e.out.Media == negotiate.YAML {
		return e.writeYAMLList(w, list, items)
	}
	bodies, err := e.itemBodies(items)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", e.ContentType(false))
	switch e.out.Media {
	case negotiate.Protobuf:
		return e.writeProtobufList(w, list, bodies)
	case negotiate.CBOR:
		return e.writeCBORList(w, list, bodies)
	}
	prefix, suffix, err := e.listEnds(list, len(items))
	if err != nil {
		return err
	}
	if e.out.Pretty {
		var plain bytes.Buffer
		e.writeJSONItems(&plain, prefix, bodies, suffix)
		b, err := e.format(plain.Bytes())
		if err != nil {
			return err
		}
		w.Header().Set("Content-Length", strconv.Itoa(len(b)))
		_, _ = w.Write(b)
		return nil
	}
	size := len(prefix) + len(suffix) + 1 + max(len(bodies)-1, 0) + len(bodies)*(len(e.itemTypeMeta())+len(e.bodyEnd))
	for _, body := range bodies {
		size += len(body) - min(len(e.itemTypeMeta()), 1)
	}
	w.Header().Set("Content-Length", strconv.Itoa(size))
	buffered := bufio.NewWriterSize(w, min(listBuffer, size))
	e.writeJSONItems(buffered, prefix, bodies, suffix)
	_ = buffered.WriteByte('\n')
	_ = buffered.Flush()
	return nil
}

// itemBodies returns the encoded bodies of the items.
func (e *Encoder) itemBodies(items []*memstore.Record) ([][]byte, error) {
	bodies := make([][]byte, len(items))
	for i, rec := range items {
		var err error
		if bodies[i], err = e.recordBody(rec); err != nil {
			return nil, err
		}
	}
	return bodies, nil
}

// listWriter is a writer of lists. Its errors are ignored: a bufio.Writer keeps the first one.
type listWriter interface {
	io.Writer
	io.ByteWriter
	io.StringWriter
}

// hasNullItems reports whether the items of a list are null instead of []: those of an empty list
// of metadata.
func (e *Encoder) hasNullItems(items int) bool { return items == 0 && e.out.Form != negotiate.Full }

// listEnds returns the JSON of a list up to its first item, and from the end of its last item. The
// keys of a list of custom resources are in alphabetical order.
func (e *Encoder) listEnds(list metav1.ListMeta, items int) (prefix, suffix string, err error) {
	kind := e.kind
	kind.Kind = e.listKind()
	metadata, err := json.Marshal(e.listMeta(list))
	if err != nil {
		return "", "", err
	}
	switch {
	case e.customJSON:
		return `{"apiVersion":"` + kind.GroupVersion().String() + `","items":[`,
			`],"kind":"` + kind.Kind + `","metadata":` + string(metadata) + `}`, nil
	case e.hasNullItems(items):
		return typeMetaJSON(kind) + `"metadata":` + string(metadata) + `,"items":null`, "}", nil
	}
	return typeMetaJSON(kind) + `"metadata":` + string(metadata) + `,"items":[`, "]}", nil
}

// listMeta returns the metadata of a list, to be encoded. A list of custom resources always has the
// field continue, and in JSON its keys are in alphabetical order.
func (e *Encoder) listMeta(list metav1.ListMeta) any {
	if e.res.Custom == nil || e.out.Form != negotiate.Full {
		return list
	}
	fields := map[string]any{"continue": list.Continue, "resourceVersion": list.ResourceVersion}
	if list.RemainingItemCount != nil {
		fields["remainingItemCount"] = *list.RemainingItemCount
	}
	return fields
}

// itemTypeMeta returns the TypeMeta that each item begins with, "" for none.
func (e *Encoder) itemTypeMeta() string {
	if e.out.Form == negotiate.Full && e.res.Custom == nil {
		return ""
	}
	return e.typeMeta
}

func (e *Encoder) writeJSONItems(w listWriter, prefix string, bodies [][]byte, suffix string) {
	_, _ = w.WriteString(prefix)
	typeMeta := e.itemTypeMeta()
	for i, body := range bodies {
		if i > 0 {
			_ = w.WriteByte(',')
		}
		if typeMeta != "" {
			_, _ = w.WriteString(typeMeta)
			body = body[1:]
		}
		_, _ = w.Write(body)
		_, _ = w.WriteString(e.bodyEnd)
	}
	_, _ = w.WriteString(suffix)
}

func (e *Encoder) listKind() string {
	if e.out.Form != negotiate.Full {
		return "PartialObjectMetadataList"
	}
	return e.res.ListKind
}

func (e *Encoder) writeProtobufList(w http.ResponseWriter, list metav1.ListMeta, bodies [][]byte) error {
	metadata, err := list.Marshal()
	if err != nil {
		return err
	}
	size := codec.FieldSize(len(metadata))
	for _, body := range bodies {
		size += codec.FieldSize(len(body))
	}
	version, kind := e.kind.GroupVersion().String(), e.listKind()
	total := codec.EnvelopeSize(version, kind, size)
	w.Header().Set("Content-Length", strconv.Itoa(total))
	buffered := bufio.NewWriterSize(w, min(listBuffer, total))
	scratch := codec.AppendEnvelope(make([]byte, 0, 128), version, kind, size)
	_, _ = buffered.Write(scratch)
	write := func(field int, message []byte) {
		_, _ = buffered.Write(codec.AppendField(scratch[:0], field, len(message)))
		_, _ = buffered.Write(message)
	}
	itemField := 2
	if e.out.Beta { // a PartialObjectMetadataList of meta.k8s.io/v1beta1 has its items first
		itemField = 1
	} else {
		write(1, metadata)
	}
	for _, body := range bodies {
		write(itemField, body)
	}
	if e.out.Beta {
		write(2, metadata)
	}
	_, _ = buffered.Write(codec.EnvelopeEnd())
	_ = buffered.Flush()
	return nil
}
