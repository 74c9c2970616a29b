package quota

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	apiresource "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func quantities(pairs ...string) corev1.ResourceList {
	list := corev1.ResourceList{}
	for i := 0; i < len(pairs); i += 2 {
		list[corev1.ResourceName(pairs[i])] = apiresource.MustParse(pairs[i+1])
	}
	return list
}

func pod(change func(*corev1.Pod), requestsAndLimits ...string) *corev1.Pod {
	list := quantities(requestsAndLimits...)
	p := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{
		{Name: "c", Resources: corev1.ResourceRequirements{Requests: list, Limits: list}},
	}}}
	if change != nil {
		change(p)
	}
	return p
}

var now = time.Unix(1000, 0)

func usageText(resource schema.GroupResource, obj runtime.Object) string {
	return format(increase(evaluatorFor(resource, stored()).usage(obj, now), nil))
}

func TestUsageOfPods(t *testing.T) {
	pods := schema.GroupResource{Resource: "pods"}
	grace := int64(30)
	for want, obj := range map[string]*corev1.Pod{
		"count/pods=1,pods=1": pod(nil),
		"count/pods=1":        pod(func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded }, "cpu", "1"),
		"count/pods=1,cpu=1,ephemeral-storage=3,limits.cpu=1,limits.ephemeral-storage=3,limits.memory=2,memory=2,pods=1,requests.cpu=1,requests.ephemeral-storage=3,requests.memory=2": pod(nil, "cpu", "1", "memory", "2", "ephemeral-storage", "3"),
		"count/pods=1,hugepages-2Mi=2Mi,pods=1,requests.example.com/gpu=2,requests.hugepages-2Mi=2Mi":                                                                                  pod(nil, "example.com/gpu", "2", "hugepages-2Mi", "2Mi"),
		"count/pods=1,pods=1,requests.deviceclass.resource.kubernetes.io/gpu=2":                                                                                                        pod(nil, "deviceclass.resource.kubernetes.io/gpu", "2"),
		"count/pods=1,ephemeral-storage=1,limits.ephemeral-storage=1,pods=1,requests.ephemeral-storage=1":                                                                              pod(nil, "ephemeral-storage", "1", "x.kubernetes.io/native", "1", "requests.example.com/prefixed", "1"),
		"count/pods=1,cpu=3,limits.cpu=3,pods=1,requests.cpu=3": pod(func(p *corev1.Pod) {
			p.Spec.InitContainers = []corev1.Container{{Resources: corev1.ResourceRequirements{Requests: quantities("cpu", "2"), Limits: quantities("cpu", "2")}}}
			p.Spec.Overhead = quantities("cpu", "1")
		}, "cpu", "1"),
	} {
		require.Equal(t, want, usageText(pods, obj))
	}
	for _, name := range []corev1.ResourceName{"requests.deviceclass.resource.kubernetes.io/gpu", "hugepages-2Mi", "requests.hugepages-2Mi"} {
		require.True(t, isPodName(name), name)
	}
	require.False(t, isPodName("requests.kubernetes.io/gpu"))
	deleted := pod(func(p *corev1.Pod) {
		p.DeletionTimestamp, p.DeletionGracePeriodSeconds = &metav1.Time{Time: now.Add(-31 * time.Second)}, &grace
	})
	require.Equal(t, "count/pods=1", usageText(pods, deleted))
	deleted.DeletionTimestamp.Time = now
	require.Equal(t, "count/pods=1,pods=1", usageText(pods, deleted))
}

