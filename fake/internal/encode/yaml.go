package encode

import (
	"bufio"
	"encoding/json"
	"net/http"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"example.com/fakeapi/memstore"
)

// yamlItem returns a record as a list item in YAML, with its dash. It is cached with the record:
// items have the same indentation in each list, so that long lines are folded equally.
func (e *Encoder) yamlItem(rec *memstore.Record) ([]byte, error) {
	return rec.CachedEncoding(e.yamlItemKey(), func(rec *memstore.Record) ([]byte, error) {
		body, err := e.recordBody(rec)
		if err != nil {
			return nil, err
		}
		item := append([]byte{'['}, e.itemTypeMeta()...)
		if e.itemTypeMeta() != "" {
			body = body[1:]
		}
		return yaml.JSONToYAML(append(append(append(item, body...), e.bodyEnd...), ']'))
	})
}

// yamlItemKey returns the key under which an item is cached. Items have their apiVersion, and
// custom resources what their CustomResourceDefinition makes of them.
func (e *Encoder) yamlItemKey() string {
	key := "yaml " + e.kind.GroupVersion().String() + " " + e.cacheKey
	if e.customJSON {
		key += conversionCacheKey(e.res)
	}
	return key
}

// writeYAMLList is WriteList for YAML. Keys are in alphabetical order.
func (e *Encoder) writeYAMLList(w http.ResponseWriter, list metav1.ListMeta, records []*memstore.Record) error {
	kind := e.kind
	kind.Kind = e.listKind()
	first, err := yaml.Marshal(map[string]string{"apiVersion": kind.GroupVersion().String()})
	if err != nil {
		return err
	}
	rest, err := json.Marshal(map[string]any{"kind": kind.Kind, "metadata": e.listMeta(list)})
	if err != nil {
		return err
	}
	last, err := yaml.JSONToYAML(rest)
	if err != nil {
		return err
	}
	items := "items:\n"
	switch {
	case e.hasNullItems(len(records)):
		items = "items: null\n"
	case len(records) == 0:
		items = "items: []\n"
	}
	size := len(first) + len(items) + len(last)
	bodies := make([][]byte, len(records))
	for i, rec := range records {
		if bodies[i], err = e.yamlItem(rec); err != nil {
			return err
		}
		size += len(bodies[i])
	}
	w.Header().Set("Content-Type", e.ContentType(false))
	w.Header().Set("Content-Length", strconv.Itoa(size))
	buffered := bufio.NewWriterSize(w, min(listBuffer, size))
	_, _ = buffered.Write(first)
	_, _ = buffered.WriteString(items)
	for _, body := range bodies {
		_, _ = buffered.Write(body)
	}
	_, _ = buffered.Write(last)
	_ = buffered.Flush()
	return nil
}
