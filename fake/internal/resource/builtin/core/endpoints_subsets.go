//lint:file-ignore SA1019 Endpoints are served

package core

import (
	"bytes"
	"cmp"
	"crypto/md5"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/dump"
)

// canonicalizeEndpoints groups the addresses of Endpoints: those with equal ports are in one subset,
// and none is both ready and not ready. The order follows from hashes, as in a real server. It leaves
// subsets that are not valid as they are, since their errors have the indices of the request.
func canonicalizeEndpoints(obj runtime.Object) {
	e := obj.(*corev1.Endpoints)
	if isCanonical(e.Subsets) || len(validateEndpoints(e)) > 0 {
		return
	}
	e.Subsets = repackSubsets(e.Subsets)
}

// isCanonical reports whether there is nothing to group or to sort, as is the case for most Endpoints
// of a test.
func isCanonical(subsets []corev1.EndpointSubset) bool {
	switch len(subsets) {
	case 0:
		return true
	case 1:
		s := &subsets[0]
		return len(s.Addresses)+len(s.NotReadyAddresses) == 1 && len(s.Ports) <= 1
	}
	return false
}

// addressKey identifies an address. Two objects may have the same IP.
type addressKey struct {
	ip  string
	uid types.UID
}

func keyOf(a *corev1.EndpointAddress) addressKey {
	key := addressKey{ip: a.IP}
	if a.TargetRef != nil {
		key.uid = a.TargetRef.UID
	}
	return key
}

// portAddresses are the addresses of one port, and whether each is ready. ports has no element for
// subsets without ports.
type portAddresses struct {
	ports []corev1.EndpointPort
	ready map[addressKey]bool
}

func repackSubsets(subsets []corev1.EndpointSubset) []corev1.EndpointSubset {
	addresses, ports := expandSubsets(subsets)
	// Ports with the same addresses are in one subset.
	groups := make(map[string]*portAddresses, len(ports))
	for _, p := range ports {
		hash := hashAddresses(addresses, p.ready)
		if g := groups[hash]; g != nil {
			g.ports = append(g.ports, p.ports...)
		} else {
			groups[hash] = p
		}
	}
	packed := make([]corev1.EndpointSubset, 0, len(groups))
	for _, g := range groups {
		packed = append(packed, newSubset(addresses, g))
	}
	sortByHash(packed)
	return packed
}

// expandSubsets returns the addresses, and for each port the addresses that have it.
func expandSubsets(subsets []corev1.EndpointSubset) (map[addressKey]*corev1.EndpointAddress, map[corev1.EndpointPort]*portAddresses) {
	addresses := make(map[addressKey]*corev1.EndpointAddress)
	ports := make(map[corev1.EndpointPort]*portAddresses)
	add := func(port corev1.EndpointPort, list []corev1.EndpointAddress, ready bool) {
		p := ports[port]
		if p == nil {
			p = &portAddresses{ready: make(map[addressKey]bool)}
			if port.Port != noPort {
				p.ports = []corev1.EndpointPort{port}
			}
			ports[port] = p
		}
		for i := range list {
			key := keyOf(&list[i])
			if addresses[key] == nil {
				addresses[key] = &list[i]
			}
			if was, known := p.ready[key]; !known || was {
				p.ready[key] = ready
			}
		}
	}
	for i := range subsets {
		s := &subsets[i]
		all := s.Ports
		if len(all) == 0 {
			all = []corev1.EndpointPort{{Port: noPort}}
		}
		for _, port := range all {
			add(port, s.Addresses, true)
			add(port, s.NotReadyAddresses, false)
		}
	}
	return addresses, ports
}

// noPort stands for the port of addresses without ports.
const noPort = -1

// newSubset returns the subset of a group, sorted.
func newSubset(addresses map[addressKey]*corev1.EndpointAddress, g *portAddresses) corev1.EndpointSubset {
	subset := corev1.EndpointSubset{Ports: g.ports}
	for key, ready := range g.ready {
		if ready {
			subset.Addresses = append(subset.Addresses, *addresses[key])
		} else {
			subset.NotReadyAddresses = append(subset.NotReadyAddresses, *addresses[key])
		}
	}
	slices.SortFunc(subset.Addresses, compareAddresses)
	slices.SortFunc(subset.NotReadyAddresses, compareAddresses)
	sortByHash(subset.Ports)
	return subset
}

// compareAddresses orders by IP and then by uid. An address without a reference is before others.
func compareAddresses(a, b corev1.EndpointAddress) int {
	if c := strings.Compare(a.IP, b.IP); c != 0 || a.TargetRef == nil && b.TargetRef == nil {
		return c
	}
	if a.TargetRef == nil {
		return -1
	}
	if b.TargetRef == nil {
		return 1
	}
	return cmp.Compare(a.TargetRef.UID, b.TargetRef.UID)
}

// hashAddresses returns a text that is equal for equal sets of addresses.
func hashAddresses(addresses map[addressKey]*corev1.EndpointAddress, ready map[addressKey]bool) string {
	keys := make([]addressKey, 0, len(ready))
	for key := range ready {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b addressKey) int {
		return cmp.Or(strings.Compare(a.ip, b.ip), cmp.Compare(a.uid, b.uid))
	})
	var text strings.Builder
	for _, key := range keys {
		text.WriteString(dump.ForHash(addresses[key]))
		text.WriteString(dump.ForHash(ready[key]))
	}
	return text.String()
}

// sortByHash sorts a list by the hashes of its elements.
func sortByHash[T any](list []T) {
	if len(list) < 2 {
		return
	}
	slices.SortStableFunc(list, func(a, b T) int {
		hashA, hashB := hashObject(a), hashObject(b)
		return bytes.Compare(hashA[:], hashB[:])
	})
}

// hashObject returns the hash by which a real server sorts, which is that of the text of an object.
// The types there are those of its package core.
func hashObject(v any) [md5.Size]byte {
	internal := strings.NewReplacer("(v1.", "(core.", "(*v1.", "(*core.", "([]v1.", "([]core.")
	return md5.Sum([]byte(internal.Replace(dump.ForHash(v))))
}
