package fakeapi_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes/scheme"
)

// These placeholders are replaced in objects, and in their encodings, by strings of the same
// length.
const (
	benchName  = "nnnnnnnn"
	benchValue = "vvvvvvvv"
)

// benchType is a type whose writes are measured.
type benchType struct {
	name, path string
	object     runtime.Object
	field      string // the JSON pointer of the value
	patch      string // the strategic merge patch of the value
	status     bool
}

func benchTypes() []benchType {
	image := `{"spec":{"containers":[{"name":"app","image":"registry.example.com/shop/app:vvvvvvvv"}]}}`
	return []benchType{
		{"ConfigMap", "/api/v1/namespaces/default/configmaps", benchConfigMap(), "/data/k", `{"data":{"k":"vvvvvvvv"}}`, false},
		{"Pod", "/api/v1/namespaces/default/pods", benchPod(), "/spec/containers/0/image", image, true},
		{
			"Deployment", "/apis/apps/v1/namespaces/default/deployments", benchDeployment(),
			"/spec/template/spec/containers/0/image", `{"spec":{"template":` + image + `}}`, true,
		},
	}
}

func benchLabels() map[string]string { return map[string]string{"app": "bench", "index": benchName} }

// benchConfigMap returns a ConfigMap of about a KiB.
func benchConfigMap() runtime.Object {
	cm := newKiBConfigMap(benchName)
	cm.Labels["app"] = "bench"
	return cm
}

// benchPod returns a Pod with two containers and the fields that most Pods have.
func benchPod() runtime.Object {
	yes := true
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: benchName, Namespace: "default", Labels: benchLabels(),
			Annotations: map[string]string{"prometheus.io/scrape": "true", "prometheus.io/port": "9090"},
			// The kind is not served; if a ReplicaSet were missing, the Pod would be deleted.
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: "apps.example.com/v1", Kind: "Rollout", Name: "web", UID: "6a9f2f52-bc3d-4d1c-8b9e-1f0e4f5f3a11",
				Controller: &yes, BlockOwnerDeletion: &yes,
			}},
		},
		Spec: benchPodSpec(),
		Status: corev1.PodStatus{
			Phase: corev1.PodRunning, Message: benchValue, PodIP: "10.0.0.7", HostIP: "192.0.2.4",
			Conditions: []corev1.PodCondition{
				{Type: corev1.PodScheduled, Status: corev1.ConditionTrue},
				{Type: corev1.PodReady, Status: corev1.ConditionTrue},
			},
			ContainerStatuses: []corev1.ContainerStatus{
				{Name: "app", Ready: true, Image: "registry.example.com/shop/app:1", ImageID: "sha256:0123456789abcdef"},
				{Name: "proxy", Ready: true, Image: "registry.example.com/proxy:3", ImageID: "sha256:fedcba9876543210"},
			},
		},
	}
}

func benchPodSpec() corev1.PodSpec {
	no := false
	probe := func(path string) *corev1.Probe {
		return &corev1.Probe{
			ProbeHandler:  corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: path, Port: intstr.FromString("http")}},
			PeriodSeconds: 10, FailureThreshold: 3,
		}
	}
	return corev1.PodSpec{
		ServiceAccountName: "default",
		Containers: []corev1.Container{
			{
				Name: "app", Image: "registry.example.com/shop/app:" + benchValue, Args: []string{"serve", "--listen=:8080"},
				Ports: []corev1.ContainerPort{{Name: "http", ContainerPort: 8080, Protocol: corev1.ProtocolTCP}},
				Env: []corev1.EnvVar{
					{Name: "MODE", Value: "production"},
					{Name: "POD", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: "metadata.name"}}},
					{Name: "PASSWORD", ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{
						LocalObjectReference: corev1.LocalObjectReference{Name: "db"}, Key: "password",
					}}},
				},
				Resources: corev1.ResourceRequirements{
					Requests: corev1.ResourceList{"cpu": resource.MustParse("100m"), "memory": resource.MustParse("128Mi")},
					Limits:   corev1.ResourceList{"cpu": resource.MustParse("1"), "memory": resource.MustParse("256Mi")},
				},
				ReadinessProbe: probe("/ready"), LivenessProbe: probe("/live"),
				VolumeMounts:    []corev1.VolumeMount{{Name: "config", MountPath: "/etc/app", ReadOnly: true}, {Name: "tmp", MountPath: "/tmp"}},
				SecurityContext: &corev1.SecurityContext{AllowPrivilegeEscalation: &no},
			},
			{
				Name: "proxy", Image: "registry.example.com/proxy:3",
				Ports: []corev1.ContainerPort{{Name: "metrics", ContainerPort: 9090, Protocol: corev1.ProtocolTCP}},
			},
		},
		Volumes: []corev1.Volume{
			{Name: "config", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "app"}}}},
			{Name: "tmp", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
		},
	}
}

