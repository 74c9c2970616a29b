package conformance

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	mutatingWebhooks   = "mutatingwebhookconfigurations"
	validatingWebhooks = "validatingwebhookconfigurations"

	// webhookDomain follows the names of webhooks in cases.
	webhookDomain = ".webhook.conformance.example.com"
	// caseLabel is the label of the namespaces, and of cluster-scoped objects, that the webhooks
	// of a case select. Its value is the name of the namespace.
	caseLabel = "conformance.example.com/case"
	// probeLabel is the label of the probe of a configuration.
	probeLabel = "conformance.example.com/probe"

	// reachTime is how long the suite waits until its webhook is called for the first time.
	reachTime = 15 * time.Second
)

// webhooks are the webhooks of a case, for the objects of a collection in a new namespace. They are
// not called for other objects.
type webhooks struct {
	s       *session
	c       collection
	server  *caseWebhooks
	configs int // number of configurations, for their probes
}

// webhookCheck checks a server for a case with webhooks.
type webhookCheck func(ctx context.Context, w *webhooks, c collection) error

// onWebhooks returns a case with webhooks for ConfigMaps.
func onWebhooks(c Case, check webhookCheck) Case {
	return withWebhooks(c, func(context.Context, *session) (collection, error) { return configMapsIn(""), nil }, check)
}

// onCustomWebhooks returns a case with webhooks for objects of crdData.
func onCustomWebhooks(c Case, check webhookCheck) Case {
	return withWebhooks(c, func(ctx context.Context, s *session) (collection, error) {
		in, err := s.dataCRs(ctx)
		return in, err
	}, check)
}

// onBothWebhooks returns the cases ID/typed and ID/custom, like onMaps.
func onBothWebhooks(c Case, check webhookCheck) []Case {
	typed, custom := typedAndCustom(c)
	return []Case{onWebhooks(typed, check), onCustomWebhooks(custom, check)}
}

// withWebhooks returns a case with webhooks for the collection that a function returns.
func withWebhooks(c Case, give func(context.Context, *session) (collection, error), check webhookCheck) Case {
	c.stage = webhookStage
	c.check = func(ctx context.Context, s *session) error {
		server, err := s.run.startedWebhook(ctx)
		if err != nil {
			return err
		}
		in, err := give(ctx, s)
		if err != nil {
			return err
		}
		w, err := s.newWebhooks(ctx, server, in)
		if err != nil {
			return err
		}
		return check(ctx, w, w.c)
	}
	return c
}

// newWebhooks creates a namespace with the label of the case, for webhooks for the objects of c.
func (s *session) newWebhooks(ctx context.Context, server *webhookServer, c collection) (*webhooks, error) {
	name, body := s.nameNewNamespace()
	c.s, c.namespace = s, name
	w := &webhooks{s: s, c: c, server: server.of(name)}
	s.webhooks = w.server
	return w, s.expect(withSetup(ctx), post("/api/v1/namespaces", body.withLabel(caseLabel, name)), code(http.StatusCreated))
}

// webhookStart is the webhook of a run, or why it cannot be used, which skips or fails the cases.
type webhookStart struct {
	server *webhookServer
	err    error
}

// startedWebhook returns the webhook of the run. The first call starts it, and checks whether the
// server calls it. The case is skipped if the server cannot reach it.
func (r *run) startedWebhook(ctx context.Context) (*webhookServer, error) {
	started, err := r.webhook.get(withSetup(ctx), func(ctx context.Context) (webhookStart, error) {
		server, err := r.startWebhook(ctx)
		return webhookStart{server, err}, nil // another case would not succeed either
	})
	return started.server, cmp.Or(started.err, err)
}

func (r *run) startWebhook(ctx context.Context) (*webhookServer, error) {
	s := r.sharedSession("webhook")
	if err := s.skipUnlessServed(ctx, admissionVersion, validatingWebhooks); err != nil {
		return nil, err
	}
	l, err := r.listenForWebhooks()
	if err != nil {
		return nil, err
	}
	server, err := startWebhookServer(l)
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	w, err := s.newWebhooks(ctx, server, configMapsIn(""))
	if err == nil {
		err = w.checkReachable(ctx)
	}
	if err != nil {
		server.close()
		return nil, err
	}
	return server, nil
}

// listenForWebhooks calls Config.ListenWebhook, or listens on the loopback interface if the server
// is there.
func (r *run) listenForWebhooks() (net.Listener, error) {
	if listen := r.config.ListenWebhook; listen != nil {
		l, err := listen()
		if err != nil {
			return nil, fmt.Errorf("Config.ListenWebhook: %w", err)
		}
		return l, nil
	}
	base, err := url.Parse(r.config.BaseURL)
	if err != nil {
		return nil, err
	}
	if ip := net.ParseIP(base.Hostname()); base.Hostname() != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return nil, r.shared.skipf("it needs Config.ListenWebhook, because the server is not on the loopback interface")
	}
	return net.Listen("tcp", "127.0.0.1:0")
}

