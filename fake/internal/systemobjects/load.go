package systemobjects

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/google/uuid"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"

	"example.com/fakeapi/fake/internal/codec"
	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/fake/internal/resource/builtin"
	"example.com/fakeapi/memstore"
)

// The placeholders in encoded objects. They are as long as what replaces them, except for the port,
// which follows the resourceVersion in all objects.
const (
	placeholderUID  = "00000000-0000-4000-8000-000000000000"
	placeholderPort = 65535
	secondLayout    = "2006-01-02T15:04:05"
	dayLayout       = "2006-01-02"
)

var placeholderTime = metav1.NewTime(time.Date(1970, 1, 2, 3, 4, 5, 0, time.UTC))

// encodedObject is the draft of an object with placeholders.
type encodedObject struct {
	key   string
	draft *memstore.Draft
}

// DefaultServiceCIDR is the default range of cluster IPs, that of kubeadm.
func DefaultServiceCIDR() netip.Prefix { return netip.MustParsePrefix("10.96.0.0/12") }

// encodeDefault returns the objects for the default configuration. They are encoded once a process.
var encodeDefault = sync.OnceValues(func() ([]encodedObject, error) {
	return encode(&Config{ServiceCIDRs: []netip.Prefix{DefaultServiceCIDR()}, Port: placeholderPort})
})

// Count returns how many objects Load stores.
func Count(c Config) (int, error) {
	objects, err := encodeFor(c)
	return len(objects), err
}

func encodeFor(c Config) ([]encodedObject, error) {
	if c.ClientCA == "" && slices.Equal(c.ServiceCIDRs, []netip.Prefix{DefaultServiceCIDR()}) {
		return encodeDefault()
	}
	c.Port = placeholderPort
	return encode(&c)
}

// Load stores the objects for c in an empty store. Each is created at now, and its uid depends on
// seed and its name.
func Load(store *memstore.Store, c Config, seed [sha256.Size]byte, now time.Time) error {
	objects, err := encodeFor(c)
	if err != nil {
		return err
	}
	second := now.UTC().Format(secondLayout)
	replacer := placeholders{
		second: []byte(second), day: []byte(second[:len(dayLayout)]), port: strconv.AppendInt(nil, int64(c.Port), 10),
	}
	return store.Load(func(tx *memstore.Tx) error {
		for _, o := range objects {
			uid := uuid.NewHash(sha256.New(), uuid.UUID(seed[:16]), []byte(o.key), 4)
			if err := tx.Put(o.key, replacer.replace(o.draft, uid.String())); err != nil {
				return fmt.Errorf("%s: %w", o.key, err)
			}
		}
		return nil
	})
}

// placeholders has what replaces them.
type placeholders struct{ second, day, port []byte }

func (p *placeholders) replace(d *memstore.Draft, uid string) memstore.Draft {
	data := bytes.ReplaceAll(d.Data, []byte(placeholderUID), []byte(uid))
	data = bytes.ReplaceAll(data, []byte(placeholderTime.UTC().Format(secondLayout)), p.second)
	data = bytes.ReplaceAll(data, []byte(placeholderTime.UTC().Format(dayLayout)), p.day)
	data = bytes.ReplaceAll(data, strconv.AppendInt(nil, placeholderPort, 10), p.port)
	copied := *d
	copied.Data, copied.UID = data, uid
	return copied
}

// encode returns the drafts of the objects for c.
func encode(c *Config) (encoded []encodedObject, err error) {
	table := builtin.Table()
	for _, obj := range c.objects() {
		kinds, _, err := scheme.Scheme.ObjectKinds(obj)
		if err != nil {
			return nil, err
		}
		res := table.LookupKind(kinds[0])
		m := resource.Accessor(obj)
		m.SetUID(placeholderUID)
		m.SetCreationTimestamp(placeholderTime)
		if res.HasGeneration {
			m.SetGeneration(1)
		}
		draft, err := codec.EncodeDraft(res, res.Canonical(obj))
		if err != nil {
			return nil, err
		}
		encoded = append(encoded, encodedObject{codec.Key(res, m.GetNamespace(), m.GetName()), draft})
	}
	return encoded, nil
}
