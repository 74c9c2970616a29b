// Package controlplane connects the processes of a control plane: kube-apiserver, which parses its
// flags and opens its port, and etcd, which keeps the objects and serves them.
//
// The process etcd listens on a Unix socket, and returns its address at Path of its client URLs.
// The process kube-apiserver connects to the socket, and passes its arguments, its working
// directory, its variables FAKEAPI_* and its files: the listener, stdout and stderr (SCM_RIGHTS).
// The etcd process serves there until the connection ends. A kube-apiserver that is killed closes
// it, and so does one that exits. A later kube-apiserver finds the objects again.
//
// Both processes must be of one user, which both check. On Linux the socket is an abstract one, so
// that no file remains, elsewhere a file in a directory of the user.
//
// ParentEnded reports the end of the parent process, with which both processes end.
package controlplane