func TestUsageOfOtherObjects(t *testing.T) {
	service := func(kind corev1.ServiceType, allocate *bool) *corev1.Service {
		return &corev1.Service{Spec: corev1.ServiceSpec{Type: kind, AllocateLoadBalancerNodePorts: allocate, Ports: []corev1.ServicePort{{NodePort: 30000}, {}}}}
	}
	no, yes, gold := false, true, "gold"
	claim := &corev1.PersistentVolumeClaim{Spec: corev1.PersistentVolumeClaimSpec{
		StorageClassName: &gold, Resources: corev1.VolumeResourceRequirements{Requests: quantities("storage", "1500m")},
	}}
	resized := claim.DeepCopy()
	resized.Spec.StorageClassName, resized.Status.AllocatedResources = nil, quantities("storage", "2500m")
	devices := &resourcev1.ResourceClaim{Spec: resourcev1.ResourceClaimSpec{Devices: resourcev1.DeviceClaim{Requests: []resourcev1.DeviceRequest{
		{Exactly: &resourcev1.ExactDeviceRequest{DeviceClassName: "a", Count: 2}},
		{FirstAvailable: []resourcev1.DeviceSubRequest{{DeviceClassName: "a", Count: 1}, {DeviceClassName: "b", AllocationMode: resourcev1.DeviceAllocationModeAll}, {DeviceClassName: "b", Count: 1}}},
	}}}}
	core := func(name string) schema.GroupResource { return schema.GroupResource{Resource: name} }
	for _, c := range []struct {
		resource schema.GroupResource
		obj      runtime.Object
		want     string
	}{
		{core("services"), service(corev1.ServiceTypeClusterIP, nil), "count/services=1,services=1"},
		{core("services"), service(corev1.ServiceTypeNodePort, nil), "count/services=1,services=1,services.nodeports=2"},
		{core("services"), service(corev1.ServiceTypeLoadBalancer, nil), "count/services=1,services=1,services.loadbalancers=1,services.nodeports=2"},
		{core("services"), service(corev1.ServiceTypeLoadBalancer, &yes), "count/services=1,services=1,services.loadbalancers=1,services.nodeports=2"},
		{core("services"), service(corev1.ServiceTypeLoadBalancer, &no), "count/services=1,services=1,services.loadbalancers=1,services.nodeports=1"},
		{core("persistentvolumeclaims"), claim, "count/persistentvolumeclaims=1,gold.storageclass.storage.k8s.io/persistentvolumeclaims=1," +
			"gold.storageclass.storage.k8s.io/requests.storage=2,persistentvolumeclaims=1,requests.storage=2"},
		{core("persistentvolumeclaims"), resized, "count/persistentvolumeclaims=1,persistentvolumeclaims=1,requests.storage=3"},
		{core("secrets"), &corev1.Secret{}, "count/secrets=1,secrets=1"},
		{schema.GroupResource{Group: "example.com", Resource: "widgets"}, nil, "count/widgets.example.com=1"},
		{schema.GroupResource{Group: "resource.k8s.io", Resource: "resourceclaims"}, devices, "a.deviceclass.resource.k8s.io/devices=3," +
			"b.deviceclass.resource.k8s.io/devices=32,count/resourceclaims.resource.k8s.io=1," +
			"requests.deviceclass.resource.kubernetes.io/a=3,requests.deviceclass.resource.kubernetes.io/b=32"},
	} {
		require.Equal(t, c.want, usageText(c.resource, c.obj))
	}
}

