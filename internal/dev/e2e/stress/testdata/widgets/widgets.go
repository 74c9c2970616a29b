// Package widgets has a small controller, with and without faults of its own, and a test of it that
// uses envtest. The packages beside it run the test.
package widgets

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlconfig "sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"example.com/fakeapi/internal/dev/e2e/internal/ports"
)

// Bug is a fault of the controller.
type Bug int

const (
	None      Bug = iota
	Conflict      // it updates a status once, and ignores the error
	Duplicate     // it creates a child if its cache has none, for which it waits too short a time
	Expired       // it continues after a 410 without the objects of the new list
)

func kind() schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: "shop.example.com", Version: "v1", Kind: "Widget"}
}

func definition() *apiextensionsv1.CustomResourceDefinition {
	open := true
	crd := &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "widgets.shop.example.com"},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: kind().Group, Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "widgets", Singular: "widget", Kind: kind().Kind, ListKind: "WidgetList"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: "v1", Served: true, Storage: true,
				Schema:       &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: &open}},
				Subresources: &apiextensionsv1.CustomResourceSubresources{Status: &apiextensionsv1.CustomResourceSubresourceStatus{}},
			}},
		},
	}
	return crd
}

func newWidget(name string) *unstructured.Unstructured {
	w := &unstructured.Unstructured{}
	w.SetGroupVersionKind(kind())
	w.SetNamespace("default")
	w.SetName(name)
	return w
}

// reconciler creates a ConfigMap for each widget, and then sets status.ready.
type reconciler struct {
	client.Client
	bug     Bug
	updated sync.Map // names of widgets whose status was updated
}

func (r *reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	w := newWidget("")
	if err := r.Get(ctx, request.NamespacedName, w); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if err := r.createChild(ctx, w); err != nil {
		return ctrl.Result{}, err
	}
	if ready, _, _ := unstructured.NestedBool(w.Object, "status", "ready"); ready {
		return ctrl.Result{}, nil
	}
	if _, again := r.updated.LoadOrStore(w.GetName(), true); again && r.bug == Conflict {
		return ctrl.Result{}, nil
	}
	if err := unstructured.SetNestedField(w.Object, true, "status", "ready"); err != nil {
		return ctrl.Result{}, err
	}
	if err := r.Status().Update(ctx, w); err != nil && r.bug != Conflict {
		return ctrl.Result{}, err
	}
	return ctrl.Result{RequeueAfter: 50 * time.Millisecond}, nil
}

func (r *reconciler) createChild(ctx context.Context, w *unstructured.Unstructured) error {
	child := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		Namespace: w.GetNamespace(), Name: w.GetName(), Labels: map[string]string{"widget": w.GetName()},
		OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(w, kind())},
	}}
	if r.bug == Duplicate {
		var children corev1.ConfigMapList
		if err := r.List(ctx, &children, client.InNamespace(w.GetNamespace()), client.MatchingLabels(child.Labels)); err != nil || len(children.Items) > 0 {
			return err
		}
		child.Name, child.GenerateName = "", w.GetName()+"-"
		if err := r.Create(ctx, child); err != nil {
			return err
		}
		for begin := time.Now(); time.Since(begin) < cacheWait && r.Get(ctx, client.ObjectKeyFromObject(child), &corev1.ConfigMap{}) != nil; {
			time.Sleep(time.Millisecond)
		}
		return nil
	}
	return client.IgnoreAlreadyExists(r.Create(ctx, child))
}

// observer watches widgets by hand, and records their names.
type observer struct {
	widgets dynamic.ResourceInterface
	bug     Bug

	mu   sync.Mutex // guards seen
	seen map[string]bool
}

func (o *observer) add(w *unstructured.Unstructured) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.seen[w.GetName()] = true
}

func (o *observer) has(name string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.seen[name]
}

