package core

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// canonicalizeConfigMap stores a binary value of null as an empty one.
func canonicalizeConfigMap(obj runtime.Object) { setEmptyValues(obj.(*corev1.ConfigMap).BinaryData) }

// setEmptyValues replaces nil by an empty value, which is the same in protobuf.
func setEmptyValues(data map[string][]byte) {
	for key, value := range data {
		if value == nil {
			data[key] = []byte{}
		}
	}
}