func benchDeployment() runtime.Object {
	replicas, half := int32(3), intstr.FromString("50%")
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: benchName, Namespace: "default", Labels: benchLabels()},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas,
			Selector: &metav1.LabelSelector{MatchLabels: benchLabels()},
			Strategy: appsv1.DeploymentStrategy{
				Type:          appsv1.RollingUpdateDeploymentStrategyType,
				RollingUpdate: &appsv1.RollingUpdateDeployment{MaxSurge: &half, MaxUnavailable: &half},
			},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: benchLabels()}, Spec: benchPodSpec()},
		},
		Status: appsv1.DeploymentStatus{
			ObservedGeneration: 1, Replicas: 3, ReadyReplicas: 3,
			Conditions: []appsv1.DeploymentCondition{{Type: appsv1.DeploymentAvailable, Status: corev1.ConditionTrue, Message: benchValue}},
		},
	}
}

// encode encodes an object in a media type.
func encode(b *testing.B, media string, obj runtime.Object) []byte {
	kinds, _, err := scheme.Scheme.ObjectKinds(obj)
	require.NoError(b, err)
	obj.GetObjectKind().SetGroupVersionKind(kinds[0])
	var out bytes.Buffer
	require.NoError(b, codecs()[media].Encode(obj, &out))
	return bytes.TrimSpace(out.Bytes())
}

// benchOperation is a write that is repeated.
type benchOperation struct {
	name          string
	method        string
	path          string // after the collection, with the name in it
	contentType   string
	body          []byte
	noop          bool // the value does not change
	reuseResponse bool // the body is the last response with another value
}

// operations returns the writes of a type in a media type.
func (w benchType) operations(b *testing.B, media string) []benchOperation {
	body := encode(b, media, w.object)
	config := encode(b, mediaJSON, w.object)
	patch := func(pointer string) []byte {
		p, err := json.Marshal([]map[string]string{{"op": "replace", "path": pointer, "value": benchValue}})
		require.NoError(b, err)
		return p
	}
	const item, apply = "/" + benchName, "/" + benchName + "?fieldManager=bench&force=true"
	all := []benchOperation{
		{name: "create", method: http.MethodPost, contentType: media, body: body},
		{name: "update", method: http.MethodPut, path: item, contentType: media, body: body},
		{name: "resend", method: http.MethodPut, path: item, contentType: media, reuseResponse: true},
		{name: "json-patch", method: http.MethodPatch, path: item, contentType: "application/json-patch+json", body: patch(w.field)},
		{
			name: "merge-patch", method: http.MethodPatch, path: item, contentType: "application/merge-patch+json",
			body: []byte(`{"metadata":{"annotations":{"example.com/v":"vvvvvvvv"}}}`),
		},
		{name: "strategic-patch", method: http.MethodPatch, path: item, contentType: "application/strategic-merge-patch+json", body: []byte(w.patch)},
		{name: "apply-changing", method: http.MethodPatch, path: apply, contentType: "application/apply-patch+yaml", body: config},
		{name: "apply-repeating", method: http.MethodPatch, path: apply, contentType: "application/apply-patch+yaml", body: config, noop: true},
	}
	if w.status {
		all = append(all, benchOperation{name: "status", method: http.MethodPut, path: item + "/status", contentType: media, body: body})
	}
	if _, ok := w.object.(*appsv1.Deployment); ok {
		all = append(all, benchOperation{
			name: "scale", method: http.MethodPatch, path: item + "/scale", contentType: "application/merge-patch+json",
			body: []byte(`{"spec":{"replicas":1vvvvvvvv}}`),
		})
	}
	return all
}

// replaceValue replaces the placeholders of the name and the value in a text.
func replaceValue(text []byte, name, value string) []byte {
	text = bytes.Clone(text)
	for at := 0; ; {
		i := bytes.Index(text[at:], []byte(benchName))
		if i < 0 {
			break
		}
		at += i + copy(text[at+i:], name)
	}
	if i := bytes.Index(text, []byte(benchValue)); i >= 0 {
		copy(text[i:], value)
	}
	return text
}

// request returns the n-th write to the object with the given number. A create creates the n-th
// object.
func (o benchOperation) request(base string, object, n int) (url string, body []byte) {
	value := fmt.Sprintf("%08d", n)
	if o.noop {
		value = "00000000"
	}
	if o.method == http.MethodPost && n > 0 {
		object = n
	}
	name := fmt.Sprintf("n%07d", object)
	return base + string(replaceValue([]byte(o.path), name, "")), replaceValue(o.body, name, value)
}

// fixture returns the operation that creates the object for this one.
func (o benchOperation) fixture(b *testing.B, w benchType) benchOperation {
	if o.contentType == "application/apply-patch+yaml" {
		return o // so that it has the same manager
	}
	return benchOperation{name: "create", method: http.MethodPost, contentType: mediaJSON, body: encode(b, mediaJSON, w.object)}
}
