package operators

import (
	"context"
	"errors"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/rest"

	fakeapi "example.com/fakeapi/fake"
	"example.com/fakeapi/scenario"
)

// Clean returns an operator without a known bug, larger than the others. Both forms are the same.
// It runs a Deployment, a Service and a ConfigMap for each custom resource Site, registers the site
// in an external system, for which the objects in namespace "external" stand, and writes a status.
//
// It acts on the current state of the server only. The caches of its informers tell it which sites
// to look at, but not what to do.
func Clean() Operator {
	return Operator{
		Name:    "clean",
		Bug:     "None.",
		Shows:   "Nothing.",
		Options: []fakeapi.Option{fakeapi.WithCRDs(fakeapi.CRDsFromObjects(siteDefinition()))},
		Setup:   []scenario.Step{namespace("external")},
		Workload: []scenario.Step{
			siteStep("blog", 1), siteStep("shop", 2),
			patch("site", "blog", `{spec: {replicas: 3}}`),
			patch("site", "shop", `{spec: {image: "shop:2", content: {greeting: hello}}}`),
			remove("site", "blog"),
			siteStep("blog", 2),
			remove("site", "shop"),
		},
		Buggy:    runSites,
		Repaired: runSites,
		Scenario: sitesScenario,
	}
}

const sitesScenario = `
create external.yaml
apply blog.yaml
run operator
advance 1s
expect deployment/blog spec.replicas=1
expect service/blog
expect configmap/blog data.greeting=hi
expect configmap/blog -n external data.site=blog
expect site/blog metadata.finalizers[0]=example.com/registration status.observedGeneration=1
# A change is made while the watch is cut and while the server fails.
fault cut: when verb(watch) && userAgent(operator) && event(MODIFIED) && first(2) do reset
fault fail: when verb(create, update, patch, delete) && userAgent(operator) && first(5) do status(500)
patch site/blog {spec: {replicas: 2}}
advance 1m
expect deployment/blog spec.replicas=2
expect site/blog status.observedGeneration=2 status.replicas=2
# A child that somebody deletes comes back.
delete service/blog
advance 1m
expect service/blog
stop operator
delete site/blog
run operator
advance 1m
expect absent site/blog
expect absent deployment/blog
expect absent service/blog
expect absent configmap/blog
expect absent configmap/blog -n external
-- external.yaml --
apiVersion: v1
kind: Namespace
metadata: {name: external}
-- blog.yaml --
apiVersion: example.com/v1
kind: Site
metadata: {name: blog}
spec: {replicas: 1, image: "blog:1", content: {greeting: hi}}
`

// siteStep returns the step that creates a site.
func siteStep(name string, replicas int) scenario.Step {
	return scenario.Apply(name+".yaml", fmt.Sprintf(`apiVersion: example.com/v1
kind: Site
metadata: {name: %s}
spec: {replicas: %d, image: "%s:1", content: {greeting: hi}}
`, name, replicas, name))
}

// siteDefinition returns the definition of the custom resource.
func siteDefinition() *unstructured.Unstructured {
	type object = map[string]any
	spec := object{"type": "object", "properties": object{
		"replicas": object{"type": "integer", "minimum": int64(0)},
		"image":    object{"type": "string"},
		"content":  object{"type": "object", "additionalProperties": object{"type": "string"}},
	}}
	status := object{"type": "object", "properties": object{
		"observedGeneration": object{"type": "integer"},
		"replicas":           object{"type": "integer"},
	}}
	return &unstructured.Unstructured{Object: object{
		"apiVersion": "apiextensions.k8s.io/v1",
		"kind":       "CustomResourceDefinition",
		"metadata":   object{"name": "sites.example.com"},
		"spec": object{
			"group": "example.com",
			"scope": "Namespaced",
			"names": object{"kind": "Site", "plural": "sites", "singular": "site"},
			"versions": []any{object{
				"name": "v1", "served": true, "storage": true,
				"subresources": object{"status": object{}},
				"schema": object{"openAPIV3Schema": object{
					"type": "object", "properties": object{"spec": spec, "status": status},
				}},
			}},
		},
	}}
}

// siteLabel is the label of an object with the name of its site.
const siteLabel = "site"

