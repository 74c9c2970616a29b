package systemobjects

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"math"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/google/uuid"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"example.com/fakeapi/fake/internal/codec"
	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/fake/internal/serviceallocator"
	"example.com/fakeapi/memstore"
)

// The placeholders in encoded objects. They are as long as what replaces them, except for the port,
// which follows the resourceVersion in all objects. It is longer than a port, so that it is not
// found in something else, such as the base64 of a certificate.
const (
	placeholderUID  = "00000000-0000-4000-8000-000000000000"
	placeholderPort = math.MaxInt32
	secondLayout    = "2006-01-02T15:04:05"
	dayLayout       = "2006-01-02"
)

var placeholderTime = metav1.NewTime(time.Date(1970, 1, 2, 3, 4, 5, 0, time.UTC))

// encodedObject is the draft of an object with placeholders.
type encodedObject struct {
	key   string
	draft *memstore.Draft
}

// encodeDefault returns the objects for the default configuration. They are encoded once a process.
var encodeDefault = sync.OnceValues(func() ([]encodedObject, error) {
	c := Config{ServiceCIDRs: serviceallocator.DefaultConfig().ServiceClusterIPRange, Port: placeholderPort}
	configured, err := c.configured()
	if err != nil {
		return nil, err
	}
	others, err := common()
	if err != nil {
		return nil, err
	}
	return encode(slices.Concat(configured, others))
})

// Count returns how many objects Load stores for c, which depends only on System and
// BootstrapPolicy.
func Count(c Config) (int, error) {
	c.ServiceCIDRs, c.Authentication = serviceallocator.DefaultConfig().ServiceClusterIPRange, nil
	objects, err := encodeFor(c)
	return len(objects), err
}

// encodeFor returns the objects for c.
func encodeFor(c Config) (objects []encodedObject, err error) {
	if c.System {
		if objects, err = encodeSystem(c); err != nil {
			return nil, err
		}
	}
	if c.BootstrapPolicy {
		policy, err := encodePolicy()
		if err != nil {
			return nil, err
		}
		objects = slices.Concat(objects, policy)
	}
	return objects, nil
}

// encodeSystem returns the objects that are not of the bootstrap policy. Those that do not depend
// on c are the default ones.
func encodeSystem(c Config) ([]encodedObject, error) {
	objects, err := encodeDefault()
	if err != nil || len(c.Authentication) == 0 && slices.Equal(c.ServiceCIDRs, serviceallocator.DefaultConfig().ServiceClusterIPRange) {
		return objects, err
	}
	c.Port = placeholderPort
	configured, err := c.configured()
	if err != nil {
		return nil, err
	}
	encoded, err := encode(configured)
	if err != nil {
		return nil, err
	}
	return append(encoded, objects[len(encoded):]...), nil
}

// Load stores the objects for c in an empty store. Each is created at now, and its uid depends on
// seed and its name.
func Load(store *memstore.Store, c Config, seed [sha256.Size]byte, now time.Time) error {
	objects, err := encodeFor(c)
	if err != nil {
		return err
	}
	r := newReplacer(now, c.Port)
	return store.Load(func(tx *memstore.Tx) error {
		for _, o := range objects {
			if err := tx.Put(o.key, r.replace(o.draft, newUID(seed, o.key))); err != nil {
				return fmt.Errorf("%s: %w", o.key, err)
			}
		}
		return nil
	})
}

// newUID returns the uid of the object with a key.
func newUID(seed [sha256.Size]byte, key string) string {
	return uuid.NewHash(sha256.New(), uuid.UUID(seed[:16]), []byte(key), 4).String()
}

// replacer replaces the placeholders in drafts.
type replacer struct {
	placeholders, values replacements
	buffer               []byte // the data of the last result, which the store has copied
}

// replacements are the texts of what differs between servers.
type replacements struct{ second, day, port []byte }

func newReplacements(at time.Time, port int32) replacements {
	second := at.UTC().AppendFormat(nil, secondLayout)
	return replacements{second: second, day: second[:len(dayLayout)], port: strconv.AppendInt(nil, int64(port), 10)}
}

func newReplacer(now time.Time, port int32) *replacer {
	return &replacer{placeholders: newReplacements(placeholderTime.Time, placeholderPort), values: newReplacements(now, port)}
}

// replace returns a copy of d for an object with a uid. Its data is valid until the next call.
func (r *replacer) replace(d *memstore.Draft, uid string) memstore.Draft {
	r.buffer = append(r.buffer[:0], d.Data...)
	overwrite(r.buffer, []byte(placeholderUID), []byte(uid))
	overwrite(r.buffer, r.placeholders.second, r.values.second)
	overwrite(r.buffer, r.placeholders.day, r.values.day)
	if bytes.Contains(r.buffer, r.placeholders.port) {
		r.buffer = bytes.ReplaceAll(r.buffer, r.placeholders.port, r.values.port)
	}
	copied := *d
	copied.Data, copied.UID = r.buffer, uid
	return copied
}

// overwrite replaces old in data by a value of the same length.
func overwrite(data, old, value []byte) {
	for at := bytes.Index(data, old); at >= 0; at = bytes.Index(data, old) {
		copy(data[at:], value)
		data = data[at+len(old):]
	}
}

// encode returns the drafts of objects.
func encode(objects []runtime.Object) (encoded []encodedObject, err error) {
	for _, obj := range objects {
		key, res, err := keyOf(obj)
		if err != nil {
			return nil, err
		}
		m := resource.Accessor(obj)
		m.SetUID(placeholderUID)
		m.SetCreationTimestamp(placeholderTime)
		if res.HasGeneration {
			m.SetGeneration(1)
		}
		draft, err := codec.EncodeDraft(res, res.Canonical(obj), nil)
		if err != nil {
			return nil, err
		}
		encoded = append(encoded, encodedObject{key, draft})
	}
	return encoded, nil
}

// kindOf returns the kind of an object.
func kindOf(obj runtime.Object) (schema.GroupVersionKind, error) {
	if _, ok := obj.(*apiregistrationv1.APIService); ok {
		return apiregistrationv1.SchemeGroupVersion.WithKind("APIService"), nil
	}
	kinds, _, err := scheme.Scheme.ObjectKinds(obj)
	if err != nil {
		return schema.GroupVersionKind{}, err
	}
	return kinds[0], nil
}
