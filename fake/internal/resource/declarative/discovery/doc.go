// Package discovery has the validation that the tags of k8s.io/api/discovery/v1 stand for. It is
// generated.
//
// +k8s:validation-gen=TypesWithField=TypeMeta
// +k8s:validation-gen-scheme-registry=nil
// +k8s:validation-gen-input=k8s.io/api/discovery/v1
package discovery
