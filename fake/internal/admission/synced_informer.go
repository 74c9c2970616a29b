package admission

import "k8s.io/client-go/tools/cache"

// SyncedInformer is the informer of the API server's plugins for objects that are read from a
// Lister. It has no events. It implements the methods of cache.SharedIndexInformer that the plugins
// call.
type SyncedInformer struct{ cache.SharedIndexInformer }

// HasSynced implements cache.SharedInformer and cache.ResourceEventHandlerRegistration.
func (SyncedInformer) HasSynced() bool { return true }

// AddEventHandler implements cache.SharedInformer.
func (i SyncedInformer) AddEventHandler(cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error) {
	return i, nil
}
