package auditlog

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kjson "k8s.io/apimachinery/pkg/runtime/serializer/json"
	auditinternal "k8s.io/apiserver/pkg/apis/audit"
	"k8s.io/apiserver/pkg/audit"
)

// Enabled reports whether the request of a context is logged.
func Enabled(ctx context.Context) bool { return audit.AuditContextFrom(ctx).Enabled() }

// hasLevel reports whether the request of a context is logged at a level.
func hasLevel(ctx context.Context, level auditinternal.Level) bool {
	ac := audit.AuditContextFrom(ctx)
	return ac.Enabled() && ac.GetEventLevel().GreaterOrEqual(level)
}

// LogRequestObject adds the object in the body of a request to its event: its name, namespace, uid
// and resourceVersion to the objectRef, and from the level Request on the object. The kind of the
// object must be set.
func LogRequestObject(ctx context.Context, obj runtime.Object, gvr schema.GroupVersionResource, subresource string) {
	if !Enabled(ctx) {
		return
	}
	s := kjson.NewSerializerWithOptions(kjson.DefaultMetaFactory, nil, nil, kjson.SerializerOptions{})
	info := runtime.SerializerInfo{MediaType: runtime.ContentTypeJSON, Serializer: s}
	audit.LogRequestObject(ctx, obj, obj.GetObjectKind().GroupVersionKind().GroupVersion(), gvr, subresource,
		runtime.NewSimpleNegotiatedSerializer(info))
}

// LogRequestPatch adds the patch in the body of a request, as JSON, to its event. patch is called
// only if the level is Request or higher.
func LogRequestPatch(ctx context.Context, patch func() ([]byte, error)) error {
	if !hasLevel(ctx, auditinternal.LevelRequest) {
		return nil
	}
	body, err := patch()
	if err == nil {
		audit.LogRequestPatch(ctx, body)
	}
	return err
}

// LogStatus adds a Status that is the body of the response to the event.
func LogStatus(ctx context.Context, s *metav1.Status) {
	if !Enabled(ctx) {
		return
	}
	audit.AuditContextFrom(ctx).LogResponseObject(s, nil)
	_ = LogResponseObject(ctx, func() ([]byte, error) { return json.Marshal(s) })
}

// LogResponseObject adds the body of the response to the event. encode returns it as JSON. It is
// called only if the level is RequestResponse. The error is that of encode.
func LogResponseObject(ctx context.Context, encode func() ([]byte, error)) error {
	if !hasLevel(ctx, auditinternal.LevelRequestResponse) {
		return nil
	}
	body, err := encode()
	if err == nil && stateOf(ctx).omitManagedFields {
		body, err = withoutManagedFields(body)
	}
	if err != nil {
		return fmt.Errorf("encoding the response for the audit log: %w", err)
	}
	audit.AuditContextFrom(ctx).LogResponseObject(nil, &runtime.Unknown{Raw: body, ContentType: runtime.ContentTypeJSON})
	return nil
}

// withoutManagedFields returns an object, a list or a Table without the managedFields of its
// objects.
func withoutManagedFields(body []byte) ([]byte, error) {
	var object map[string]json.RawMessage
	if err := json.Unmarshal(body, &object); err != nil {
		return nil, err
	}
	if err := removeManagedFields(object); err != nil {
		return nil, err
	}
	for _, list := range []string{"items", "rows"} {
		if err := editList(object, list, func(item map[string]json.RawMessage) error {
			if list == "rows" {
				return edit(item, "object", removeManagedFields)
			}
			return removeManagedFields(item)
		}); err != nil {
			return nil, err
		}
	}
	return json.Marshal(object)
}

func removeManagedFields(object map[string]json.RawMessage) error {
	return edit(object, "metadata", func(metadata map[string]json.RawMessage) error {
		delete(metadata, "managedFields")
		return nil
	})
}

// edit calls change with the object under a key, if there is one.
func edit(in map[string]json.RawMessage, key string, change func(map[string]json.RawMessage) error) error {
	if !bytes.HasPrefix(in[key], []byte("{")) {
		return nil
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(in[key], &object); err != nil {
		return err
	}
	if err := change(object); err != nil {
		return err
	}
	var err error
	in[key], err = json.Marshal(object)
	return err
}

// editList calls change with each item of the list under a key, if there is one.
func editList(in map[string]json.RawMessage, key string, change func(map[string]json.RawMessage) error) error {
	if !bytes.HasPrefix(in[key], []byte("[")) {
		return nil
	}
	var items []map[string]json.RawMessage
	if err := json.Unmarshal(in[key], &items); err != nil {
		return nil // not a list of objects
	}
	for _, item := range items {
		if err := change(item); err != nil {
			return err
		}
	}
	var err error
	in[key], err = json.Marshal(items)
	return err
}
