package admission

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	coreclientv1 "k8s.io/client-go/kubernetes/typed/core/v1"
	corelistersv1 "k8s.io/client-go/listers/core/v1"
)

// The types of this file embed interfaces of client-go, of which they implement what the API
// server's plugins call.

// NewNamespaceLister returns a lister that gets namespaces from l.
func NewNamespaceLister(l *Lister) corelistersv1.NamespaceLister { return namespaceLister{lister: l} }

// NewNamespaceClient returns a client that gets namespaces from l.
func NewNamespaceClient(l *Lister) kubernetes.Interface { return namespaceClient{lister: l} }

type namespaceLister struct {
	corelistersv1.NamespaceLister
	lister *Lister
}

func (l namespaceLister) Get(name string) (*corev1.Namespace, error) { return l.lister.Namespace(name) }

type namespaceClient struct {
	kubernetes.Interface
	lister *Lister
}

func (c namespaceClient) CoreV1() coreclientv1.CoreV1Interface { return coreClient{lister: c.lister} }

type coreClient struct {
	coreclientv1.CoreV1Interface
	lister *Lister
}

func (c coreClient) Namespaces() coreclientv1.NamespaceInterface {
	return namespaces{lister: c.lister}
}

type namespaces struct {
	coreclientv1.NamespaceInterface
	lister *Lister
}

func (n namespaces) Get(_ context.Context, name string, _ metav1.GetOptions) (*corev1.Namespace, error) {
	return n.lister.Namespace(name)
}
