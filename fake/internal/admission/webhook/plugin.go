package webhook

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	admissionv1 "k8s.io/api/admission/v1"
	admissionv1beta1 "k8s.io/api/admission/v1beta1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	library "k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/generic"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/mutating"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/validating"

	"example.com/fakeapi/fake/internal/admission"
	"example.com/fakeapi/fake/internal/codec"
	"example.com/fakeapi/fake/internal/webhookclient"
	"example.com/fakeapi/memstore"
)

// NewMutating returns the plugin MutatingAdmissionWebhook.
func NewMutating(d admission.Dynamic) admission.Interface {
	p := &mutatingPlugin{}
	p.init(d, mutating.PluginName, "mutatingwebhookconfigurations")
	return p
}

// NewValidating returns the plugin ValidatingAdmissionWebhook.
func NewValidating(d admission.Dynamic) admission.Interface {
	p := &validatingPlugin{}
	p.init(d, validating.PluginName, "validatingwebhookconfigurations")
	return p
}

type mutatingPlugin struct{ plugin }

// Admit implements admission.MutationInterface.
func (p *mutatingPlugin) Admit(ctx context.Context, attrs *admission.Attributes) error {
	s, err := p.current()
	if s == nil || err != nil {
		return err
	}
	defer s.transport.BeginCall()()
	t := &tracer{plugin: &p.plugin, state: s, attrs: attrs}
	return s.admit(t.in(ctx), attrs.Library(), attrs.ObjectInterfaces(p.Webhooks.Table()))
}

type validatingPlugin struct{ plugin }

// Validate implements admission.ValidationInterface.
func (p *validatingPlugin) Validate(ctx context.Context, attrs *admission.Attributes) error {
	s, err := p.current()
	if s == nil || err != nil {
		return err
	}
	defer s.transport.BeginCall()()
	t := &tracer{plugin: &p.plugin, state: s, attrs: attrs}
	err = s.validate(t.in(ctx), attrs.Library(), attrs.ObjectInterfaces(p.Webhooks.Table()))
	t.annotateIgnored()
	if err != nil {
		return err
	}
	return t.denial()
}

// plugin is what the two plugins have in common.
type plugin struct {
	admission.Dynamic
	name           string
	configurations schema.GroupVersionResource
	prefix         string // of the keys of the configurations

	mu    sync.Mutex // held while the state changes
	state atomic.Pointer[state]
}

// state is the plugin of the library for one state of the configurations.
type state struct {
	records   []*memstore.Record
	transport *webhookclient.Transport
	// stopClosing keeps the server from closing the transport when it is closed.
	stopClosing func() bool
	webhooks    map[webhookName]webhookInfo
	// admit or validate is the method of the library's plugin.
	admit, validate func(context.Context, library.Attributes, library.ObjectInterfaces) error
}

// webhookName identifies a webhook.
type webhookName struct{ configuration, name string }

// webhookInfo is what a Decision depends on.
type webhookInfo struct {
	// index is the index among all webhooks of the plugin.
	index int
	// ignores reports whether the failurePolicy is Ignore.
	ignores bool
	// reviewVersion is the version of the AdmissionReviews.
	reviewVersion string
}

func (p *plugin) init(d admission.Dynamic, name, plural string) {
	p.Dynamic, p.name = d, name
	p.configurations = admissionregistrationv1.SchemeGroupVersion.WithResource(plural)
	if res, err := d.Webhooks.Lookup(p.configurations); err == nil {
		p.prefix = codec.Key(res, "", "")
	}
}

// Name implements admission.Interface.
func (p *plugin) Name() string { return p.name }

// Handles implements admission.Interface. The library could exclude the same resources, but would
// log each configuration whose rules name them.
func (p *plugin) Handles(attrs *admission.Attributes) bool { return !attrs.IsVirtual() }