// run lists and watches until ctx ends.
func (o *observer) run(ctx context.Context) {
	for first := true; ctx.Err() == nil; first = false {
		list, err := o.widgets.List(ctx, metav1.ListOptions{})
		if err != nil {
			continue
		}
		if first || o.bug != Expired {
			for i := range list.Items {
				o.add(&list.Items[i])
			}
		}
		o.watch(ctx, list.GetResourceVersion())
	}
}

// watch watches until it has to list again.
func (o *observer) watch(ctx context.Context, resourceVersion string) {
	for ctx.Err() == nil {
		w, err := o.widgets.Watch(ctx, metav1.ListOptions{ResourceVersion: resourceVersion})
		if err != nil {
			if apierrors.IsResourceExpired(err) || apierrors.IsGone(err) {
				return
			}
			continue
		}
		for e := range w.ResultChan() {
			if e.Type == watch.Error {
				if err := apierrors.FromObject(e.Object); apierrors.IsResourceExpired(err) || apierrors.IsGone(err) {
					w.Stop()
					return
				}
				break
			}
			changed := e.Object.(*unstructured.Unstructured)
			if e.Type == watch.Added {
				o.add(changed)
			}
			resourceVersion = changed.GetResourceVersion()
		}
		w.Stop()
	}
}

const (
	// cacheWait is how long the controller with the bug Duplicate waits for its cache. It is shorter
	// than the delay of the set that finds the bug, and longer than any delay without faults, unless
	// the machine is very busy.
	cacheWait = 150 * time.Millisecond
	// limit is how long a widget may take. Tests that find a bug take that long.
	limit = 30 * time.Second
)

// Run tests the controller with a bug.
func Run(t *testing.T, bug Bug) {
	env := &envtest.Environment{
		CRDs:                     []*apiextensionsv1.CustomResourceDefinition{definition()},
		ControlPlaneStartTimeout: 2 * time.Minute, ControlPlaneStopTimeout: 2 * time.Minute,
	}
	ports.Choose(t, env)
	config, err := env.Start()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, env.Stop()) })
	ctx, cancel := context.WithCancel(t.Context())
	ended := start(t, ctx, config, bug)
	defer ended()
	defer cancel()

	o := &observer{widgets: dynamic.NewForConfigOrDie(config).Resource(kind().GroupVersion().WithResource("widgets")).Namespace("default"), bug: bug, seen: map[string]bool{}}
	go o.run(ctx)

	direct, err := client.New(config, client.Options{})
	require.NoError(t, err)
	for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
		require.NoError(t, direct.Create(ctx, newWidget(name)))
		require.Eventually(t, func() bool { return o.has(name) }, limit, 10*time.Millisecond, "widget %s is not observed", name)
		require.Eventually(t, func() bool {
			w := newWidget("")
			err := direct.Get(ctx, client.ObjectKey{Namespace: "default", Name: name}, w)
			ready, _, _ := unstructured.NestedBool(w.Object, "status", "ready")
			return err == nil && ready
		}, limit, 10*time.Millisecond, "widget %s is not ready", name)
	}
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for range 10 { // a second child would come late
		<-tick.C
		var children corev1.ConfigMapList
		require.NoError(t, direct.List(ctx, &children, client.InNamespace("default"), client.HasLabels{"widget"}))
		require.Equal(t, 6, len(children.Items), "each widget has one child")
	}
}

// start starts the controller. The function waits for its end.
func start(t *testing.T, ctx context.Context, config *rest.Config, bug Bug) (ended func()) {
	manager, err := ctrl.NewManager(config, ctrl.Options{
		Metrics:    metricsserver.Options{BindAddress: "0"},
		Controller: ctrlconfig.Controller{SkipNameValidation: new(true)}, // the tests of a process use one name
	})
	require.NoError(t, err)
	require.NoError(t, ctrl.NewControllerManagedBy(manager).For(newWidget("")).Owns(&corev1.ConfigMap{}).Complete(&reconciler{Client: manager.GetClient(), bug: bug}))
	done := make(chan error, 1)
	go func() { done <- manager.Start(ctx) }()
	return func() { require.NoError(t, <-done) }
}
