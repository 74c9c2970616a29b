// Package kubeapiserver is the process named kube-apiserver of a control plane: it parses its
// flags, opens its port, and passes both to the etcd process of --etcd-servers, which serves the
// API (package controlplane).
//
// It ends at SIGTERM and SIGINT, gracefully, when its parent process ends, and with an error when
// the etcd process ends.
package kubeapiserver