func TestScopes(t *testing.T) {
	deadline := int64(0)
	ofPriority := func(class string) func(*corev1.Pod) {
		return func(p *corev1.Pod) { p.Spec.PriorityClassName = class }
	}
	gold := ofPriority("gold")
	affine := func(required, preferred, antiRequired, antiPreferred corev1.PodAffinityTerm) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			p.Spec.Affinity = &corev1.Affinity{
				PodAffinity: &corev1.PodAffinity{
					RequiredDuringSchedulingIgnoredDuringExecution:  []corev1.PodAffinityTerm{required},
					PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{{PodAffinityTerm: preferred}},
				},
				PodAntiAffinity: &corev1.PodAntiAffinity{
					RequiredDuringSchedulingIgnoredDuringExecution:  []corev1.PodAffinityTerm{antiRequired},
					PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{{PodAffinityTerm: antiPreferred}},
				},
			}
		}
	}
	own := corev1.PodAffinityTerm{TopologyKey: "zone"}
	named, selected := corev1.PodAffinityTerm{Namespaces: []string{"x"}}, corev1.PodAffinityTerm{NamespaceSelector: &metav1.LabelSelector{}}
	asWhole := func(resources corev1.ResourceList) func(*corev1.Pod) {
		return func(p *corev1.Pod) { p.Spec.Resources = &corev1.ResourceRequirements{Limits: resources} }
	}
	ofClass := func(class corev1.PodQOSClass) func(*corev1.Pod) {
		return func(p *corev1.Pod) { p.Status.QOSClass = class }
	}
	classScope := func(operator corev1.ScopeSelectorOperator, values ...string) corev1.ScopedResourceSelectorRequirement {
		return corev1.ScopedResourceSelectorRequirement{ScopeName: corev1.ResourceQuotaScopePriorityClass, Operator: operator, Values: values}
	}
	exists := func(name corev1.ResourceQuotaScope) corev1.ScopedResourceSelectorRequirement {
		return corev1.ScopedResourceSelectorRequirement{ScopeName: name, Operator: corev1.ScopeSelectorOpExists}
	}
	for _, c := range []struct {
		scope corev1.ScopedResourceSelectorRequirement
		in    *corev1.Pod
		out   *corev1.Pod
	}{
		{exists(corev1.ResourceQuotaScopeTerminating), pod(func(p *corev1.Pod) { p.Spec.ActiveDeadlineSeconds = &deadline }), pod(nil)},
		{exists(corev1.ResourceQuotaScopeNotTerminating), pod(nil), pod(func(p *corev1.Pod) { p.Spec.ActiveDeadlineSeconds = &deadline })},
		{exists(corev1.ResourceQuotaScopeBestEffort), pod(nil, "example.com/gpu", "1"), pod(nil, "cpu", "1")},
		{exists(corev1.ResourceQuotaScopeNotBestEffort), pod(nil, "memory", "1"), pod(nil, "cpu", "0")},
		{exists(corev1.ResourceQuotaScopeBestEffort), pod(ofClass(corev1.PodQOSBestEffort), "cpu", "1"), pod(ofClass(corev1.PodQOSBurstable))},
		{exists(corev1.ResourceQuotaScopePriorityClass), pod(gold), pod(nil)},
		{exists(corev1.ResourceQuotaScopeNotBestEffort), pod(asWhole(quantities("cpu", "1"))), pod(asWhole(quantities("hugepages-2Mi", "2Mi")))},
		{exists(corev1.ResourceQuotaScopeCrossNamespacePodAffinity), pod(affine(named, own, own, own)), pod(nil)},
		{exists(corev1.ResourceQuotaScopeCrossNamespacePodAffinity), pod(affine(own, selected, own, own)), pod(affine(own, own, own, own))},
		{exists(corev1.ResourceQuotaScopeCrossNamespacePodAffinity), pod(affine(own, own, selected, own)), pod(func(p *corev1.Pod) { p.Spec.Affinity = &corev1.Affinity{} })},
		{exists(corev1.ResourceQuotaScopeCrossNamespacePodAffinity), pod(affine(own, own, own, named)), pod(nil)},
		{classScope(corev1.ScopeSelectorOpIn, "gold", "silver"), pod(gold), pod(nil)},
		{classScope(corev1.ScopeSelectorOpNotIn, "gold"), pod(nil), pod(gold)},
		{classScope(corev1.ScopeSelectorOpNotIn, "gold"), pod(ofPriority("silver")), pod(gold)},
		{classScope(corev1.ScopeSelectorOpDoesNotExist), pod(nil), pod(gold)},
	} {
		require.True(t, podInScope(c.scope, c.in), c.scope)
		require.False(t, podInScope(c.scope, c.out), c.scope)
	}
}

// A claim is in the scope of each of the VolumeAttributesClasses that it has or wants.
func TestScopesOfClaims(t *testing.T) {
	claim := func(wanted, current *string, modified *corev1.ModifyVolumeStatus) *corev1.PersistentVolumeClaim {
		return &corev1.PersistentVolumeClaim{
			Spec:   corev1.PersistentVolumeClaimSpec{VolumeAttributesClassName: wanted},
			Status: corev1.PersistentVolumeClaimStatus{CurrentVolumeAttributesClassName: current, ModifyVolumeStatus: modified},
		}
	}
	gold, silver := "gold", "silver"
	target := &corev1.ModifyVolumeStatus{TargetVolumeAttributesClassName: gold}
	for _, c := range []struct {
		operator corev1.ScopeSelectorOperator
		values   []string
		in, out  *corev1.PersistentVolumeClaim
	}{
		{corev1.ScopeSelectorOpExists, nil, claim(&gold, nil, nil), claim(nil, nil, nil)},
		{corev1.ScopeSelectorOpDoesNotExist, nil, claim(nil, nil, nil), claim(nil, nil, target)},
		{corev1.ScopeSelectorOpIn, []string{"gold"}, claim(&silver, &gold, nil), claim(&silver, &silver, nil)},
		{corev1.ScopeSelectorOpIn, []string{"gold"}, claim(&silver, &silver, target), claim(nil, nil, nil)},
		{corev1.ScopeSelectorOpNotIn, []string{"gold"}, claim(&gold, &silver, nil), claim(&gold, &gold, target)},
	} {
		q := newQuota("persistentvolumeclaims", "1")
		q.Spec.ScopeSelector = &corev1.ScopeSelector{MatchExpressions: []corev1.ScopedResourceSelectorRequirement{
			{ScopeName: corev1.ResourceQuotaScopeVolumeAttributesClass, Operator: c.operator, Values: c.values},
		}}
		require.True(t, claimEvaluator().isInScopes(q, c.in), c)
		require.False(t, claimEvaluator().isInScopes(q, c.out), c)
		q.Spec.ScopeSelector.MatchExpressions[0].ScopeName = corev1.ResourceQuotaScopePriorityClass
		require.False(t, claimEvaluator().isInScopes(q, c.in), "a scope of pods")
		require.False(t, serviceEvaluator().isInScopes(q, &corev1.Service{}), "services are in no scope")
	}
}