// checkReachable skips the case if the server tries to call the webhook in vain. It returns an
// error if the server does not try.
func (w *webhooks) checkReachable(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, reachTime)
	defer cancel()
	ready := w.newProbe()
	ready["timeoutSeconds"] = 5
	if err := w.s.expect(ctx, w.s.postConfig(validatingWebhooks, w.configName("probe"), ready), code(http.StatusCreated)); err != nil {
		return err
	}
	probe := w.probe()
	reached := failure{code: http.StatusBadRequest, contains: probeDenied}
	var failed *response
	err := poll(ctx, func(ctx context.Context) error {
		r, err := w.s.do(ctx, probe, reached.check)
		if err != nil && r != nil && r.code == http.StatusInternalServerError && strings.Contains(string(r.body), "failed calling webhook") {
			failed, err = r, nil
		}
		return err
	})
	if failed != nil {
		return w.s.skipf("the server cannot reach the webhook of the suite, see Config.ListenWebhook: %s", excerpt(failed.body))
	}
	if err != nil {
		return fmt.Errorf("the server does not call a webhook within %v of its registration: %w", reachTime, err)
	}
	return nil
}

// webhook returns a webhook for all operations on the collection of the case, with its answers to
// the calls. The last answer stays.
func (w *webhooks) webhook(name string, answers ...answer) object {
	return w.webhookAt("/"+w.c.namespace+"/"+name, name, answers...)
}

// webhookAt is like webhook, with a path of its own.
func (w *webhooks) webhookAt(path, name string, answers ...answer) object {
	if len(answers) == 0 {
		answers = []answer{allow}
	}
	w.server.handle(path, inTurn(answers...))
	return w.entry(name, path)
}

// entry returns a webhook in a configuration that calls a path.
func (w *webhooks) entry(name, path string) object {
	return object{
		"name": name + webhookDomain, "admissionReviewVersions": []string{"v1"}, "sideEffects": "None",
		"clientConfig":      object{"url": w.url(path), "caBundle": w.server.caBundle},
		"rules":             []object{w.rule("*")},
		"namespaceSelector": w.selector(),
	}
}

// url returns the URL of a path of the webhook.
func (w *webhooks) url(path string) string { return "https://" + w.server.address + path }

// rule returns a rule for operations on the objects of the case.
func (w *webhooks) rule(operations ...string) object {
	_, version, _ := strings.Cut(w.c.apiVersion, "/")
	return rule(w.c.group, cmp.Or(version, w.c.apiVersion), w.c.resource, operations...)
}

// rule returns a rule for operations on one resource, in one version.
func rule(group, version, resource string, operations ...string) object {
	return resourceRule(group, version, []string{resource}, operations)
}

// selector returns a selector of what has the label of the case. As a namespaceSelector it does not
// exempt cluster-scoped objects: rules that could match those of others need an objectSelector, or
// the scope Namespaced.
func (w *webhooks) selector() object { return object{"matchLabels": object{caseLabel: w.c.namespace}} }

// withAdmissionRules sets the rules of a webhook.
func (o object) withAdmissionRules(rules ...object) object { return o.with("rules", rules) }

// configName returns the name of a configuration of the case. Mutating configurations take effect
// in the order of their suffixes.
func (w *webhooks) configName(suffix string) string { return w.c.namespace + "-" + suffix }

func configPath(resource string) string { return "/apis/" + admissionVersion + "/" + resource }

// postConfig returns a create of a configuration.
func (s *session) postConfig(resource, name string, hooks ...object) call {
	return post(configPath(resource), newObject(admissionVersion, configKind(resource), name).with("webhooks", hooks))
}

// configKind returns the kind of the objects of a resource.
func configKind(resource string) string {
	if resource == mutatingWebhooks {
		return "MutatingWebhookConfiguration"
	}
	return "ValidatingWebhookConfiguration"
}

// mutating registers mutating webhooks and waits until they are effective.
func (w *webhooks) mutating(ctx context.Context, hooks ...object) error {
	return w.register(ctx, mutatingWebhooks, "m", hooks...)
}

// validating registers validating webhooks and waits until they are effective.
func (w *webhooks) validating(ctx context.Context, hooks ...object) error {
	return w.register(ctx, validatingWebhooks, "v", hooks...)
}

// register creates a configuration and waits until it is effective.
func (w *webhooks) register(ctx context.Context, resource, suffix string, hooks ...object) error {
	hooks = slices.Concat([]object{w.newProbe()}, hooks)
	w.s.track(w.configItem(resource, suffix)) // before the request, because its response may be lost
	if err := w.s.expect(ctx, w.s.postConfig(resource, w.configName(suffix), hooks...), code(http.StatusCreated)); err != nil {
		return err
	}
	return w.waitUntilEffective(ctx)
}

