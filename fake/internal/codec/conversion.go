package codec

import (
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/fakeapi/fake/internal/crd/versions"
	"example.com/fakeapi/fake/internal/jsonvalue"
	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/memstore"
)

// ConversionError reports a custom resource whose conversion to the requested version failed. Its
// text is that of a real server's storage layer.
type ConversionError struct {
	Resource schema.GroupResource
	Record   *memstore.Record
	Err      error
}

func (e *ConversionError) Error() string {
	return fmt.Sprintf("object not decodable revision=%d: %v", e.Record.Revision, e.Err)
}

func (e *ConversionError) Unwrap() error { return e.Err }

// Path returns the key of the object in etcd on a real server, without the root prefix.
func (e *ConversionError) Path() string {
	_, rest, _ := strings.Cut(e.Record.Key, "/")
	return "/" + e.Resource.Group + "/" + e.Resource.Resource + "/" + rest
}

// IsStoredAs reports whether rec's stored JSON is that of r's version, so that no conversion is
// needed.
func IsStoredAs(r *resource.Resource, rec *memstore.Record) bool {
	return r.Custom == nil && r.GroupVersion() == r.StorageVersion || r.Custom != nil && r.Custom.IsStoredAs(storedFormOf(rec))
}

// ConversionMayFail reports whether converting rec to r's version calls the conversion webhook, or
// fails because the version of rec was removed. The result of a call is cached with the record.
func ConversionMayFail(r *resource.Resource, rec *memstore.Record) bool {
	return r.Custom != nil && rec != nil && r.Custom.ConversionMayFail(storedFormOf(rec))
}

// ConvertedJSON returns the JSON of a custom resource in r's version, with its kind and apiVersion.
// The keys are in alphabetical order. The result of a conversion is cached with the record. If the
// conversion fails, the error is a *ConversionError, and the next call tries again.
func ConvertedJSON(r *resource.Resource, rec *memstore.Record) ([]byte, error) {
	if IsStoredAs(r, rec) {
		return rec.Data, nil
	}
	cacheKey := "json " + r.Custom.CacheKey()
	return rec.CachedEncoding(cacheKey, func(rec *memstore.Record) ([]byte, error) {
		// The address identifies the record for the duration of the call.
		return r.Custom.CRD().Do(fmt.Sprintf("%p %s", rec, cacheKey), func() ([]byte, error) {
			obj, err := ConvertUncached(r, rec)
			if err != nil {
				return nil, err
			}
			obj.GetObjectKind().SetGroupVersionKind(r.GroupVersionKind())
			return jsonvalue.Append(nil, obj.(*unstructured.Unstructured).Object)
		})
	})
}

// IsConversionCached reports whether ConvertedJSON returns without converting rec.
func IsConversionCached(r *resource.Resource, rec *memstore.Record) bool {
	if IsStoredAs(r, rec) {
		return true
	}
	_, err := rec.CachedEncoding("json "+r.Custom.CacheKey(), func(*memstore.Record) ([]byte, error) { return nil, errNotCached })
	return err == nil
}

// errNotCached is returned by the function that IsConversionCached passes to CachedEncoding.
var errNotCached = errors.New("the conversion is not cached")

// maxConversionErrors is the number of errors after which a list stops, as on a real server.
const maxConversionErrors = 100

// ConversionErrors has the errors of the records of a list that could not be converted. It is not
// empty.
type ConversionErrors []*ConversionError

func (l ConversionErrors) Error() string { return l[0].Error() }

// IsTruncated reports whether the list stopped before all records were converted.
func (l ConversionErrors) IsTruncated() bool { return len(l) == maxConversionErrors }

// ConvertAll converts records to r's version, which caches the results for the list that follows.
// If conversions fail, the error is a ConversionErrors.
func ConvertAll(r *resource.Resource, records []*memstore.Record) error {
	var failed ConversionErrors
	for _, rec := range records {
		if !ConversionMayFail(r, rec) {
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

// ConvertUncached decodes a custom resource and converts it to r's version, without using the
// cached result.
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

// DecodeForUpdate decodes a record that a write replaces. A custom resource is converted to r's
// version. As on a real server, a dry run does not use the cached result of the conversion, and any
// other write also converts the object to the storage version, whose error is that of the write.
func DecodeForUpdate(r *resource.Resource, rec *memstore.Record, dryRun bool) (runtime.Object, error) {
	if dryRun && ConversionMayFail(r, rec) {
		return ConvertUncached(r, rec)
	}
	obj, err := DecodeStored(r, rec)
	if u, ok := obj.(*unstructured.Unstructured); ok && err == nil && !dryRun && r.Custom.StoringMayFail() {
		revision := u.GetResourceVersion()
		u.SetResourceVersion("") // a webhook does not get it
		_, _, err = r.Custom.ToStorage(u)
		u.SetResourceVersion(revision)
	}
	return obj, err
}

// DecodeUnconverted decodes a record into an object of the version in which it is stored.
func DecodeUnconverted(r *resource.Resource, rec *memstore.Record, _ bool) (runtime.Object, error) {
	if r.Custom == nil {
		return DecodeStored(r, rec)
	}
	return parseStored(r, rec, rec.Data)
}

// DryRunResult returns a draft as r's version shows it, as if it were stored: a dry run makes the
// same conversions as a write, and reads what it has encoded. obj is the object that the draft was
// encoded from.
func DryRunResult(r *resource.Resource, draft *memstore.Draft, obj runtime.Object) (runtime.Object, error) {
	if r.Custom == nil {
		return obj, nil
	}
	field, _ := draft.Fields.Get(storedFormField)
	form := versions.StoredForm(field)
	if r.Custom.IsStoredAs(form) {
		return obj, nil
	}
	stored, err := jsonvalue.Decode(draft.Data)
	if err != nil {
		return nil, err
	}
	return r.Custom.FromStorage(&unstructured.Unstructured{Object: stored}, form)
}

// decodeCustomRecord decodes a record into an object of r's version.
func decodeCustomRecord(r *resource.Resource, rec *memstore.Record) (runtime.Object, error) {
	data, err := ConvertedJSON(r, rec)
	if err != nil {
		return nil, err
	}
	return decodeCustomJSON(r, rec, data)
}

// decodeCustomJSON decodes the JSON of a custom resource in r's version, or a part of it.
func decodeCustomJSON(r *resource.Resource, rec *memstore.Record, data []byte) (runtime.Object, error) {
	obj, err := parseStored(r, rec, data)
	if err != nil {
		return nil, err
	}
	obj.SetGroupVersionKind(r.GroupVersionKind())
	return obj, nil
}

func parseStored(r *resource.Resource, rec *memstore.Record, data []byte) (*unstructured.Unstructured, error) {
	object, err := jsonvalue.Decode(data)
	if err != nil {
		return nil, fmt.Errorf("stored %s %s does not decode: %w", r.Kind, rec.Key, err)
	}
	return &unstructured.Unstructured{Object: object}, nil
}

// HasIndexedFields reports whether the record itself has the values of the field selectors of r's
// version. If not, CustomFields reads them from the object.
func HasIndexedFields(r *resource.Resource, rec *memstore.Record) bool {
	if r.Custom == nil || len(r.Fields) == 0 {
		return true
	}
	if !IsStoredAs(r, rec) {
		return false
	}
	for _, f := range r.Fields {
		if _, has := rec.Fields.Get(f.Label); !has {
			return false
		}
	}
	return true
}

// CustomFields returns the values of the field selectors of r's version for a record.
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
