// Package core has the validation that the tags of k8s.io/api/core/v1 stand for. It is generated.
//
// +k8s:validation-gen=TypesWithSuffix=Toleration
// +k8s:validation-gen-scheme-registry=nil
// +k8s:validation-gen-input=k8s.io/api/core/v1
package core