// replace replaces the webhooks of a configuration and waits until the change is effective.
func (w *webhooks) replace(ctx context.Context, resource, suffix string, hooks ...object) error {
	hooks = slices.Concat([]object{w.newProbe()}, hooks)
	if err := w.s.expect(ctx, mergePatch(w.configItem(resource, suffix), object{"webhooks": hooks}), code(http.StatusOK)); err != nil {
		return err
	}
	return w.waitUntilEffective(ctx)
}

// unregister deletes the last configuration and waits until that is effective.
func (w *webhooks) unregister(ctx context.Context, resource, suffix string) error {
	if err := w.s.expect(ctx, del(w.configItem(resource, suffix)), code(http.StatusOK)); err != nil {
		return err
	}
	return w.s.waitFor(ctx, w.probe(), code(http.StatusCreated))
}

func (w *webhooks) configItem(resource, suffix string) string {
	return configPath(resource) + "/" + w.configName(suffix)
}

// newProbe returns a webhook that denies the next probe. It is in each configuration, and tells
// when that is effective. It is for Secrets in the namespace, which no other webhook denies.
func (w *webhooks) newProbe() object {
	w.configs++
	path := fmt.Sprintf("/%s/probe%d", w.c.namespace, w.configs)
	w.server.denyProbes(path)
	return w.entry("probe", path).withAdmissionRules(rule("", "v1", "secrets", "CREATE")).
		with("objectSelector", object{"matchLabels": object{probeLabel: w.probeValue()}})
}

func (w *webhooks) probeValue() string { return fmt.Sprint(w.configs) }

// probe returns a dry run of a create that the last configuration denies.
func (w *webhooks) probe() call {
	return post("/api/v1/namespaces/"+w.c.namespace+"/secrets", newObject("v1", "Secret", probeName).withLabel(probeLabel, w.probeValue())).
		withQuery("dryRun=All")
}

// waitUntilEffective waits until the server applies the last configuration.
func (w *webhooks) waitUntilEffective(ctx context.Context) error {
	effective := failure{code: http.StatusBadRequest, contains: probeDenied}
	if err := w.s.waitFor(ctx, w.probe(), effective.check); err != nil {
		return fmt.Errorf("waiting until a configuration of webhooks is effective: %w", err)
	}
	return nil
}

// write sends a write and waits until reads from the cache of the server have the result. Otherwise
// the next update may start with the old object, and call webhooks twice.
func (w *webhooks) write(ctx context.Context, c call, expect ...expectation) (metav1.PartialObjectMetadata, error) {
	var o metav1.PartialObjectMetadata
	r, err := w.s.do(ctx, c, expect...)
	if err != nil || r.code/100 != 2 || strings.Contains(c.path, "dryRun=") {
		return o, err
	}
	if err := r.decode(&o); err != nil || o.Name == "" || o.ResourceVersion == "" {
		return o, err
	}
	item := w.c.item(o.Name)
	if c.method == http.MethodDelete {
		return o, nil
	}
	return o, w.s.expect(ctx, get(item+"?resourceVersion="+o.ResourceVersion), code(http.StatusOK, http.StatusNotFound))
}

// writeAll sends writes one after the other, like session.expectAll.
func (w *webhooks) writeAll(ctx context.Context, exchanges ...exchange) error {
	for _, one := range exchanges {
		if _, err := w.write(ctx, one.call, one.expect...); err != nil {
			return err
		}
	}
	return nil
}

// calls returns the calls since it was called last, and expects that they are of exactly these
// webhooks, in any order. It returns them in that of the names.
func (w *webhooks) calls(names ...string) ([]webhookCall, error) {
	slices.Sort(names)
	got := w.server.takeCalls()
	slices.SortStableFunc(got, func(a, b webhookCall) int { return cmp.Compare(a.webhook(), b.webhook()) })
	return got, expectWebhooks(got, names)
}

// callsInOrder is like calls, and expects the order of the names.
func (w *webhooks) callsInOrder(names ...string) ([]webhookCall, error) {
	got := w.server.takeCalls()
	return got, expectWebhooks(got, names)
}

// expectCalls expects calls like calls.
func (w *webhooks) expectCalls(names ...string) error {
	_, err := w.calls(names...)
	return err
}

func expectWebhooks(got []webhookCall, names []string) error {
	var called []string
	for _, one := range got {
		called = append(called, one.webhook())
	}
	if !slices.Equal(called, names) {
		return fmt.Errorf("expected calls of the webhooks %v, got %v", names, called)
	}
	return nil
}

// webhook returns the name of the called webhook without its domain, the last segment of the path.
func (r webhookCall) webhook() string { return r.path[strings.LastIndex(r.path, "/")+1:] }

// denied is the denial of a webhook without a code.
func denied(name, text string) failure {
	return failure{code: http.StatusBadRequest, message: deniedBy(name) + ": " + text}
}

func deniedBy(name string) string {
	return fmt.Sprintf("admission webhook %q denied the request", name+webhookDomain)
}
