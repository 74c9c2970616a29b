package builtin

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"

	"example.com/fakeapi/fake/internal/resource"
)

// fieldSet returns the values of the StoredFields of an object, nil if there are none.
func fieldSet(r *resource.Resource, obj runtime.Object) (set fields.Set) {
	for _, f := range r.StoredFields() {
		if set == nil {
			set = fields.Set{}
		}
		set[f.Label] = f.Value(obj)
	}
	return set
}

func TestStoredFields(t *testing.T) {
	for plural, c := range map[string]struct {
		group  string
		object runtime.Object
		want   fields.Set
	}{
		"pods": {"", &corev1.Pod{
			Spec:   corev1.PodSpec{NodeName: "n1", RestartPolicy: "Never", SchedulerName: "s", ServiceAccountName: "sa", HostNetwork: true},
			Status: corev1.PodStatus{Phase: "Running", PodIPs: []corev1.PodIP{{IP: "10.0.0.1"}, {IP: "fd00::1"}}, NominatedNodeName: "n2"},
		}, fields.Set{
			"spec.nodeName": "n1", "spec.host": "n1", "spec.restartPolicy": "Never", "spec.schedulerName": "s",
			"spec.serviceAccountName": "sa", "spec.hostNetwork": "true", "status.phase": "Running",
			"status.podIP": "10.0.0.1", "status.podIPs": "", "status.nominatedNodeName": "n2",
		}},
		"namespaces": {"", &corev1.Namespace{Status: corev1.NamespaceStatus{Phase: "Active"}}, fields.Set{"status.phase": "Active"}},
		"nodes":      {"", &corev1.Node{}, fields.Set{"spec.unschedulable": "false"}},
		"secrets":    {"", &corev1.Secret{Type: "Opaque"}, fields.Set{"type": "Opaque"}},
		"services": {"", &corev1.Service{Spec: corev1.ServiceSpec{ClusterIP: "10.1.1.1", Type: "ClusterIP"}}, fields.Set{
			"spec.clusterIP": "10.1.1.1", "spec.type": "ClusterIP",
		}},
		"replicationcontrollers": {"", &corev1.ReplicationController{Status: corev1.ReplicationControllerStatus{Replicas: 3}}, fields.Set{"status.replicas": "3"}},
		"jobs":                   {"batch", &batchv1.Job{Status: batchv1.JobStatus{Succeeded: 2}}, fields.Set{"status.successful": "2"}},
		"certificatesigningrequests": {"certificates.k8s.io", &certificatesv1.CertificateSigningRequest{
			Spec: certificatesv1.CertificateSigningRequestSpec{SignerName: "a/b"},
		}, fields.Set{"spec.signerName": "a/b"}},
		"clustertrustbundles": {"certificates.k8s.io", &certificatesv1.ClusterTrustBundle{
			Spec: certificatesv1.ClusterTrustBundleSpec{SignerName: "a/b"},
		}, fields.Set{"spec.signerName": "a/b"}},
		"podcertificaterequests": {"certificates.k8s.io", &certificatesv1.PodCertificateRequest{
			Spec: certificatesv1.PodCertificateRequestSpec{SignerName: "a/b", PodName: "p", NodeName: "n"},
		}, fields.Set{"spec.signerName": "a/b", "spec.podName": "p", "spec.nodeName": "n"}},
		"resourceslices": {"resource.k8s.io", &resourcev1.ResourceSlice{
			Spec: resourcev1.ResourceSliceSpec{Driver: "d", NodeName: new("n"), Pool: resourcev1.ResourcePool{Name: "p"}},
		}, fields.Set{"spec.driver": "d", "spec.nodeName": "n", "spec.pool.name": "p"}},
		"configmaps": {"", &corev1.ConfigMap{}, nil},
	} {
		r := Table().Lookup(c.group, "v1", plural)
		require.Equal(t, c.want, fieldSet(r, c.object), plural)
		for label := range c.want {
			require.NoError(t, r.CheckField(label), label)
		}
	}
	require.Equal(t, "", fieldSet(Table().Lookup("", "v1", "secrets"), &corev1.Pod{})["type"], "an object of another type")
	r := Table().Lookup("resource.k8s.io", "v1", "resourceslices")
	require.Equal(t, "", fieldSet(r, &resourcev1.ResourceSlice{})["spec.nodeName"])
}

// Labels are in the order of memstore.Pairs.
func TestStoredFieldsAreSorted(t *testing.T) {
	for _, r := range Table().All() {
		var labels []string
		for _, f := range r.StoredFields() {
			labels = append(labels, f.Label)
		}
		require.Equal(t, slices.Compact(slices.Sorted(slices.Values(labels))), labels, r.GroupVersionResource())
	}
}