func newQuota(hard ...string) *corev1.ResourceQuota {
	return &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: "q", Namespace: "ns"}, Spec: corev1.ResourceQuotaSpec{Hard: quantities(hard...)}}
}

// storedObjects returns the objects of a resource in a namespace.
type storedObjects func(gr schema.GroupResource, namespace string) []runtime.Object

func (f storedObjects) Has(gr schema.GroupResource) bool { return gr.Group != "none.example.com" }

func (f storedObjects) List(gr schema.GroupResource, namespace string) ([]runtime.Object, error) {
	return f(gr, namespace), nil
}

func (f storedObjects) Count(gr schema.GroupResource, namespace string) int {
	return len(f(gr, namespace))
}

func (f storedObjects) DeviceClasses() map[string]string {
	return ClassesByName(f(schema.GroupResource{Resource: "deviceclasses"}, "ns"))
}

// stored returns a Lister that has the objects in every namespace.
func stored(objects ...runtime.Object) Lister {
	return storedObjects(func(gr schema.GroupResource, _ string) []runtime.Object {
		return slices.DeleteFunc(slices.Clone(objects), func(obj runtime.Object) bool { return pluralOf(obj) != gr.Resource })
	})
}

func pluralOf(obj runtime.Object) string {
	switch obj.(type) {
	case *corev1.Pod:
		return "pods"
	case *corev1.PersistentVolumeClaim:
		return "persistentvolumeclaims"
	case *resourcev1.ResourceClaim:
		return "resourceclaims"
	}
	return "deviceclasses"
}

// undecodable is a number of objects that cannot be decoded.
type undecodable int

var errDecoded = errors.New("decoded")

func (n undecodable) Has(schema.GroupResource) bool { return true }

func (n undecodable) List(schema.GroupResource, string) ([]runtime.Object, error) {
	return nil, errDecoded
}

func (n undecodable) Count(schema.GroupResource, string) int { return int(n) }

func (n undecodable) DeviceClasses() map[string]string { return nil }

// Objects are decoded only for a quota that limits more than their number.
func TestCountsWithoutDecoding(t *testing.T) {
	for _, c := range []struct {
		hard   []string
		scopes []corev1.ResourceQuotaScope
		want   string // "" if the objects are decoded
	}{
		{[]string{"secrets", "9", "count/secrets", "9"}, nil, "count/secrets=2,secrets=2"},
		{[]string{"count/widgets.example.com", "9"}, nil, "count/widgets.example.com=2"},
		{[]string{"secrets", "9", "count/secrets.example.com", "9"}, nil, "count/secrets.example.com=2,secrets=2"},
		{[]string{"services", "9", "count/services", "9"}, nil, "count/services=2,services=2"},
		{[]string{"persistentvolumeclaims", "9", "count/persistentvolumeclaims", "9"}, nil, "count/persistentvolumeclaims=2,persistentvolumeclaims=2"},
		{[]string{"count/resourceclaims.resource.k8s.io", "9"}, nil, "count/resourceclaims.resource.k8s.io=2"},
		{[]string{"count/pods", "9"}, nil, "count/pods=2"},
		{[]string{"count/pods", "9"}, []corev1.ResourceQuotaScope{corev1.ResourceQuotaScopeBestEffort}, ""},
		{[]string{"pods", "9"}, nil, ""}, // without those that have ended
		{[]string{"services", "9", "services.nodeports", "9"}, nil, ""},
		{[]string{"services.loadbalancers", "9"}, nil, ""},
		{[]string{"gold.storageclass.storage.k8s.io/persistentvolumeclaims", "9"}, nil, ""},
		{[]string{"a.deviceclass.resource.k8s.io/devices", "9"}, nil, ""},
	} {
		q := newQuota(c.hard...)
		q.Spec.Scopes = c.scopes
		status, err := Status(q, now, undecodable(2))
		if c.want == "" {
			require.ErrorIs(t, err, errDecoded, c.hard)
			continue
		}
		require.NoError(t, err, c.hard)
		require.Equal(t, c.want, format(status.Used))
	}
	secrets := Write{Operation: admissionv1.Create, GroupResource: schema.GroupResource{Resource: "secrets"}, Namespace: "ns", Object: &corev1.Secret{}, Now: now}
	_, err := secrets.Check([]*corev1.ResourceQuota{newQuota("secrets", "2")}, undecodable(1))
	require.NoError(t, err)
	applies, err := secrets.Check([]*corev1.ResourceQuota{newQuota("secrets", "2")}, undecodable(2))
	require.True(t, applies)
	require.EqualError(t, err, "exceeded quota: q, requested: secrets=1, used: secrets=2, limited: secrets=2")
}