// siteResource is the custom resource.
func siteResource() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "sites"}
}

// runSites is the operator.
func runSites(ctx context.Context, config *rest.Config) error {
	c, err := newController(ctx, config)
	if err != nil {
		return err
	}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return err
	}
	sites := dynamicinformer.NewDynamicSharedInformerFactory(client, 0)
	core, apps := c.informers.Core().V1(), c.informers.Apps().V1()
	err = errors.Join(
		c.watch(sites.ForResource(siteResource()).Informer(), ownName),
		c.watch(core.ConfigMaps().Informer(), valueOf(siteLabel)),
		c.watch(core.Services().Informer(), valueOf(siteLabel)),
		c.watch(apps.Deployments().Informer(), valueOf(siteLabel)),
	)
	if err != nil {
		return err
	}
	sites.Start(ctx.Done())
	defer sites.Shutdown()
	sites.WaitForCacheSync(ctx.Done())
	r := siteReconciler{client.Resource(siteResource()).Namespace("default"), c.client}
	return c.run(ctx, r.reconcile)
}

// readSite returns the fields of a site.
func readSite(o *unstructured.Unstructured) site {
	s := site{owner: *metav1.NewControllerRef(o, o.GroupVersionKind()), name: o.GetName(), uid: string(o.GetUID())}
	// The schema of the definition guarantees the types.
	s.replicas, _, _ = unstructured.NestedInt64(o.Object, "spec", "replicas")
	s.image, _, _ = unstructured.NestedString(o.Object, "spec", "image")
	s.content, _, _ = unstructured.NestedStringMap(o.Object, "spec", "content")
	return s
}

// site has what the objects of a site are made from.
type site struct {
	owner     metav1.OwnerReference
	name, uid string
	replicas  int64
	image     string
	content   map[string]string
}

// metadata returns the metadata of an object that is deleted with the site.
func (s site) metadata() metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Name: s.name, Labels: map[string]string{siteLabel: s.name}, OwnerReferences: []metav1.OwnerReference{s.owner},
	}
}

func (s site) configMap() *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: s.metadata(), Data: s.content}
}

func (s site) service() *corev1.Service {
	return &corev1.Service{ObjectMeta: s.metadata(), Spec: corev1.ServiceSpec{
		ClusterIP: corev1.ClusterIPNone, Selector: map[string]string{siteLabel: s.name}, Ports: []corev1.ServicePort{{Port: 80}},
	}}
}

func (s site) deployment() *appsv1.Deployment {
	labels, replicas := map[string]string{siteLabel: s.name}, int32(s.replicas)
	return &appsv1.Deployment{ObjectMeta: s.metadata(), Spec: appsv1.DeploymentSpec{
		Replicas: &replicas,
		Selector: &metav1.LabelSelector{MatchLabels: labels},
		Template: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: labels},
			Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: s.image}}},
		},
	}}
}

// objectClient is what typed clients have in common.
type objectClient[T any] interface {
	Get(ctx context.Context, name string, options metav1.GetOptions) (T, error)
	Create(ctx context.Context, obj T, options metav1.CreateOptions) (T, error)
	Update(ctx context.Context, obj T, options metav1.UpdateOptions) (T, error)
}

// errOtherOwner is the error for an object of an earlier owner, which will be deleted.
var errOtherOwner = errors.New("the object has another owner or is being deleted")

// ensure creates an object, or updates the one of its name if adjust changes it. The update fails
// if that has changed since it was read.
func ensure[T metav1.Object](ctx context.Context, client objectClient[T], desired T, adjust func(T) (changed bool)) error {
	is, err := client.Get(ctx, desired.GetName(), metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		_, err = client.Create(ctx, desired, metav1.CreateOptions{})
		return err
	}
	if err != nil {
		return err
	}
	owner := metav1.GetControllerOf(desired)
	if is.GetDeletionTimestamp() != nil || owner != nil && !metav1.IsControlledBy(is, &metav1.ObjectMeta{UID: owner.UID}) {
		return errOtherOwner
	}
	if !adjust(is) {
		return nil
	}
	_, err = client.Update(ctx, is, metav1.UpdateOptions{})
	return err
}
