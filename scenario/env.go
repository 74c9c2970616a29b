package scenario

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"

	fakeapi "example.com/fakeapi/fake"
)

// Env is the environment of the steps of one run. Only steps may call its methods, while they run.
type Env struct {
	config Config
	log    *Transcript
	mapper meta.RESTMapper

	// servers are the API servers of the run, the first one first. current is the server of the
	// current step.
	servers []*apiServer
	current *apiServer

	// waitIdleFunc returns when the server and all clients wait for time to pass.
	waitIdleFunc func()
	// ctx is done at the end of the steps.
	ctx context.Context
	// virtualTime is true in a bubble.
	virtualTime bool
	// traffic monitors the external clients; it is nil if there are none.
	traffic *trafficMonitor

	streams  watchStreams
	hitSteps hitSteps
	changes  changeCounts
	clients  map[string]*client
	hits     hits
	// authorizationModes are those that a step sets, or nil.
	authorizationModes []fakeapi.AuthorizationMode
	tokens             tokenFiles
	// snapshots are those taken by steps, by name.
	snapshots map[string]fakeapi.Snapshot
}

// stepUserAgent is the user agent of the steps' requests. Watches add "/NAME".
const stepUserAgent = "scenario"

// requestTimeout is the timeout of a step's request, the same as of a real server.
const requestTimeout = time.Minute

// newEnv returns the environment of a run that begins now.
func newEnv(config Config, server *fakeapi.Server, log *Transcript) *Env {
	log.start = time.Now()
	e := &Env{
		config:  config,
		log:     log,
		clients: map[string]*client{},
		hits:    newHits(),
		changes: newChangeCounts(),
	}
	e.hitSteps.wake = make(chan struct{}, 1)
	e.current = &apiServer{name: mainServer, server: server}
	return e
}

// connect discovers the kinds that the server serves. Its requests are not in the transcript.
func (e *Env) connect() error {
	if err := e.addServer(e.current); err != nil {
		return err
	}
	config := e.Server().RESTConfig()
	config.UserAgent = stepUserAgent
	client, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return err
	}
	cache := memory.NewMemCacheClient(client)
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(cache)
	e.mapper = restmapper.NewShortcutExpander(mapper, cache, nil)
	_, err = mapper.RESTMapping(schema.GroupKind{Kind: "Namespace"})
	return err
}

// Server returns the server of the step: the first one, or with [On] a replica.
func (e *Env) Server() *fakeapi.Server { return e.current.server }

// Config returns a configuration for requests of a step. They are in the transcript, and have the
// user agent "scenario".
func (e *Env) Config() *rest.Config { return e.stepConfig(stepUserAgent, false) }

func (e *Env) stepConfig(agent string, waitIdle bool) *rest.Config {
	config := e.restConfig(agent, stepObserver{e, waitIdle})
	config.WarningHandler = warnings{e}
	return config
}

// dynamicClient returns a client for requests of steps with a user agent. Only the goroutine of the
// steps may use it.
func (e *Env) dynamicClient(agent string) (dynamic.Interface, error) {
	return dynamic.NewForConfig(e.stepConfig(agent, e.virtualTime))
}

// Note adds a line to the transcript of the current step.
func (e *Env) Note(format string, args ...any) {
	e.log.note(time.Now(), fmt.Sprintf(format, args...))
}

// addNote adds a step, or how it failed, to the timelines of all servers.
func (e *Env) addNote(text string, failed bool) {
	for _, s := range e.servers {
		s.server.AddNote(fakeapi.Note{Source: stepUserAgent, Text: text, Failed: failed})
	}
}

// restConfig returns a configuration whose requests are reported to observer.
func (e *Env) restConfig(agent string, observer requestObserver) *rest.Config {
	config := e.Server().RESTConfig()
	config.UserAgent = agent
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return observedTransport{next: next, observer: observer}
	})
	return config
}

// warnings adds the warnings of responses to the transcript.
type warnings struct{ e *Env }

func (w warnings) HandleWarningHeader(_ int, _ string, text string) { w.e.Note("warning: %s", text) }

// waitIdle waits until the server and all clients wait for time to pass. It runs the steps of AtHit
// whose rules were applied until then.
func (e *Env) waitIdle() {
	e.waitIdleFunc()
	for e.runHitStep() {
		e.waitIdleFunc()
	}
}

// withRequestTimeout returns a context with the timeout of a step's requests.
func (e *Env) withRequestTimeout(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, requestTimeout, errNoResponse)
}

// defaultNamespace is the namespace of a Ref or Collection that has none.
const defaultNamespace = "default"