// The record of an event has the fields of both versions, and each version can be selected by its
// own only.
func TestEventFields(t *testing.T) {
	core, events := Table().Lookup("", "v1", "events"), Table().Lookup("events.k8s.io", "v1", "events")
	event := &corev1.Event{
		InvolvedObject: corev1.ObjectReference{Kind: "Pod", Name: "web", UID: "u"}, Reason: "Pulled", Type: "Normal", ReportingController: "kubelet",
	}
	set := fieldSet(events, event)
	require.Equal(t, fieldSet(core, event), set)
	for label, value := range map[string]string{
		"involvedObject.kind": "Pod", "regarding.kind": "Pod", "involvedObject.uid": "u", "regarding.name": "web",
		"reason": "Pulled", "type": "Normal", "source": "kubelet", "reportingComponent": "kubelet", "reportingController": "kubelet",
	} {
		require.Equal(t, value, set[label], label)
	}
	event.Source.Component = "scheduler"
	require.Equal(t, "scheduler", fieldSet(core, event)["source"])

	require.NoError(t, core.CheckField("involvedObject.name"))
	require.Error(t, core.CheckField("regarding.name"))
	require.NoError(t, events.CheckField("regarding.name"))
	require.Error(t, events.CheckField("involvedObject.name"))
	require.Error(t, events.CheckField("source"))
}

func TestCheckField(t *testing.T) {
	for _, c := range []struct{ group, plural, label, err string }{
		{"", "configmaps", "metadata.name", ""},
		{"", "configmaps", "metadata.namespace", ""},
		{"", "configmaps", "data", `"data" is not a known field selector: only "metadata.name", "metadata.namespace"`},
		{"apps", "replicasets", "status.replicas", `"status.replicas" is not a known field selector: only "metadata.name", "metadata.namespace"`},
		{"rbac.authorization.k8s.io", "clusterroles", "metadata.namespace", ""},
		{"", "pods", "metadata.namespace", ""},
		{"", "pods", "spec.nodename", "field label not supported: spec.nodename"},
		{"", "nodes", "metadata.name", ""},
		{"", "nodes", "metadata.namespace", "field label not supported: metadata.namespace"},
		{"certificates.k8s.io", "podcertificaterequests", "metadata.namespace", "field label not supported: metadata.namespace"},
		{"batch", "jobs", "status.failed", `field label "status.failed" not supported for batchv1.Job`},
		{"resource.k8s.io", "resourceslices", "x", "field label not supported for resource.k8s.io/v1, Kind=ResourceSlice: x"},
	} {
		err := Table().Lookup(c.group, "v1", c.plural).CheckField(c.label)
		if c.err == "" {
			require.NoError(t, err, c)
			continue
		}
		require.EqualError(t, err, c.err)
	}
	beta := AllVersions().Lookup("resource.k8s.io", "v1beta2", "resourceslices")
	require.EqualError(t, beta.CheckField("x"), "field label not supported for resource.k8s.io/v1beta2, Kind=ResourceSlice: x")
}

func TestValidateName(t *testing.T) {
	for _, c := range []struct {
		group, plural, name string
		valid               bool
	}{
		{"", "pods", "a.b-1", true},
		{"", "pods", "A", false},
		{"", "namespaces", "a.b", false},
		{"", "namespaces", "1a", true},
		{"", "services", "1a", true},
		{"", "services", "a-1", true},
		{"", "services", "a.b", false},
		{"", "events", "Node_x.17", true},
		{"", "events", "a/b", false},
		{"events.k8s.io", "events", "node.17", true},
		{"events.k8s.io", "events", "Node_x.17", false},
		{"rbac.authorization.k8s.io", "clusterroles", "system:node", true},
		{"rbac.authorization.k8s.io", "roles", "..", false},
		{"policy", "poddisruptionbudgets", "My_Budget", true},
		{"certificates.k8s.io", "certificatesigningrequests", "node-csr-A_1", true},
		{"certificates.k8s.io", "clustertrustbundles", "example.com:signer:roots", true},
		{"certificates.k8s.io", "clustertrustbundles", "roots", true},
		{"certificates.k8s.io", "clustertrustbundles", "example.com:Roots", true},
		{"networking.k8s.io", "ipaddresses", "10.0.0.1", true},
		{"networking.k8s.io", "ipaddresses", "fd00::1", true},
		{"networking.k8s.io", "ipaddresses", "fd00:0::1", false},
		{"networking.k8s.io", "ipaddresses", "web", false},
	} {
		problems := Table().Lookup(c.group, "v1", c.plural).ValidateName(c.name, false)
		require.Equal(t, c.valid, len(problems) == 0, "%s %s: %v", c.plural, c.name, problems)
	}
}
