//lint:file-ignore SA1019 Endpoints are served

package systemobjects

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"

	"example.com/fakeapi/fake/internal/codec"
	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/fake/internal/resource/builtin"
	"example.com/fakeapi/memstore"
)

// Reconcile stores the objects for c that a store with other objects lacks, except for the
// bootstrap policy, and sets the port and the authorities of c in those that have them, as a
// kube-apiserver does that starts again. seed and now are as for Load.
func Reconcile(store *memstore.Store, c Config, seed [sha256.Size]byte, now time.Time) error {
	c.BootstrapPolicy = false
	objects, err := encodeFor(c)
	if err != nil {
		return err
	}
	current := make(map[string]runtime.Object)
	if c.System {
		configured, err := c.configured()
		if err != nil {
			return err
		}
		for _, obj := range configured {
			key, _, err := keyOf(obj)
			if err != nil {
				return err
			}
			current[key] = obj
		}
	}
	r := newReplacer(now, c.Port)
	return store.Load(func(tx *memstore.Tx) error {
		hasOtherIP, err := c.hasOtherIP(tx)
		if err != nil {
			return err
		}
		for _, o := range objects {
			rec, isAddress := tx.Get(o.key), strings.HasPrefix(o.key, "ipaddresses."+networkingv1.GroupName+"/")
			switch {
			case rec == nil && isAddress && hasOtherIP:
				continue
			case rec == nil:
				err = tx.Put(o.key, r.replace(o.draft, newUID(seed, o.key)))
			case current[o.key] != nil:
				err = update(tx, rec, current[o.key])
			}
			if err != nil {
				return fmt.Errorf("%s: %w", o.key, err)
			}
		}
		return nil
	})
}

// hasOtherIP reports whether the Service kubernetes is stored with another cluster IP than that of
// c.
func (c *Config) hasOtherIP(tx *memstore.Tx) (bool, error) {
	rec := tx.Get("services/default/" + serviceName)
	if rec == nil {
		return false, nil
	}
	obj, err := codec.DecodeStored(builtin.Table().Lookup("", "v1", "services"), rec)
	if err != nil {
		return false, err
	}
	return obj.(*corev1.Service).Spec.ClusterIP != c.KubernetesServiceIP().String(), nil
}

// keyOf returns the key and the resource of an object.
func keyOf(obj runtime.Object) (string, *resource.Resource, error) {
	res, err := resourceOf(obj)
	if err != nil {
		return "", nil, err
	}
	m := resource.Accessor(obj)
	return codec.Key(res, m.GetNamespace(), m.GetName()), res, nil
}

// update stores what wanted has in a record, unless it has it.
func update(tx *memstore.Tx, rec *memstore.Record, wanted runtime.Object) error {
	res, err := resourceOf(wanted)
	if err != nil {
		return err
	}
	old, err := codec.DecodeStored(res, rec)
	if err != nil {
		return err
	}
	updated := old.DeepCopyObject()
	switch wanted := res.Canonical(wanted.DeepCopyObject()).(type) {
	case *corev1.Service:
		updated.(*corev1.Service).Spec.Ports = wanted.Spec.Ports
	case *corev1.Endpoints:
		updated.(*corev1.Endpoints).Subsets = wanted.Subsets
	case *discoveryv1.EndpointSlice:
		slice := updated.(*discoveryv1.EndpointSlice)
		slice.Endpoints, slice.Ports = wanted.Endpoints, wanted.Ports
	case *corev1.ConfigMap:
		mergeAuthentication(updated.(*corev1.ConfigMap), wanted.Data)
	}
	if equality.Semantic.DeepEqual(old, updated) {
		return nil
	}
	if m := resource.Accessor(updated); m.GetGeneration() > 0 {
		m.SetGeneration(m.GetGeneration() + 1)
	}
	draft, err := codec.EncodeDraft(res, updated, nil)
	if err != nil {
		return err
	}
	return tx.Put(rec.Key, *draft)
}

// mergeAuthentication sets the configuration of the authentication in its ConfigMap. The
// authorities of other API servers on the same storage stay.
func mergeAuthentication(m *corev1.ConfigMap, data map[string]string) {
	for key, value := range data {
		if m.Data == nil {
			m.Data = map[string]string{}
		}
		if old := m.Data[key]; strings.HasSuffix(key, "client-ca-file") && !strings.Contains(old, value) {
			value = old + value
		} else if strings.HasSuffix(key, "client-ca-file") {
			value = old
		}
		m.Data[key] = value
	}
}

// resourceOf returns the built-in resource of an object.
func resourceOf(obj runtime.Object) (*resource.Resource, error) {
	kind, err := kindOf(obj)
	if err != nil {
		return nil, err
	}
	return builtin.Table().LookupKind(kind), nil
}
