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

// Env is what the steps of one run share. Its methods may be called by steps
// while they run, and by nobody else.
type Env struct {
	config Config
	log    *Transcript
	mapper meta.RESTMapper

	// servers are the servers of the run, the first one first; at is the one that the
	// step which runs goes through.
	servers []*apiServer
	current *apiServer

	// waitIdleFunc returns when server and clients have nothing to do but to wait.
	waitIdleFunc func()
	// virtualTime tells whether time is virtual.
	virtualTime bool
	// traffic has the clients that come over the network; nil where none do.
	traffic *trafficMonitor

	streams watchStreams
	clients map[string]*client
	hits    hits
	// snapshots are those that steps have taken, by name.
	snapshots map[string]fakeapi.Snapshot
}

// stepUserAgent is the user agent of the steps' requests; a watch has "/NAME" behind
// it.
const stepUserAgent = "scenario"

// requestTimeout is how long a step waits for an answer, as a real server's
// requests take a minute at most.
const requestTimeout = time.Minute

// newEnv is for the steps of one run, which begins now.
func newEnv(config Config, server *fakeapi.Server, log *Transcript) *Env {
	log.start = time.Now()
	e := &Env{
		config:  config,
		log:     log,
		clients: map[string]*client{},
		hits:    newHits(),
	}
	e.current = &apiServer{name: mainServer, server: server}
	return e
}

// connect learns what kinds the server serves. These requests are not in the
// transcript.
func (e *Env) connect() error {
	if err := e.addServer(e.current); err != nil {
		return err
	}
	config := e.Server().RESTConfig()
	config.UserAgent = stepUserAgent
	silent, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return err
	}
	cache := memory.NewMemCacheClient(silent)
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(cache)
	e.mapper = restmapper.NewShortcutExpander(mapper, cache, nil)
	_, err = mapper.RESTMapping(schema.GroupKind{Kind: "Namespace"})
	return err
}

// Server is the server that the step goes through: the first, or with [On] a
// replica.
func (e *Env) Server() *fakeapi.Server { return e.current.server }

// Config is a configuration for requests of a step: they get into the
// transcript, and their user agent is "scenario".
func (e *Env) Config() *rest.Config { return e.stepConfig(stepUserAgent, false) }

func (e *Env) stepConfig(agent string, last bool) *rest.Config {
	config := e.restConfig(agent, stepObserver{e, last})
	config.WarningHandler = warnings{e}
	return config
}

// dynamicClient is a client for requests of a step under some user agent. It must be used
// by the goroutine of the steps only.
func (e *Env) dynamicClient(agent string) (dynamic.Interface, error) {
	return dynamic.NewForConfig(e.stepConfig(agent, e.virtualTime))
}

// Note puts a line into the transcript, below the step that runs.
func (e *Env) Note(format string, args ...any) {
	e.log.note(time.Now(), fmt.Sprintf(format, args...))
}

// restConfig is a configuration whose requests w gets to see.
func (e *Env) restConfig(agent string, w requestObserver) *rest.Config {
	config := e.Server().RESTConfig()
	config.UserAgent = agent
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return observedTransport{next: next, observer: w} })
	return config
}

// warnings notes the warnings that answers carry.
type warnings struct{ e *Env }

func (w warnings) HandleWarningHeader(_ int, _ string, text string) { w.e.Note("warning: %s", text) }

// waitIdle waits until server and clients have done all that they can do before
// time passes.
func (e *Env) waitIdle() { e.waitIdleFunc() }

// withRequestTimeout bounds the requests of a step.
func (e *Env) withRequestTimeout(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, requestTimeout, errNoResponse)
}

// defaultNamespace is the namespace where none is given.
const defaultNamespace = "default"

// resource gives access to the objects of a kind in a namespace; see Ref.
func (e *Env) resource(kind, namespace string) (dynamic.ResourceInterface, error) {
	mapping, err := e.restMapping(kind)
	if err != nil {
		return nil, err
	}
	return resourceInNamespace(e.current.dynamic, mapping, namespace)
}

// resourceOf is resource for an object.
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

// collection gives access to a collection through a client.
func (e *Env) collection(through dynamic.Interface, c Collection) (dynamic.ResourceInterface, error) {
	mapping, err := e.restMapping(c.Kind)
	if err != nil {
		return nil, err
	}
	if c.AllNamespaces {
		return through.Resource(mapping.Resource), nil
	}
	return resourceInNamespace(through, mapping, c.Namespace)
}

func resourceInNamespace(through dynamic.Interface, m *meta.RESTMapping, namespace string) (dynamic.ResourceInterface, error) {
	all := through.Resource(m.Resource)
	switch {
	case m.Scope.Name() == meta.RESTScopeNameNamespace && namespace == "":
		return all.Namespace(defaultNamespace), nil
	case m.Scope.Name() == meta.RESTScopeNameNamespace:
		return all.Namespace(namespace), nil
	case namespace != "":
		return nil, fmt.Errorf("expected no namespace, found %q: %s have none", namespace, m.Resource.Resource)
	}
	return all, nil
}

// restMapping finds the kind that a word stands for.
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

// findKind looks for a kind, and once more among what is served now if it is not known: a
// definition of custom resources may have come.
func findKind[T any](kinds meta.RESTMapper, find func() (T, error)) (T, error) {
	found, err := find()
	if meta.IsNoMatchError(err) {
		meta.MaybeResetRESTMapper(kinds)
		found, err = find()
	}
	return found, err
}

// report puts into the transcript what rules and watches did during a step.
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

// checkClients reports the first client whose error no step has expected.
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

// stopAll ends watches and clients. A client that does not return within a minute
// is reported to stuck, and then waited for on virtual time.
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
			timer.Reset(0)     // for the next one
			if e.virtualTime { // which cannot end before
				<-done
			}
		}
	}
}