// Whatever an object is, its usage has 1 for the names that are counted without decoding.
func TestCountedNames(t *testing.T) {
	for gr, obj := range map[schema.GroupResource]runtime.Object{
		{Resource: "pods"}:                                     pod(func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed }),
		{Resource: "services"}:                                 &corev1.Service{},
		{Resource: "persistentvolumeclaims"}:                   &corev1.PersistentVolumeClaim{},
		{Group: "resource.k8s.io", Resource: "resourceclaims"}: &resourcev1.ResourceClaim{},
		{Resource: "secrets"}:                                  &corev1.Secret{},
	} {
		e := evaluatorFor(gr, stored())
		require.NotEmpty(t, e.counted)
		require.Equal(t, format(times(1, e.counted)), format(only(e.usage(obj, now), e.counted)))
	}
}

func TestCheck(t *testing.T) {
	pods := schema.GroupResource{Resource: "pods"}
	check := func(q *corev1.ResourceQuota, w *Write, list Lister) (bool, string) {
		w.Namespace, w.Now = "ns", now
		applies, err := w.Check([]*corev1.ResourceQuota{q}, list)
		if err != nil {
			return applies, err.Error()
		}
		return applies, ""
	}
	applies, text := check(newQuota("pods", "2"), &Write{Operation: admissionv1.Create, GroupResource: pods, Object: pod(nil)}, stored(pod(nil)))
	require.True(t, applies)
	require.Empty(t, text)
	_, text = check(newQuota("pods", "1"), &Write{Operation: admissionv1.Create, GroupResource: pods, Object: pod(nil)}, stored(pod(nil)))
	require.Equal(t, "exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1", text)
	_, text = check(newQuota("cpu", "1", "limits.memory", "1"), &Write{Operation: admissionv1.Create, GroupResource: pods, Object: pod(func(p *corev1.Pod) {
		p.Spec.InitContainers = []corev1.Container{{Name: "b"}, {Name: "a"}}
	}, "cpu", "1")}, stored())
	require.Equal(t, "failed quota: q: must specify cpu for: a,b; limits.memory for: a,b,c", text)

	// A pod with resources of its own needs none of its containers.
	_, text = check(newQuota("cpu", "2", "limits.memory", "1"), &Write{Operation: admissionv1.Create, GroupResource: pods, Object: pod(func(p *corev1.Pod) {
		p.Spec.Resources = &corev1.ResourceRequirements{Requests: quantities("cpu", "3")}
	})}, stored())
	require.Equal(t, "exceeded quota: q, requested: cpu=3, used: cpu=0, limited: cpu=2", text)

	// What any of the quotas requires comes before what another one limits.
	strict := newQuota("cpu", "1")
	strict.Name = "strict"
	w := &Write{Operation: admissionv1.Create, GroupResource: pods, Namespace: "ns", Now: now, Object: pod(nil)}
	_, err := w.Check([]*corev1.ResourceQuota{newQuota("pods", "0"), strict}, stored())
	require.EqualError(t, err, "failed quota: strict: must specify cpu for: c")

	// An update can move a pod into the scope of a quota.
	deadline := int64(5)
	terminating := newQuota("pods", "0")
	terminating.Spec.Scopes = []corev1.ResourceQuotaScope{corev1.ResourceQuotaScopeTerminating}
	_, text = check(terminating, &Write{Operation: admissionv1.Update, GroupResource: pods, Old: pod(nil), Object: pod(func(p *corev1.Pod) {
		p.Spec.ActiveDeadlineSeconds = &deadline
	})}, stored(pod(nil)))
	require.Equal(t, "exceeded quota: q, requested: pods=1, used: pods=0, limited: pods=0", text)

	applies, _ = check(newQuota("secrets", "0"), &Write{Operation: admissionv1.Create, GroupResource: pods, Object: pod(nil)}, stored())
	require.False(t, applies)
	scoped := newQuota("pods", "0")
	scoped.Spec.Scopes = []corev1.ResourceQuotaScope{corev1.ResourceQuotaScopeNotBestEffort}
	applies, _ = check(scoped, &Write{Operation: admissionv1.Create, GroupResource: pods, Object: pod(nil)}, stored())
	require.False(t, applies)

	// An update counts what it adds.
	claim := func(size string) *corev1.PersistentVolumeClaim {
		return &corev1.PersistentVolumeClaim{Spec: corev1.PersistentVolumeClaimSpec{Resources: corev1.VolumeResourceRequirements{Requests: quantities("storage", size)}}}
	}
	claims := schema.GroupResource{Resource: "persistentvolumeclaims"}
	_, text = check(newQuota("requests.storage", "10Gi"), &Write{Operation: admissionv1.Update, GroupResource: claims, Object: claim("9Gi"), Old: claim("2Gi")}, stored(claim("2Gi"), claim("2Gi")))
	require.Equal(t, "exceeded quota: q, requested: requests.storage=7Gi, used: requests.storage=4Gi, limited: requests.storage=10Gi", text)
	applies, text = check(newQuota("requests.storage", "1Gi"), &Write{Operation: admissionv1.Update, GroupResource: claims, Object: claim("1Gi"), Old: claim("2Gi")}, stored(claim("2Gi")))
	require.False(t, applies, text)
}