// current returns the state for the configurations that are in force, nil if there are none.
func (p *plugin) current() (*state, error) {
	view := p.Webhooks.View()
	s := p.state.Load()
	if view.Count(p.prefix) == 0 && s == nil {
		return nil, nil
	}
	if s != nil && s.isOf(view, p.prefix) {
		return s, nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	view = p.Webhooks.View() // a request that was slower than others must not go back to an older state
	old := p.state.Load()
	if old != nil && old.isOf(view, p.prefix) {
		return old, nil
	}
	var fresh *state
	if records := slices.Collect(view.Range(p.prefix, "")); len(records) > 0 {
		var err error
		if fresh, err = p.newState(records); err != nil {
			return nil, err
		}
	}
	p.state.Store(fresh)
	if old != nil { // its calls end with their requests
		old.transport.Drain()
		old.stopClosing()
	}
	return fresh, nil
}

// isOf reports whether s is the state for the configurations in view.
func (s *state) isOf(view memstore.View, prefix string) bool {
	i := 0
	for rec := range view.Range(prefix, "") {
		if i == len(s.records) || s.records[i] != rec {
			return false
		}
		i++
	}
	return i == len(s.records)
}

// newState returns the state for the configurations in records.
func (p *plugin) newState(records []*memstore.Record) (*state, error) {
	configurations, err := p.decode(records)
	if err != nil {
		return nil, err
	}
	network := p.Network
	network.Intercept = p.recordResponse
	s := &state{records: records, transport: webhookclient.New(network, ""), webhooks: make(map[webhookName]webhookInfo)}
	if p.name == mutating.PluginName {
		var made *mutating.Plugin
		if made, err = mutating.NewMutatingWebhook(nil); err == nil {
			s.admit, err = made.Admit, p.setUp(made.Webhook, configurations, s)
		}
	} else {
		var made *validating.Plugin
		if made, err = validating.NewValidatingAdmissionWebhook(nil); err == nil {
			s.validate, err = made.Validate, p.setUp(made.Webhook, configurations, s)
		}
	}
	if err != nil {
		return nil, err
	}
	s.stopClosing = context.AfterFunc(p.Context, s.transport.Close)
	for _, c := range configurations {
		s.addWebhooks(c)
	}
	return s, nil
}

// decode returns the configurations in records.
func (p *plugin) decode(records []*memstore.Record) (configurations []runtime.Object, err error) {
	res, err := p.Webhooks.Lookup(p.configurations)
	if err != nil {
		return nil, err
	}
	for _, rec := range records {
		obj, err := p.Webhooks.Decode(res, rec)
		if err != nil {
			return nil, err
		}
		configurations = append(configurations, obj)
	}
	return configurations, nil
}

// setUp gives a plugin of the library what it needs.
func (p *plugin) setUp(hook *generic.Webhook, configurations []runtime.Object, s *state) error {
	hook.SetExternalKubeClientSet(admission.NewNamespaceClient(p.Webhooks))
	hook.SetExternalKubeInformerFactory(newInformers(configurations, p.Webhooks))
	hook.SetUnconditionalAuthorizer(p.Authorizer)
	hook.SetServiceResolver(s.transport)
	hook.SetAuthenticationInfoResolverWrapper(s.transport.AuthenticationInfoResolver)
	return hook.ValidateInitialization()
}

// addWebhooks adds the webhooks of a configuration to s.webhooks.
func (s *state) addWebhooks(configuration runtime.Object) {
	add := func(configuration, name string, policy *admissionregistrationv1.FailurePolicyType, versions []string) {
		info := webhookInfo{index: len(s.webhooks), ignores: policy != nil && *policy == admissionregistrationv1.Ignore}
		known := []string{admissionv1.SchemeGroupVersion.Version, admissionv1beta1.SchemeGroupVersion.Version}
		if i := slices.IndexFunc(versions, func(v string) bool { return slices.Contains(known, v) }); i >= 0 {
			info.reviewVersion = versions[i]
		}
		s.webhooks[webhookName{configuration, name}] = info
	}
	switch c := configuration.(type) {
	case *admissionregistrationv1.MutatingWebhookConfiguration:
		for i := range c.Webhooks {
			w := &c.Webhooks[i]
			add(c.Name, w.Name, w.FailurePolicy, w.AdmissionReviewVersions)
		}
	case *admissionregistrationv1.ValidatingWebhookConfiguration:
		for i := range c.Webhooks {
			w := &c.Webhooks[i]
			add(c.Name, w.Name, w.FailurePolicy, w.AdmissionReviewVersions)
		}
	}
}
