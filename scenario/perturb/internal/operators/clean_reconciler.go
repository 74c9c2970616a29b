package operators

import (
	"context"
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
)

// siteFinalizer keeps a site until it is no longer registered.
const siteFinalizer = "example.com/registration"

// siteReconciler makes the objects of a site what the site says.
type siteReconciler struct {
	sites  dynamic.ResourceInterface
	client kubernetes.Interface
}

// reconcile does what is necessary for a site, which may not exist.
func (r siteReconciler) reconcile(ctx context.Context, name string) error {
	o, err := r.sites.Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return ignoreNotFound(err)
	}
	if o.GetDeletionTimestamp() != nil {
		return r.finalize(ctx, o)
	}
	// The finalizer comes first, since from then on there is something to clean up.
	if !slices.Contains(o.GetFinalizers(), siteFinalizer) {
		o.SetFinalizers(append(o.GetFinalizers(), siteFinalizer))
		if o, err = r.sites.Update(ctx, o, metav1.UpdateOptions{}); err != nil {
			return err
		}
	}
	s := readSite(o)
	for _, step := range []func(context.Context, site) error{r.register, r.ensureContent, r.ensureService, r.ensureDeployment} {
		if err := step(ctx, s); err != nil {
			return err
		}
	}
	return r.writeStatus(ctx, o, s)
}

// finalize removes the registration of a site that is being deleted, and then the finalizer. The
// other objects are deleted by the garbage collector.
func (r siteReconciler) finalize(ctx context.Context, o *unstructured.Unstructured) error {
	at := slices.Index(o.GetFinalizers(), siteFinalizer)
	if at < 0 {
		return nil
	}
	all := r.client.CoreV1().ConfigMaps("external")
	is, err := all.Get(ctx, o.GetName(), metav1.GetOptions{})
	if err == nil && is.Data["uid"] == string(o.GetUID()) {
		err = all.Delete(ctx, is.Name, onlyThis(is))
	}
	if ignoreNotFound(err) != nil {
		return err
	}
	o.SetFinalizers(slices.Delete(o.GetFinalizers(), at, at+1))
	_, err = r.sites.Update(ctx, o, metav1.UpdateOptions{})
	return ignoreNotFound(err)
}

// register registers a site in the external system, by its uid.
func (r siteReconciler) register(ctx context.Context, s site) error {
	data := map[string]string{"site": s.name, "uid": s.uid}
	desired := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: s.name, Labels: map[string]string{siteLabel: s.name}}, Data: data}
	return ensure(ctx, r.client.CoreV1().ConfigMaps("external"), desired, func(is *corev1.ConfigMap) bool {
		changed := !maps.Equal(is.Data, data)
		is.Data = data
		return changed
	})
}

func (r siteReconciler) ensureContent(ctx context.Context, s site) error {
	return ensure(ctx, r.client.CoreV1().ConfigMaps("default"), s.configMap(), func(is *corev1.ConfigMap) bool {
		changed := !maps.Equal(is.Data, s.content)
		is.Data = s.content
		return changed
	})
}

func (r siteReconciler) ensureService(ctx context.Context, s site) error {
	desired := s.service()
	return ensure(ctx, r.client.CoreV1().Services("default"), desired, func(is *corev1.Service) bool {
		changed := !maps.Equal(is.Spec.Selector, desired.Spec.Selector)
		is.Spec.Selector = desired.Spec.Selector
		return changed
	})
}

func (r siteReconciler) ensureDeployment(ctx context.Context, s site) error {
	desired := s.deployment()
	return ensure(ctx, r.client.AppsV1().Deployments("default"), desired, func(is *appsv1.Deployment) bool {
		before := is.DeepCopy()
		is.Spec.Replicas = desired.Spec.Replicas
		is.Spec.Template.Spec.Containers[0].Image = s.image
		return !equality.Semantic.DeepEqual(before, is)
	})
}

// writeStatus writes the status of a site as it was read. If the site has changed since, that
// fails.
func (r siteReconciler) writeStatus(ctx context.Context, o *unstructured.Unstructured, s site) error {
	status := map[string]any{"observedGeneration": o.GetGeneration(), "replicas": s.replicas}
	if is, _, _ := unstructured.NestedMap(o.Object, "status"); equality.Semantic.DeepEqual(is, status) {
		return nil
	}
	o.Object["status"] = status
	_, err := r.sites.UpdateStatus(ctx, o, metav1.UpdateOptions{})
	return err
}