// resource returns a client for the objects of a kind in a namespace; see Ref.
func (e *Env) resource(kind, namespace string) (dynamic.ResourceInterface, error) {
	mapping, err := e.restMapping(kind)
	if err != nil {
		return nil, err
	}
	return resourceInNamespace(e.current.dynamic, mapping, namespace)
}

// resourceOf returns a client for the resource and namespace of an object.
func (e *Env) resourceOf(o *unstructured.Unstructured) (dynamic.ResourceInterface, error) {
	kind := o.GroupVersionKind()
	mapping, err := findKind(e.mapper, func() (*meta.RESTMapping, error) {
		return e.mapper.RESTMapping(kind.GroupKind(), kind.Version)
	})
	if err != nil {
		return nil, fmt.Errorf("expected a kind that is served, found %s: %w", kind, err)
	}
	return resourceInNamespace(e.current.dynamic, mapping, o.GetNamespace())
}

// collection returns the client for a collection.
func (e *Env) collection(client dynamic.Interface, c Collection) (dynamic.ResourceInterface, error) {
	mapping, err := e.restMapping(c.Kind)
	if err != nil {
		return nil, err
	}
	if c.AllNamespaces {
		return client.Resource(mapping.Resource), nil
	}
	return resourceInNamespace(client, mapping, c.Namespace)
}

func resourceInNamespace(client dynamic.Interface, m *meta.RESTMapping, namespace string) (dynamic.ResourceInterface, error) {
	resource := client.Resource(m.Resource)
	switch {
	case m.Scope.Name() == meta.RESTScopeNameNamespace && namespace == "":
		return resource.Namespace(defaultNamespace), nil
	case m.Scope.Name() == meta.RESTScopeNameNamespace:
		return resource.Namespace(namespace), nil
	case namespace != "":
		return nil, fmt.Errorf("expected no namespace, found %q: %s have none", namespace, m.Resource.Resource)
	}
	return resource, nil
}

// restMapping returns the mapping of a kind as in Ref.
func (e *Env) restMapping(kind string) (*meta.RESTMapping, error) {
	resource := schema.ParseGroupResource(strings.ToLower(kind))
	found, err := findKind(e.mapper, func() (schema.GroupVersionKind, error) {
		return e.mapper.KindFor(resource.WithVersion(""))
	})
	if err != nil {
		return nil, fmt.Errorf("expected a kind that is served, found %q: %w", kind, err)
	}
	return e.mapper.RESTMapping(found.GroupKind(), found.Version)
}

// findKind calls find, and again with new discovery data if there is no match, because a
// CustomResourceDefinition may have been created.
func findKind[T any](mapper meta.RESTMapper, find func() (T, error)) (T, error) {
	found, err := find()
	if meta.IsNoMatchError(err) {
		meta.MaybeResetRESTMapper(mapper)
		found, err = find()
	}
	return found, err
}

// report adds the hits of rules and the events of watches during a step to the transcript.
func (e *Env) report() {
	e.readHits()
	for _, hit := range e.hits.takeUnreported() {
		e.log.note(hit.Time, hit.String())
	}
	for _, s := range e.streams {
		all := s.since(s.reported)
		s.reported += len(all)
		for _, r := range all {
			e.log.note(r.at, s.name+": "+r.String())
		}
	}
	e.log.sortDetails()
}

// checkClients returns an error if a client failed and no step expected that.
func (e *Env) checkClients() error {
	for _, name := range slices.Sorted(maps.Keys(e.clients)) {
		c, returned, err := e.startedClient(name)
		if err != nil {
			return err
		}
		if returned && c.err != nil && !c.endExpected {
			return mismatch{"no error of client " + name, c.err.Error()}
		}
	}
	return nil
}

// stopAll stops the watches and clients. If a client does not return within a minute, stopAll calls
// reportStuck, and in virtual time waits for it.
func (e *Env) stopAll(cancel context.CancelFunc, reportStuck func(error)) {
	e.log.close()
	cancel()
	for _, s := range e.streams {
		s.stop()
		<-s.done
	}
	timer := time.NewTimer(requestTimeout)
	defer timer.Stop()
	for _, name := range slices.Sorted(maps.Keys(e.clients)) {
		if e.clients[name].external {
			continue
		}
		done := e.clients[name].done
		select {
		case <-done:
		case <-timer.C:
			err := mismatch{"client " + name + " to return when its context ends", fmt.Sprintf("it still runs %v later", requestTimeout)}
			reportStuck(e.failure(scriptStep{position: endPosition}, err))
			timer.Reset(0)     // for the next client
			if e.virtualTime { // the bubble cannot end before
				<-done
			}
		}
	}
}
