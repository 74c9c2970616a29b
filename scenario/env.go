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
	kinds  meta.RESTMapper

	// doors are the servers of the run, the first one first; at is the one that the
	// step which runs goes through.
	doors []*door
	at    *door

	// settled returns when server and clients have nothing to do but to wait.
	settled func()
	// bubble tells whether time is virtual.
	bubble bool
	// wire has the clients that come over the network; nil where none do.
	wire *wire

	streams streams
	clients map[string]*client
	hits    hits
	// snapshots are those that steps have taken, by name.
	snapshots map[string]fakeapi.Snapshot
}

// stepsAgent is the user agent of the steps' requests; a watch has "/NAME" behind
// it.
const stepsAgent = "scenario"

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
	e.at = &door{name: mainDoor, server: server}
	return e
}

// connect learns what kinds the server serves. These requests are not in the
// transcript.
func (e *Env) connect() error {
	if err := e.open(e.at); err != nil {
		return err
	}
	config := e.Server().RESTConfig()
	config.UserAgent = stepsAgent
	silent, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return err
	}
	cache := memory.NewMemCacheClient(silent)
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(cache)
	e.kinds = restmapper.NewShortcutExpander(mapper, cache, nil)
	_, err = mapper.RESTMapping(schema.GroupKind{Kind: "Namespace"})
	return err
}

// Server is the server that the step goes through: the first, or with [On] a
// replica.
func (e *Env) Server() *fakeapi.Server { return e.at.server }

// Config is a configuration for requests of a step: they get into the
// transcript, and their user agent is "scenario".
func (e *Env) Config() *rest.Config { return e.stepsConfig(stepsAgent, false) }

func (e *Env) stepsConfig(agent string, last bool) *rest.Config {
	config := e.restConfig(agent, stepsWitness{e, last})
	config.WarningHandler = warnings{e}
	return config
}

// dynamicAs is a client for requests of a step under some user agent. It must be used
// by the goroutine of the steps only.
func (e *Env) dynamicAs(agent string) (dynamic.Interface, error) {
	return dynamic.NewForConfig(e.stepsConfig(agent, e.bubble))
}

// Note puts a line into the transcript, below the step that runs.
func (e *Env) Note(format string, args ...any) {
	e.log.note(time.Now(), fmt.Sprintf(format, args...))
}

// restConfig is a configuration whose requests w gets to see.
func (e *Env) restConfig(agent string, w witness) *rest.Config {
	config := e.Server().RESTConfig()
	config.UserAgent = agent
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return witnessed{next: next, witness: w} })
	return config
}

// warnings notes the warnings that answers carry.
type warnings struct{ e *Env }

func (w warnings) HandleWarningHeader(_ int, _ string, text string) { w.e.Note("warning: %s", text) }

// settle waits until server and clients have done all that they can do before
// time passes.
func (e *Env) settle() { e.settled() }

// patience bounds the requests of a step.
func (e *Env) patience(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, requestTimeout, errNoAnswer)
}

// defaultNamespace is the namespace where none is given.
const defaultNamespace = "default"

// resource gives access to the objects of a kind in a namespace; see Ref.
func (e *Env) resource(kind, namespace string) (dynamic.ResourceInterface, error) {
	mapping, err := e.mapping(kind)
	if err != nil {
		return nil, err
	}
	return inNamespace(e.at.dynamic, mapping, namespace)
}

// resourceOf is resource for an object.
func (e *Env) resourceOf(o *unstructured.Unstructured) (dynamic.ResourceInterface, error) {
	kind := o.GroupVersionKind()
	mapping, err := lookUp(e.kinds, func() (*meta.RESTMapping, error) {
		return e.kinds.RESTMapping(kind.GroupKind(), kind.Version)
	})
	if err != nil {
		return nil, fmt.Errorf("expected a kind that is served, found %s: %w", kind, err)
	}
	return inNamespace(e.at.dynamic, mapping, o.GetNamespace())
}

// collection gives access to a collection through a client.
func (e *Env) collection(through dynamic.Interface, c Collection) (dynamic.ResourceInterface, error) {
	mapping, err := e.mapping(c.Kind)
	if err != nil {
		return nil, err
	}
	if c.AllNamespaces {
		return through.Resource(mapping.Resource), nil
	}
	return inNamespace(through, mapping, c.Namespace)
}

func inNamespace(through dynamic.Interface, m *meta.RESTMapping, namespace string) (dynamic.ResourceInterface, error) {
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

// mapping finds the kind that a word stands for.
func (e *Env) mapping(kind string) (*meta.RESTMapping, error) {
	resource := schema.ParseGroupResource(strings.ToLower(kind))
	found, err := lookUp(e.kinds, func() (schema.GroupVersionKind, error) {
		return e.kinds.KindFor(resource.WithVersion(""))
	})
	if err != nil {
		return nil, fmt.Errorf("expected a kind that is served, found %q: %w", kind, err)
	}
	return e.kinds.RESTMapping(found.GroupKind(), found.Version)
}

// lookUp looks for a kind, and once more among what is served now if it is not known: a
// definition of custom resources may have come.
func lookUp[T any](kinds meta.RESTMapper, find func() (T, error)) (T, error) {
	found, err := find()
	if meta.IsNoMatchError(err) {
		meta.MaybeResetRESTMapper(kinds)
		found, err = find()
	}
	return found, err
}

// tell puts into the transcript what rules and watches did during a step.
func (e *Env) tell() {
	e.readHits()
	for _, hit := range e.hits.take() {
		e.log.note(hit.Time, hit.String())
	}
	for _, s := range e.streams {
		all := s.since(s.told)
		s.told += len(all)
		for _, r := range all {
			e.log.note(r.at, s.name+": "+r.String())
		}
	}
	e.log.order()
}

// failedClient reports the first client whose error no step has expected.
func (e *Env) failedClient() error {
	for _, name := range slices.Sorted(maps.Keys(e.clients)) {
		c, returned, err := e.client(name)
		if err != nil {
			return err
		}
		if returned && c.err != nil && !c.expected {
			return mismatch{"no error of client " + name, c.err.Error()}
		}
	}
	return nil
}

// stop ends watches and clients. A client that does not return within a minute
// is reported to stuck, and then waited for on virtual time.
func (e *Env) stop(cancel context.CancelFunc, stuck func(error)) {
	e.log.close()
	cancel()
	for _, s := range e.streams {
		s.stop()
		<-s.done
	}
	timer := time.NewTimer(requestTimeout)
	defer timer.Stop()
	for _, name := range slices.Sorted(maps.Keys(e.clients)) {
		if e.clients[name].guest {
			continue
		}
		done := e.clients[name].done
		select {
		case <-done:
		case <-timer.C:
			err := mismatch{"client " + name + " to return when its context ends", fmt.Sprintf("it still runs %v later", requestTimeout)}
			stuck(e.failure(placed{at: atTheEnd}, err))
			timer.Reset(0) // for the next one
			if e.bubble {  // which cannot end before
				<-done
			}
		}
	}
}
