package encode

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/fakeapi/fake/internal/codec"
	"example.com/fakeapi/fake/internal/negotiate"
	"example.com/fakeapi/memstore"
)

// listBuffer is how much of a list is gathered before it goes to the network.
const listBuffer = 32 << 10

// WriteList writes a list of records. Items of a built-in list carry no kind and
// apiVersion of their own (LS-02), custom resources and those of a
// PartialObjectMetadataList do. With
// an error nothing has been written; that the client has gone is none, as nobody
// is left to tell.
func (p *Encoder) WriteList(w http.ResponseWriter, list metav1.ListMeta, items []*memstore.Record) error {
	if p.table != nil {
		return p.tableList(w, list, items)
	}
	if p.out.Media == negotiate.YAML {
		return p.yamlList(w, list, items)
	}
	bodies, err := p.bodies(items)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", p.ContentType(false))
	switch p.out.Media {
	case negotiate.Protobuf:
		return p.protobufList(w, list, bodies)
	case negotiate.CBOR:
		return p.cborList(w, list, bodies)
	}
	frame, err := p.frameOf(list)
	if err != nil {
		return err
	}
	if p.nullItems(len(items)) {
		frame = strings.TrimSuffix(frame, "[") + "null"
	}
	if p.out.Pretty {
		var plain bytes.Buffer
		p.jsonList(&plain, frame, bodies)
		b, err := p.finish(plain.Bytes())
		if err != nil {
			return err
		}
		w.Header().Set("Content-Length", strconv.Itoa(len(b)))
		_, _ = w.Write(b)
		return nil
	}
	size := len(frame) + len(p.listEnd(len(bodies))) + 1 + max(len(bodies)-1, 0) + len(bodies)*len(p.itemHead())
	for _, body := range bodies {
		size += len(body) - min(len(p.itemHead()), 1)
	}
	w.Header().Set("Content-Length", strconv.Itoa(size))
	buffered := bufio.NewWriterSize(w, min(listBuffer, size))
	p.jsonList(buffered, frame, bodies)
	_ = buffered.WriteByte('\n')
	_ = buffered.Flush()
	return nil
}

// bodies gathers the pieces of the items.
func (p *Encoder) bodies(items []*memstore.Record) ([][]byte, error) {
	bodies := make([][]byte, len(items))
	for i, rec := range items {
		var err error
		if bodies[i], err = p.body(rec); err != nil {
			return nil, err
		}
	}
	return bodies, nil
}

// piecewise is what a list is written to: failures stay with the writer and
// show at the end.
type piecewise interface {
	io.Writer
	io.ByteWriter
	io.StringWriter
}

// listEnd closes the JSON of a list.
func (p *Encoder) listEnd(items int) string {
	if p.nullItems(items) {
		return "}"
	}
	return "]}"
}

// nullItems reports whether the items of a list of so many are null: those of metadata
// only, if there are none.
func (p *Encoder) nullItems(items int) bool { return items == 0 && p.out.Form != negotiate.Full }

// frameOf is the JSON of a list up to its first item.
func (p *Encoder) frameOf(list metav1.ListMeta) (string, error) {
	kind := p.kind
	kind.Kind = p.listKind()
	metadata, err := p.listMeta(list)
	if err != nil {
		return "", err
	}
	return head(kind) + `"metadata":` + string(metadata) + `,"items":[`, nil
}

// listMeta is the metadata of a list in JSON. A list of custom resources always has a
// continue.
func (p *Encoder) listMeta(list metav1.ListMeta) (json.RawMessage, error) {
	metadata, err := json.Marshal(list)
	if err == nil && p.res.Custom != nil && p.out.Form == negotiate.Full && list.Continue == "" {
		metadata = append([]byte(`{"continue":"",`), metadata[1:]...)
	}
	return metadata, err
}

// itemHead is the type that each item begins with, "" for none.
func (p *Encoder) itemHead() string {
	if p.out.Form == negotiate.Full && p.res.Custom == nil {
		return ""
	}
	return p.head
}

func (p *Encoder) jsonList(w piecewise, frame string, bodies [][]byte) {
	_, _ = w.WriteString(frame)
	itemHead := p.itemHead()
	for i, body := range bodies {
		if i > 0 {
			_ = w.WriteByte(',')
		}
		if itemHead != "" {
			_, _ = w.WriteString(itemHead)
			body = body[1:]
		}
		_, _ = w.Write(body)
	}
	_, _ = w.WriteString(p.listEnd(len(bodies)))
}

func (p *Encoder) listKind() string {
	if p.out.Form != negotiate.Full {
		return "PartialObjectMetadataList"
	}
	return p.res.ListKind
}

func (p *Encoder) protobufList(w http.ResponseWriter, list metav1.ListMeta, bodies [][]byte) error {
	metadata, err := list.Marshal()
	if err != nil {
		return err
	}
	size := codec.FieldSize(len(metadata))
	for _, body := range bodies {
		size += codec.FieldSize(len(body))
	}
	version, kind := p.kind.GroupVersion().String(), p.listKind()
	whole := codec.EnvelopeSize(version, kind, size)
	w.Header().Set("Content-Length", strconv.Itoa(whole))
	buffered := bufio.NewWriterSize(w, min(listBuffer, whole))
	scratch := codec.AppendEnvelope(make([]byte, 0, 128), version, kind, size)
	scratch = codec.AppendField(scratch, 1, len(metadata))
	_, _ = buffered.Write(scratch)
	_, _ = buffered.Write(metadata)
	for _, body := range bodies {
		_, _ = buffered.Write(codec.AppendField(scratch[:0], 2, len(body)))
		_, _ = buffered.Write(body)
	}
	_, _ = buffered.Write(codec.EnvelopeEnd())
	_ = buffered.Flush()
	return nil
}
