package codec

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kjson "sigs.k8s.io/json"

	"example.com/fakeapi/fake/internal/crd/versions"
	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/memstore"
)

// ConversionError is that a record cannot be shown in a version of its custom resource: its
// conversion failed. It reads as a real server's storage says it.
type ConversionError struct {
	Resource schema.GroupResource
	Record   *memstore.Record
	Err      error
}

func (e *ConversionError) Error() string {
	return fmt.Sprintf("object not decodable revision=%d: %v", e.Record.Revision, e.Err)
}

func (e *ConversionError) Unwrap() error { return e.Err }

// Path is where a real server has the object, below the root of its storage.
func (e *ConversionError) Path() string {
	_, rest, _ := strings.Cut(e.Record.Key, "/")
	return "/" + e.Resource.Group + "/" + e.Resource.Resource + "/" + rest
}

// IsStoredAs reports whether a record is stored as r shows it.
func IsStoredAs(r *resource.Resource, rec *memstore.Record) bool {
	return r.Custom == nil && r.GroupVersion() == r.StorageVersion || r.Custom != nil && r.Custom.IsStoredAs(storedFormOf(rec))
}

// NeedsWebhook reports whether a webhook is called to show a record, unless it has been before: what
// it answered stays with the record.
func NeedsWebhook(r *resource.Resource, rec *memstore.Record) bool {
	return r.Custom != nil && rec != nil && r.Custom.NeedsWebhook(storedFormOf(rec))
}

// ConvertedJSON is the JSON of a custom resource in r's version, without its kind and apiVersion.
// Unless the record is stored so it is made once, and then kept with the record. What cannot be
// converted is an UnreadableError, and is tried again by whoever asks next.
func ConvertedJSON(r *resource.Resource, rec *memstore.Record) ([]byte, error) {
	if IsStoredAs(r, rec) {
		return rec.Data, nil
	}
	cacheKey := "json " + r.Custom.CacheKey()
	return rec.CachedEncoding(cacheKey, func(rec *memstore.Record) ([]byte, error) {
		// The address of the record is unique while the call lasts.
		return r.Custom.CRD().Do(fmt.Sprintf("%p %s", rec, cacheKey), func() ([]byte, error) {
			obj, err := ConvertUncached(r, rec)
			if err != nil {
				return nil, err
			}
			return json.Marshal(WithoutTypeMeta(obj))
		})
	})
}

// IsConversionCached reports whether Converted has nothing to do for a record.
func IsConversionCached(r *resource.Resource, rec *memstore.Record) bool {
	if IsStoredAs(r, rec) {
		return true
	}
	_, err := rec.CachedEncoding("json "+r.Custom.CacheKey(), func(*memstore.Record) ([]byte, error) { return nil, errNotCached })
	return err == nil
}

// errNotCached is the error of a piece that is only looked for.
var errNotCached = errors.New("it has not been made yet")

// maxConversionErrors is how many failures a list gathers before it ends, as a real server's.
const maxConversionErrors = 100

// ConversionErrors are the records of a list that cannot be shown.
type ConversionErrors []*ConversionError

func (l ConversionErrors) Error() string { return l[0].Error() }

// IsTruncated reports whether the list of failures ended before that of the records may have.
func (l ConversionErrors) IsTruncated() bool { return len(l) == maxConversionErrors }

// ConvertAll makes what lists of records in r's version are made of. The error is an
// UnreadableList if some of them cannot be converted.
func ConvertAll(r *resource.Resource, records []*memstore.Record) error {
	var failed ConversionErrors
	for _, rec := range records {
		if !NeedsWebhook(r, rec) {
			continue
		}
		_, err := ConvertedJSON(r, rec)
		var convErr *ConversionError
		switch {
		case errors.As(err, &convErr):
			failed = append(failed, convErr)
		case err != nil:
			return err
		}
		if failed.IsTruncated() {
			return failed
		}
	}
	if len(failed) > 0 {
		return failed
	}
	return nil
}

// ConvertUncached reads a custom resource in r's version, and converts it again if it has to be converted.
func ConvertUncached(r *resource.Resource, rec *memstore.Record) (runtime.Object, error) {
	obj, err := parseStored(r, rec, rec.Data)
	if err != nil {
		return nil, err
	}
	read, err := r.Custom.FromStorage(obj, storedFormOf(rec))
	if err != nil {
		return nil, &ConversionError{r.GroupResource(), rec, err}
	}
	return read, nil
}

// DryRunResult is what r's version would show of a draft if it were stored: a dry run goes through
// the same conversions as a write. obj is what the draft was made of.
func DryRunResult(r *resource.Resource, draft *memstore.Draft, obj runtime.Object) (runtime.Object, error) {
	if r.Custom == nil || r.Custom.IsStorage() {
		return obj, nil
	}
	stored := &unstructured.Unstructured{}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(draft.Data, &stored.Object); err != nil {
		return nil, err
	}
	form, _ := draft.Fields.Get(storedFormField)
	return r.Custom.FromStorage(stored, versions.StoredForm(form))
}

// decodeCustomRecord decodes a record into an object of r's version.
func decodeCustomRecord(r *resource.Resource, rec *memstore.Record) (runtime.Object, error) {
	data, err := ConvertedJSON(r, rec)
	if err != nil {
		return nil, err
	}
	obj, err := parseStored(r, rec, data)
	if err != nil {
		return nil, err
	}
	obj.SetGroupVersionKind(r.GroupVersionKind())
	return obj, nil
}

func parseStored(r *resource.Resource, rec *memstore.Record, data []byte) (*unstructured.Unstructured, error) {
	obj := &unstructured.Unstructured{}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(data, &obj.Object); err != nil {
		return nil, fmt.Errorf("stored %s %s does not decode: %w", r.Kind, rec.Key, err)
	}
	return obj, nil
}

// HasIndexedFields reports whether a record has the fields that r's version can be selected by. Those of
// a custom resource that it does not have are read of the object, see Fields.
func HasIndexedFields(r *resource.Resource, rec *memstore.Record) bool {
	if r.Custom == nil || len(r.Fields) == 0 {
		return true
	}
	if !r.Custom.IsStorage() || !IsStoredAs(r, rec) {
		return false
	}
	for _, f := range r.Fields {
		if _, has := rec.Fields.Get(f.Label); !has {
			return false
		}
	}
	return true
}

// CustomFields are the fields of a custom resource as r's version has them.
func CustomFields(r *resource.Resource, rec *memstore.Record) (map[string]string, error) {
	obj, err := decodeCustomRecord(r, rec)
	if err != nil {
		return nil, err
	}
	set := make(map[string]string, len(r.Fields))
	for _, f := range r.Fields {
		set[f.Label] = f.Value(obj)
	}
	return set, nil
}
