package webhook

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	admissioninformers "k8s.io/client-go/informers/admissionregistration"
	admissioninformersv1 "k8s.io/client-go/informers/admissionregistration/v1"
	coreinformers "k8s.io/client-go/informers/core"
	coreinformersv1 "k8s.io/client-go/informers/core/v1"
	admissionlistersv1 "k8s.io/client-go/listers/admissionregistration/v1"
	corelistersv1 "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/fakeapi/fake/internal/admission"
)

// The types of this file embed interfaces of client-go, of which they implement the methods that
// the library calls.

// staticInformers is the informers.SharedInformerFactory of a plugin of the library. The
// configurations are fixed. Namespaces are read from the state that is in force.
type staticInformers struct {
	informers.SharedInformerFactory
	configurations cache.Indexer
	namespaces     corelistersv1.NamespaceLister
}

// newInformers returns informers that have configurations.
func newInformers(configurations []runtime.Object, lister *admission.Lister) informers.SharedInformerFactory {
	indexer := cache.NewIndexer(cache.MetaNamespaceKeyFunc, nil)
	for _, c := range configurations {
		_ = indexer.Add(c) // MetaNamespaceKeyFunc returns no error for an object with metadata
	}
	return staticInformers{configurations: indexer, namespaces: admission.NewNamespaceLister(lister)}
}

// Admissionregistration implements informers.SharedInformerFactory.
func (f staticInformers) Admissionregistration() admissioninformers.Interface {
	return admissionInformers{configurations: f.configurations}
}

// Core implements informers.SharedInformerFactory.
func (f staticInformers) Core() coreinformers.Interface {
	return coreInformers{namespaces: f.namespaces}
}

type admissionInformers struct {
	admissioninformers.Interface
	configurations cache.Indexer
}

func (g admissionInformers) V1() admissioninformersv1.Interface {
	return admissionInformersV1{configurations: g.configurations}
}

type admissionInformersV1 struct {
	admissioninformersv1.Interface
	configurations cache.Indexer
}

func (v admissionInformersV1) MutatingWebhookConfigurations() admissioninformersv1.TypedMutatingWebhookConfigurationInformer {
	return mutatingInformer{configurations: v.configurations}
}

func (v admissionInformersV1) ValidatingWebhookConfigurations() admissioninformersv1.TypedValidatingWebhookConfigurationInformer {
	return validatingInformer{configurations: v.configurations}
}

type mutatingInformer struct {
	admissioninformersv1.TypedMutatingWebhookConfigurationInformer
	configurations cache.Indexer
}

func (i mutatingInformer) Informer() cache.SharedIndexInformer { return admission.SyncedInformer{} }

func (i mutatingInformer) Lister() admissionlistersv1.MutatingWebhookConfigurationLister {
	return admissionlistersv1.NewMutatingWebhookConfigurationLister(i.configurations)
}

type validatingInformer struct {
	admissioninformersv1.TypedValidatingWebhookConfigurationInformer
	configurations cache.Indexer
}

func (i validatingInformer) Informer() cache.SharedIndexInformer { return admission.SyncedInformer{} }

func (i validatingInformer) Lister() admissionlistersv1.ValidatingWebhookConfigurationLister {
	return admissionlistersv1.NewValidatingWebhookConfigurationLister(i.configurations)
}

type coreInformers struct {
	coreinformers.Interface
	namespaces corelistersv1.NamespaceLister
}

func (g coreInformers) V1() coreinformersv1.Interface {
	return coreInformersV1{namespaces: g.namespaces}
}

type coreInformersV1 struct {
	coreinformersv1.Interface
	namespaces corelistersv1.NamespaceLister
}

func (v coreInformersV1) Namespaces() coreinformersv1.TypedNamespaceInformer {
	return namespaceInformer{lister: v.namespaces}
}

type namespaceInformer struct {
	coreinformersv1.TypedNamespaceInformer
	lister corelistersv1.NamespaceLister
}

func (i namespaceInformer) Informer() cache.SharedIndexInformer   { return admission.SyncedInformer{} }
func (i namespaceInformer) Lister() corelistersv1.NamespaceLister { return i.lister }
