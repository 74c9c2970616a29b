package handlers

import (
	"context"
	"sort"
	"time"

	"example.com/fakeapi/fake/internal/admission"
	"example.com/fakeapi/fake/internal/authz"
	"example.com/fakeapi/memstore"
)

// dynamicAdmission returns what the plugins for webhooks and policies use. On a replica they see
// the state of its watch cache, which can be behind the store.
func (a *API) dynamicAdmission() admission.Dynamic {
	ctx, cancel := context.WithCancel(context.Background())
	a.close = cancel
	d := admission.Dynamic{
		Context: ctx, Network: a.settings.WebhookNetwork, Authorizer: a.authorizer, Observe: a.settings.ObserveAdmission,
		Webhooks: admission.NewLister(a.viewBefore(a.settings.WebhookDelay), a.types.Table),
		Policies: admission.NewLister(a.viewBefore(a.settings.PolicyDelay), a.types.Table),
	}
	if d.Observe == nil {
		d.Observe = func(context.Context, admission.Decision) {}
	}
	if a.authorizer == nil {
		d.Authorizer = authz.AlwaysAllow()
	}
	return d
}

// The prefixes of the keys of the objects that make plugins call webhooks or evaluate policies.
const (
	mutatingWebhooksPrefix   = "mutatingwebhookconfigurations.admissionregistration.k8s.io/"
	validatingWebhooksPrefix = "validatingwebhookconfigurations.admissionregistration.k8s.io/"
	mutatingBindingsPrefix   = "mutatingadmissionpolicybindings.admissionregistration.k8s.io/"
	validatingBindingsPrefix = "validatingadmissionpolicybindings.admissionregistration.k8s.io/"
)

// callsWebhooks reports whether writes may be reviewed by webhooks now.
func (a *API) callsWebhooks() bool {
	view := a.dynamic.Webhooks.View()
	return view.Count(mutatingWebhooksPrefix) > 0 || view.Count(validatingWebhooksPrefix) > 0
}

// isReviewed reports whether writes may be reviewed now by more than the plugins whose result
// depends on the object only: by functions, webhooks or policies.
func (a *API) isReviewed() bool {
	if len(a.settings.Reviewers) > 0 || a.callsWebhooks() {
		return true
	}
	view := a.dynamic.Policies.View()
	return view.Count(mutatingBindingsPrefix) > 0 || view.Count(validatingBindingsPrefix) > 0
}

// viewBefore returns a function that returns the result of ownView as it was some time ago.
func (a *API) viewBefore(delay time.Duration) func() memstore.View {
	if delay <= 0 {
		return a.ownView
	}
	return func() memstore.View {
		current := a.ownView()
		floor, _ := a.store.Floors()
		old := sort.Search(int(current.Revision()-min(floor, current.Revision())), func(i int) bool {
			return a.store.Age(floor+1+memstore.Revision(i)) < delay
		})
		view, err := a.store.ViewAt(floor + memstore.Revision(old))
		if err != nil { // the store was just restored, or its history does not reach back that far
			return current
		}
		return view
	}
}
