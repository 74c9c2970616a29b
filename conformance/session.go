package conformance

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// finalizer is the finalizer that the suite puts on objects. The clean-up removes it, and no other.
const finalizer = "conformance.example.com/hold"

// session sends the requests of a case and tracks what they created.
type session struct {
	run        *run
	name       string        // part of the names of what it creates: the number of the case, or what cases share
	namespaces int           // number of namespaces, for their names
	crds       int           // number of CRDs of the case itself, for their groups
	webhooks   *caseWebhooks // nil unless the case has webhooks

	mu      sync.Mutex // guards created, because a case may send concurrent requests
	created []string   // paths of created objects, in the order of their creation
}

// skipError ends a case that cannot judge the server.
type skipError struct{ reason string }

// Error returns the reason.
func (e skipError) Error() string { return "skipped: " + e.reason }

// skipf returns an error that ends the case as skipped.
func (s *session) skipf(format string, args ...any) error {
	return skipError{reason: fmt.Sprintf(format, args...)}
}

// namespace creates a new namespace and returns its name.
func (s *session) namespace(ctx context.Context) (string, error) {
	name, body := s.nameNewNamespace()
	return name, s.expect(withSetup(ctx), post("/api/v1/namespaces", body), code(http.StatusCreated))
}

// nameNewNamespace returns the name and the body of a namespace to create, and tracks it for the
// clean-up.
func (s *session) nameNewNamespace() (string, object) {
	s.namespaces++
	name := s.run.prefix() + s.numbered(s.namespaces)
	s.track(namespacePath(name)) // before the request, because its response may be lost
	return name, newObject("v1", "Namespace", name)
}

// numbered returns a name for the nth thing of a kind that the session creates, which is the name
// of the session for the first one.
func (s *session) numbered(n int) string {
	if n == 1 {
		return s.name
	}
	return fmt.Sprintf("%s-%d", s.name, n)
}

// namespacePath returns the path of a namespace.
func namespacePath(name string) string { return "/api/v1/namespaces/" + name }

// trackCreated tracks the object of a 201 response for the clean-up.
func (s *session) trackCreated(path string, r *response) {
	path, query, _ := strings.Cut(path, "?")
	if strings.Contains(query, "dryRun=") {
		return
	}
	var o metav1.PartialObjectMetadata
	if err := r.decode(&o); err != nil || o.Kind == "Table" {
		s.trackUndecoded(path, r)
		return
	}
	if o.Name == "" {
		return
	}
	item := "/" + url.PathEscape(o.Name)
	path = strings.TrimSuffix(path, item) // path of an item, for POST or PATCH of an item
	if o.Namespace != "" && !strings.Contains(path, "/namespaces/") {
		at := strings.LastIndex(path, "/")
		path = path[:at] + "/namespaces/" + o.Namespace + path[at:]
	}
	s.track(path + item)
}

// trackUndecoded tracks the object of a response whose name cannot be decoded, because the response
// is not JSON or is a Table. After a POST to a collection in a namespace of the run, it tracks the
// whole collection.
func (s *session) trackUndecoded(path string, r *response) {
	if r.method != http.MethodPost || strings.Contains(path, "/namespaces/"+s.run.prefix()) {
		s.track(path)
	}
}

// prefix returns the prefix of the names of the run's namespaces.
func (r *run) prefix() string { return r.config.NamespacePrefix + "-" + r.id + "-" }

func (s *session) track(path string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Contains(s.created, path) {
		s.created = append(s.created, path)
	}
}

// cleanup deletes what the session created, the newest first, so that nothing is left if there is
// no namespace controller. It returns an error for each object that could not be deleted.
func (s *session) cleanup(ctx context.Context) []error {
	ctx = withCleanup(ctx)
	if s.webhooks != nil {
		s.webhooks.release()
	}
	var left []error
	for _, path := range slices.Backward(s.created) {
		if err := s.remove(ctx, path); err != nil {
			left = append(left, err)
		}
	}
	s.created = nil
	return left
}

// remove deletes an object immediately and removes the suite's finalizer. The object may be gone
// already.
func (s *session) remove(ctx context.Context, path string) error {
	now := int64(0)
	background := metav1.DeletePropagationBackground
	request := del(path)
	request.body = metav1.DeleteOptions{
		TypeMeta:           metav1.TypeMeta{APIVersion: "v1", Kind: "DeleteOptions"},
		GracePeriodSeconds: &now,
		PropagationPolicy:  &background,
	}
	r, err := s.do(ctx, request, code(http.StatusOK, http.StatusAccepted, http.StatusNotFound, http.StatusConflict))
	if err != nil {
		return err
	}
	if strings.HasPrefix(path, crdPath+"/") {
		s.run.addPendingDeletion(path)
	}
	if !strings.Contains(string(r.body), finalizer) {
		return nil
	}
	r, err = s.do(ctx, mergePatch(path, object{"metadata": object{"finalizers": nil}}), code(http.StatusOK, http.StatusNotFound))
	name, namespace := strings.CutPrefix(path, namespacePath(""))
	if err != nil || !namespace || r.expect(hasSpecFinalizer) != nil {
		return err
	}
	return s.removeSpecFinalizer(ctx, name)
}

// compact calls Config.Compact, or skips the case if it is nil.
func (s *session) compact(ctx context.Context) error {
	compact := s.run.config.Compact
	if compact == nil {
		return s.skipf("it needs Config.Compact, or a server that has just compacted its history")
	}
	if err := compact(ctx); err != nil {
		return fmt.Errorf("Config.Compact: %w", err)
	}
	return nil
}

// poll repeats a check until it passes, and returns its last error if the context ends. The check
// must send its requests with the context that it gets.
func poll(ctx context.Context, check func(context.Context) error) error {
	pause := 50 * time.Millisecond
	wait := time.NewTimer(pause)
	defer wait.Stop()
	next := newRetryGroup(ctx)
	for {
		err := check(next())
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return err
		case <-wait.C:
			pause = min(pause*5/4, time.Second) // poll a slow server less often
			wait.Reset(pause)
		}
	}
}

// discoverResource returns a resource from the discovery document of a group version, "v1" or
// "GROUP/VERSION". It returns nil if the server does not serve it.
func (s *session) discoverResource(ctx context.Context, groupVersion, name string) (*metav1.APIResource, error) {
	return s.findResource(ctx, groupVersion, func(r metav1.APIResource) bool { return r.Name == name })
}

// findResource is like discoverResource, and returns the first resource that matches.
func (s *session) findResource(ctx context.Context, groupVersion string, matches func(metav1.APIResource) bool) (*metav1.APIResource, error) {
	root := "/apis/"
	if !strings.Contains(groupVersion, "/") {
		root = "/api/"
	}
	resp, err := s.do(ctx, get(root+groupVersion), code(http.StatusOK, http.StatusNotFound))
	if err != nil || resp.code == http.StatusNotFound {
		return nil, err
	}
	var found metav1.APIResourceList
	if err := resp.decode(&found); err != nil {
		return nil, err
	}
	for _, r := range found.APIResources {
		if matches(r) {
			return &r, nil
		}
	}
	return nil, nil
}

// skipUnlessServed skips the case unless the server serves the resource.
func (s *session) skipUnlessServed(ctx context.Context, groupVersion, name string) error {
	found, err := s.discoverResource(withSetup(ctx), groupVersion, name)
	if err == nil && found == nil {
		err = s.skipf("the server does not serve %s of %s", name, groupVersion)
	}
	return err
}