func TestIsCounted(t *testing.T) {
	write := func(operation admissionv1.Operation, resource, subresource string) *Write {
		return &Write{Operation: operation, GroupResource: schema.GroupResource{Resource: resource}, Subresource: subresource, Namespace: "ns"}
	}
	deadline := int64(5)
	withDeadline := func(p *corev1.Pod) { p.Spec.ActiveDeadlineSeconds = &deadline }
	updateOfPod := func(now, old *corev1.Pod) *Write {
		w := write(admissionv1.Update, "pods", "")
		w.Object, w.Old = now, old
		return w
	}
	for _, w := range []*Write{
		write(admissionv1.Create, "pods", ""), write(admissionv1.Update, "pods", "resize"), write(admissionv1.Update, "services", ""), write(admissionv1.Create, "secrets", ""),
		{Operation: admissionv1.Create, GroupResource: schema.GroupResource{Group: "example.com", Resource: "events"}, Namespace: "ns"},
		updateOfPod(pod(withDeadline), pod(nil)), updateOfPod(pod(nil), pod(withDeadline)),
	} {
		require.True(t, w.IsCounted(), w)
	}
	for _, w := range []*Write{
		updateOfPod(pod(nil, "cpu", "1"), pod(nil)), updateOfPod(pod(withDeadline), pod(withDeadline)), write(admissionv1.Create, "pods", "binding"), write(admissionv1.Update, "secrets", ""),
		write(admissionv1.Delete, "services", ""), write(admissionv1.Create, "serviceaccounts", "token"),
		write(admissionv1.Create, "events", ""), {Operation: admissionv1.Create, GroupResource: schema.GroupResource{Resource: "nodes"}},
	} {
		require.False(t, w.IsCounted(), w)
	}
}

func TestStatus(t *testing.T) {
	q := newQuota("pods", "3", "count/widgets.example.com", "1", "count/widgets.none.example.com", "1", "unknown", "1",
		"count/events", "1", "count/events.events.k8s.io", "1")
	status, err := Status(q, now, storedObjects(func(gr schema.GroupResource, namespace string) []runtime.Object {
		require.Equal(t, "ns", namespace)
		if gr.Resource == "pods" {
			return []runtime.Object{pod(nil), pod(nil)}
		}
		return nil
	}))
	require.NoError(t, err)
	require.Equal(t, "count/widgets.example.com=0,pods=2", format(status.Used))

	// The usage that something else has written remains, if there is a limit for it.
	q.Status.Used = quantities("pods", "1", "unknown", "7", "count/widgets.none.example.com", "1", "other", "1")
	status, err = Status(q, now, stored(pod(nil), pod(nil)))
	require.NoError(t, err)
	require.Equal(t, "count/widgets.example.com=0,count/widgets.none.example.com=1,pods=2,unknown=7", format(status.Used))
	require.True(t, Equal(q.Spec.Hard, status.Hard))
	require.False(t, Equal(status.Used, status.Hard))
}
