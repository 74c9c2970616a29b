package table

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	migrationv1 "k8s.io/api/storagemigration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
)

func named3h(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: name, CreationTimestamp: before(3 * time.Hour)}
}

func deletedMeta(name string) metav1.ObjectMeta {
	m := named3h(name)
	m.DeletionTimestamp = new(before(time.Minute))
	return m
}

func annotated(name, key, value string) metav1.ObjectMeta {
	m := named3h(name)
	m.Annotations = map[string]string{key: value}
	return m
}

func gib(n int64) corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceStorage: *resource.NewQuantity(n<<30, resource.BinarySI)}
}

var web = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}

// The cells of each type, separated by bars.
func TestCells(t *testing.T) {
	template := corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "a", Image: "x:1"}, {Name: "b", Image: "y:2"}}}}
	average := autoscalingv2.MetricTarget{AverageValue: resource.NewQuantity(9, resource.DecimalSI)}
	value := autoscalingv2.MetricTarget{Value: resource.NewQuantity(9, resource.DecimalSI)}
	condition := func(of batchv1.JobConditionType) []batchv1.JobCondition {
		return []batchv1.JobCondition{{Type: of, Status: corev1.ConditionTrue}}
	}
	inNamespace := &apiregistrationv1.ServiceReference{Namespace: "ns", Name: "s"}
	apiService := func(service *apiregistrationv1.ServiceReference, conditions ...apiregistrationv1.APIServiceCondition) *apiregistrationv1.APIService {
		return &apiregistrationv1.APIService{
			ObjectMeta: named3h("a"), Spec: apiregistrationv1.APIServiceSpec{Service: service}, Status: apiregistrationv1.APIServiceStatus{Conditions: conditions},
		}
	}
	for want, obj := range map[string]runtime.Object{
		// Workloads. The default of replicas is 1.
		"d|0/1|0|0|3h||| ": &appsv1.Deployment{ObjectMeta: named3h("d")},
		"d|2/3|1|2|3h|a,b|x:1,y:2|app=web": &appsv1.Deployment{
			ObjectMeta: named3h("d"), Spec: appsv1.DeploymentSpec{Replicas: new(int32(3)), Selector: web, Template: template},
			Status: appsv1.DeploymentStatus{ReadyReplicas: 2, UpdatedReplicas: 1, AvailableReplicas: 2},
		},
		"d|0/1|0|0|3h|||<invalid>": &appsv1.Deployment{ObjectMeta: named3h("d"), Spec: appsv1.DeploymentSpec{Selector: &metav1.LabelSelector{
			MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "?"}},
		}}},
		"r|3|2|1|3h|a,b|x:1,y:2|app=web": &appsv1.ReplicaSet{
			ObjectMeta: named3h("r"), Spec: appsv1.ReplicaSetSpec{Replicas: new(int32(3)), Selector: web, Template: template},
			Status: appsv1.ReplicaSetStatus{Replicas: 2, ReadyReplicas: 1},
		},
		"r|1|0|0|3h|||<none>": &corev1.ReplicationController{ObjectMeta: named3h("r")},
		"s|1/3|3h|a,b|x:1,y:2": &appsv1.StatefulSet{
			ObjectMeta: named3h("s"), Spec: appsv1.StatefulSetSpec{Replicas: new(int32(3)), Template: template},
			Status: appsv1.StatefulSetStatus{ReadyReplicas: 1},
		},
		"d|1|2|3|4|5|<none>|3h|a,b|x:1,y:2|app=web": &appsv1.DaemonSet{
			ObjectMeta: named3h("d"), Spec: appsv1.DaemonSetSpec{Selector: web, Template: template},
			Status: appsv1.DaemonSetStatus{
				DesiredNumberScheduled: 1, CurrentNumberScheduled: 2, NumberReady: 3, UpdatedNumberScheduled: 4, NumberAvailable: 5,
			},
		},
		"c|daemonset.apps/d|7|3h": &appsv1.ControllerRevision{Revision: 7, ObjectMeta: metav1.ObjectMeta{
			Name: "c", CreationTimestamp: before(3 * time.Hour),
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "DaemonSet", Name: "d", Controller: new(true)}},
		}},

		// Jobs.
		"j|Running|0/1||3h|||<none>":                    &batchv1.Job{ObjectMeta: named3h("j")},
		"j|Running|1/1 of 4||3h|||<none>":               &batchv1.Job{ObjectMeta: named3h("j"), Spec: batchv1.JobSpec{Parallelism: new(int32(4))}, Status: batchv1.JobStatus{Succeeded: 1}},
		"j|Running|0/5|5m|3h|||<none>":                  &batchv1.Job{ObjectMeta: named3h("j"), Spec: batchv1.JobSpec{Completions: new(int32(5))}, Status: batchv1.JobStatus{StartTime: new(before(5 * time.Minute))}},
		"j|Complete|0/1|55m|3h|||<none>":                &batchv1.Job{ObjectMeta: deletedMeta("j"), Status: batchv1.JobStatus{StartTime: new(before(time.Hour)), CompletionTime: new(before(5 * time.Minute)), Conditions: condition(batchv1.JobComplete)}},
		"j|Failed|0/1||3h|||<none>":                     &batchv1.Job{ObjectMeta: named3h("j"), Status: batchv1.JobStatus{Conditions: condition(batchv1.JobFailed)}},
		"j|Suspended|0/1||3h|||<none>":                  &batchv1.Job{ObjectMeta: named3h("j"), Status: batchv1.JobStatus{Conditions: condition(batchv1.JobSuspended)}},
		"j|Terminating|0/1||3h|||<none>":                &batchv1.Job{ObjectMeta: deletedMeta("j"), Status: batchv1.JobStatus{Conditions: condition(batchv1.JobSuspended)}},
		"j|SuccessCriteriaMet|0/1||3h|||<none>":         &batchv1.Job{ObjectMeta: named3h("j"), Status: batchv1.JobStatus{Conditions: condition(batchv1.JobSuccessCriteriaMet)}},
		"c|* * * * *|<none>|False|0|<none>|3h|||<none>": &batchv1.CronJob{ObjectMeta: named3h("c"), Spec: batchv1.CronJobSpec{Schedule: "* * * * *"}},
		"c|@daily|Etc/UTC|True|2|5m|3h|a,b|x:1,y:2|<none>": &batchv1.CronJob{
			ObjectMeta: named3h("c"), Spec: batchv1.CronJobSpec{
				Schedule: "@daily", TimeZone: new("Etc/UTC"), Suspend: new(true), JobTemplate: batchv1.JobTemplateSpec{Spec: batchv1.JobSpec{Template: template}},
			},
			Status: batchv1.CronJobStatus{Active: make([]corev1.ObjectReference, 2), LastScheduleTime: new(before(5 * time.Minute))},
		},

		// Volumes.
		"v|5Gi|RWO,RWX|Retain|Terminating|ns/c|fast|<unset>||3h|Filesystem": &corev1.PersistentVolume{ObjectMeta: deletedMeta("v"), Spec: corev1.PersistentVolumeSpec{
			Capacity: gib(5), StorageClassName: "fast", ClaimRef: &corev1.ObjectReference{Namespace: "ns", Name: "c"},
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteMany, corev1.ReadWriteOnce, corev1.ReadWriteOnce},
		}},
		"v|1Gi||Delete|Released|||gold|lost|3h|Block": &corev1.PersistentVolume{ObjectMeta: named3h("v"), Spec: corev1.PersistentVolumeSpec{
			Capacity: gib(1), VolumeAttributesClassName: new("gold"), VolumeMode: new(corev1.PersistentVolumeBlock), PersistentVolumeReclaimPolicy: corev1.PersistentVolumeReclaimDelete,
		}, Status: corev1.PersistentVolumeStatus{Phase: corev1.VolumeReleased, Reason: "lost"}},
		"c|Pending|||||<unset>|3h|Filesystem": &corev1.PersistentVolumeClaim{ObjectMeta: named3h("c")},
		"c|Terminating|||||<unset>|3h|Filesystem": &corev1.PersistentVolumeClaim{
			ObjectMeta: deletedMeta("c"), Status: corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimBound, Capacity: gib(5)},
		},
		"c|Bound|v|5Gi|RWOP|slow|gold|3h|Block": &corev1.PersistentVolumeClaim{
			ObjectMeta: annotated("c", corev1.BetaStorageClassAnnotation, "slow"),
			Spec:       corev1.PersistentVolumeClaimSpec{VolumeName: "v", VolumeAttributesClassName: new("gold"), VolumeMode: new(corev1.PersistentVolumeBlock), StorageClassName: new("fast")},
			Status:     corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimBound, Capacity: gib(5), AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOncePod}},
		},
		"s|p|Delete|Immediate|false|3h": &storagev1.StorageClass{ObjectMeta: annotated("s", "storageclass.kubernetes.io/is-default-class", "true"), Provisioner: "p"},
		"v|p|3h": &storagev1.VolumeAttributesClass{
			ObjectMeta: annotated("v", "volumeattributesclass.alpha.kubernetes.io/is-default-class", "true"), DriverName: "p",
		},
		"d|true|false|false|<unset>|false|Persistent|3h": &storagev1.CSIDriver{ObjectMeta: named3h("d")},
		"d|true|false|false|a,b|false|Ephemeral|3h": &storagev1.CSIDriver{ObjectMeta: named3h("d"), Spec: storagev1.CSIDriverSpec{
			TokenRequests: []storagev1.TokenRequest{{Audience: "a"}, {Audience: "b"}}, VolumeLifecycleModes: []storagev1.VolumeLifecycleMode{storagev1.VolumeLifecycleEphemeral},
		}},
		"c|fast|<unset>": &storagev1.CSIStorageCapacity{ObjectMeta: named3h("c"), StorageClassName: "fast"},
		"c|fast|5Gi":     &storagev1.CSIStorageCapacity{ObjectMeta: named3h("c"), StorageClassName: "fast", Capacity: new(gib(5)[corev1.ResourceStorage])},

		// The core group.
		"s|Opaque|1|3h": &corev1.Secret{ObjectMeta: named3h("s"), Data: map[string][]byte{"a": nil}},
		"c|2|3h":        &corev1.ConfigMap{ObjectMeta: named3h("c"), Data: map[string]string{"a": ""}, BinaryData: map[string][]byte{"b": nil}},
		"n|Active|3h":   &corev1.Namespace{ObjectMeta: named3h("n"), Status: corev1.NamespaceStatus{Phase: corev1.NamespaceActive}},
		"q|pods: 1/4, services: 0/2|limits.cpu: 500m/1|3h": &corev1.ResourceQuota{ObjectMeta: named3h("q"), Status: corev1.ResourceQuotaStatus{
			Hard: corev1.ResourceList{"services": resource.MustParse("2"), "pods": resource.MustParse("4"), "limits.cpu": resource.MustParse("1")},
			Used: corev1.ResourceList{"pods": resource.MustParse("1"), "limits.cpu": resource.MustParse("0.5")},
		}},

		"t|k|v|NoExecute||3h": &resourcev1.DeviceTaintRule{ObjectMeta: named3h("t"), Spec: resourcev1.DeviceTaintRuleSpec{
			Taint: resourcev1.DeviceTaint{Key: "k", Value: "v", Effect: resourcev1.DeviceTaintEffectNoExecute},
		}},
		"t|k||NoSchedule|5m|3h": &resourcev1.DeviceTaintRule{ObjectMeta: named3h("t"), Spec: resourcev1.DeviceTaintRuleSpec{
			Taint: resourcev1.DeviceTaint{Key: "k", Effect: resourcev1.DeviceTaintEffectNoSchedule, TimeAdded: new(before(5 * time.Minute))},
		}},

		"5m|Normal|R|pod/p|spec|kubelet, host|text|120m|7|e": &corev1.Event{
			ObjectMeta: named3h("e"), Type: "Normal", Reason: "R", Message: " text\n", Count: 7, FirstTimestamp: before(2 * time.Hour), LastTimestamp: before(5 * time.Minute),
			InvolvedObject: corev1.ObjectReference{Kind: "Pod", Name: "p", FieldPath: "spec"}, Source: corev1.EventSource{Component: "kubelet", Host: "host"},
			ReportingController: "other", ReportingInstance: "other",
		},
		"4m|||node||me, instance||4m|1|e": &corev1.Event{
			ObjectMeta: named3h("e"), EventTime: metav1.MicroTime(before(4 * time.Minute)), InvolvedObject: corev1.ObjectReference{Kind: "Node"},
			ReportingController: "me", ReportingInstance: "instance",
		},
		"3m|||||me||4m|9|e": &corev1.Event{
			ObjectMeta: named3h("e"), EventTime: metav1.MicroTime(before(4 * time.Minute)), Source: corev1.EventSource{Component: "me"}, Count: 2,
			Series: &corev1.EventSeries{Count: 9, LastObservedTime: metav1.MicroTime(before(3 * time.Minute))},
		},

		// Networks.
		"s|ClusterIP|None|<none>|<none>|3h|<none>": &corev1.Service{ObjectMeta: named3h("s"), Spec: corev1.ServiceSpec{ClusterIPs: []string{"None"}}},
		"s|LoadBalancer|<none>|<pending>|80/TCP|3h|<none>": &corev1.Service{ObjectMeta: named3h("s"), Spec: corev1.ServiceSpec{
			Type: corev1.ServiceTypeLoadBalancer, Ports: []corev1.ServicePort{{Port: 80}},
		}},
		"s|LoadBalancer|<none>|9.9.9.9|<none>|3h|<none>": &corev1.Service{
			ObjectMeta: named3h("s"), Spec: corev1.ServiceSpec{Type: corev1.ServiceTypeLoadBalancer, ExternalIPs: []string{"9.9.9.9"}},
		},
		"s|LoadBalancer|<none>|8.8.8.8|<none>|3h|<none>": &corev1.Service{
			ObjectMeta: named3h("s"), Spec: corev1.ServiceSpec{Type: corev1.ServiceTypeLoadBalancer},
			Status: corev1.ServiceStatus{LoadBalancer: corev1.LoadBalancerStatus{Ingress: []corev1.LoadBalancerIngress{{IP: "8.8.8.8", Hostname: "a.example.com"}}}},
		},
		"s|NodePort|10.1.0.1|9.9.9.9|80:30080/TCP,53/UDP|3h|app=web": &corev1.Service{ObjectMeta: named3h("s"), Spec: corev1.ServiceSpec{
			Type: corev1.ServiceTypeNodePort, ClusterIP: "10.1.0.1", ExternalIPs: []string{"9.9.9.9"}, Selector: map[string]string{"app": "web"},
			Ports: []corev1.ServicePort{{Port: 80, NodePort: 30080}, {Port: 53, Protocol: corev1.ProtocolUDP}},
		}},
		"s|LoadBalancer|<none>|a.example.com,b.example.com,9.9.9.9|<none>|3h|<none>": &corev1.Service{
			ObjectMeta: named3h("s"), Spec: corev1.ServiceSpec{Type: corev1.ServiceTypeLoadBalancer, ExternalIPs: []string{"9.9.9.9"}},
			Status: corev1.ServiceStatus{LoadBalancer: corev1.LoadBalancerStatus{Ingress: []corev1.LoadBalancerIngress{{Hostname: "b.example.com"}, {Hostname: "a.example.com"}, {}}}},
		},
		"s|ExternalName|<none>|x.example.com|<none>|3h|<none>": &corev1.Service{ObjectMeta: named3h("s"), Spec: corev1.ServiceSpec{Type: corev1.ServiceTypeExternalName, ExternalName: "x.example.com"}},
		"e|<none>|3h":       &endpointsObject{ObjectMeta: named3h("e")},
		"i|<none>|*||80|3h": &networkingv1.Ingress{ObjectMeta: named3h("i")},
		"i|<none>|a,b||80|3h": &networkingv1.Ingress{
			ObjectMeta: named3h("i"), Spec: networkingv1.IngressSpec{Rules: []networkingv1.IngressRule{{}, {Host: "a"}, {Host: "b"}}},
		},
		"i|nginx|a,b,c + 1 more...|1.1.1.1,lb.example.com|80, 443|3h": &networkingv1.Ingress{
			ObjectMeta: named3h("i"), Spec: networkingv1.IngressSpec{
				IngressClassName: new("nginx"), TLS: make([]networkingv1.IngressTLS, 1), Rules: []networkingv1.IngressRule{{Host: "a"}, {Host: "b"}, {Host: "c"}, {Host: "d"}},
			},
			Status: networkingv1.IngressStatus{LoadBalancer: networkingv1.IngressLoadBalancerStatus{Ingress: []networkingv1.IngressLoadBalancerIngress{{Hostname: "lb.example.com"}, {IP: "1.1.1.1"}}}},
		},
		"i (default)|x|P.example.com/p|3h": &networkingv1.IngressClass{
			ObjectMeta: annotated("i", defaultIngressClass, "true"),
			Spec:       networkingv1.IngressClassSpec{Controller: "x", Parameters: &networkingv1.IngressClassParametersReference{APIGroup: new("example.com"), Kind: "P", Name: "p"}},
		},
		"i|x|P/p|3h": &networkingv1.IngressClass{
			ObjectMeta: annotated("i", defaultIngressClass, "false"),
			Spec:       networkingv1.IngressClassSpec{Controller: "x", Parameters: &networkingv1.IngressClassParametersReference{Kind: "P", Name: "p"}},
		},
		"10.0.0.2|gateways.example.com/g|3h": &networkingv1.IPAddress{ObjectMeta: named3h("10.0.0.2"), Spec: networkingv1.IPAddressSpec{
			ParentRef: &networkingv1.ParentReference{Group: "example.com", Resource: "Gateways", Name: "g"},
		}},
		"10.0.0.1|services/ns/s|3h": &networkingv1.IPAddress{ObjectMeta: named3h("10.0.0.1"), Spec: networkingv1.IPAddressSpec{
			ParentRef: &networkingv1.ParentReference{Resource: "services", Namespace: "ns", Name: "s"},
		}},
		"n|app=web|3h": &networkingv1.NetworkPolicy{ObjectMeta: named3h("n"), Spec: networkingv1.NetworkPolicySpec{PodSelector: *web}},

		// RBAC.
		"b|ClusterRole/r|3h|u, v|g|ns/s": &rbacv1.RoleBinding{ObjectMeta: named3h("b"), RoleRef: rbacv1.RoleRef{Kind: "ClusterRole", Name: "r"}, Subjects: []rbacv1.Subject{
			{Kind: "User", Name: "u"}, {Kind: "Group", Name: "g"}, {Kind: "User", Name: "v"}, {Kind: "ServiceAccount", Namespace: "ns", Name: "s"},
		}},
		"c|3h|x|ann|24h|Approved,Issued": &certificatesv1.CertificateSigningRequest{
			ObjectMeta: named3h("c"), Spec: certificatesv1.CertificateSigningRequestSpec{SignerName: "x", Username: "ann", ExpirationSeconds: new(int32(86400))},
			Status: certificatesv1.CertificateSigningRequestStatus{Certificate: []byte("x"), Conditions: []certificatesv1.CertificateSigningRequestCondition{{Type: certificatesv1.CertificateApproved}}},
		},
		"c|3h|<none>||<none>|Denied,Failed": &certificatesv1.CertificateSigningRequest{ObjectMeta: named3h("c"), Status: certificatesv1.CertificateSigningRequestStatus{
			Conditions: []certificatesv1.CertificateSigningRequestCondition{{Type: certificatesv1.CertificateFailed}, {Type: certificatesv1.CertificateDenied}},
		}},
		"r|p|a|n|x|Issued|k=v": &certificatesv1.PodCertificateRequest{
			ObjectMeta: named3h("r"), Spec: certificatesv1.PodCertificateRequestSpec{
				PodName: "p", ServiceAccountName: "a", NodeName: "n", SignerName: "x", UnverifiedUserAnnotations: map[string]string{"k": "v"},
			},
			Status: certificatesv1.PodCertificateRequestStatus{Conditions: []metav1.Condition{{Type: certificatesv1.PodCertificateRequestConditionTypeIssued}, {Type: "Other"}}},
		},
		"v|p|<unset>|3h": &admissionv1.ValidatingAdmissionPolicyBinding{ObjectMeta: named3h("v"), Spec: admissionv1.ValidatingAdmissionPolicyBindingSpec{
			PolicyName: "p", ParamRef: &admissionv1.ParamRef{},
		}},
		"v|p|" + web.String() + "|3h": &admissionv1.ValidatingAdmissionPolicyBinding{ObjectMeta: named3h("v"), Spec: admissionv1.ValidatingAdmissionPolicyBindingSpec{
			PolicyName: "p", ParamRef: &admissionv1.ParamRef{Selector: web},
		}},
		"v|p|*/x|3h": &admissionv1.ValidatingAdmissionPolicyBinding{ObjectMeta: named3h("v"), Spec: admissionv1.ValidatingAdmissionPolicyBindingSpec{
			PolicyName: "p", ParamRef: &admissionv1.ParamRef{Name: "x"},
		}},
		"v|0|v1/ConfigMap|3h": &admissionv1.ValidatingAdmissionPolicy{ObjectMeta: named3h("v"), Spec: admissionv1.ValidatingAdmissionPolicySpec{
			ParamKind: &admissionv1.ParamKind{APIVersion: "v1", Kind: "ConfigMap"},
		}},

		// Other groups.
		"b|50%|N/A|2|3h": &policyv1.PodDisruptionBudget{
			ObjectMeta: named3h("b"), Spec: policyv1.PodDisruptionBudgetSpec{MinAvailable: new(intstr.FromString("50%"))},
			Status: policyv1.PodDisruptionBudgetStatus{DisruptionsAllowed: 2},
		},
		"f|l|100|ByUser|3h|False": &flowcontrolv1.FlowSchema{
			ObjectMeta: named3h("f"), Spec: flowcontrolv1.FlowSchemaSpec{
				PriorityLevelConfiguration: flowcontrolv1.PriorityLevelConfigurationReference{Name: "l"}, MatchingPrecedence: 100,
				DistinguisherMethod: &flowcontrolv1.FlowDistinguisherMethod{Type: flowcontrolv1.FlowDistinguisherMethodByUserType},
			},
			Status: flowcontrolv1.FlowSchemaStatus{Conditions: []flowcontrolv1.FlowSchemaCondition{{Type: flowcontrolv1.FlowSchemaConditionDangling, Status: flowcontrolv1.ConditionFalse}}},
		},
		"f||0|<none>|3h|?": &flowcontrolv1.FlowSchema{ObjectMeta: named3h("f"), Status: flowcontrolv1.FlowSchemaStatus{
			Conditions: []flowcontrolv1.FlowSchemaCondition{{Type: "Other", Status: flowcontrolv1.ConditionTrue}},
		}},
		"p|Limited|5|<none>|<none>|<none>|3h": &flowcontrolv1.PriorityLevelConfiguration{ObjectMeta: named3h("p"), Spec: flowcontrolv1.PriorityLevelConfigurationSpec{
			Type: flowcontrolv1.PriorityLevelEnablementLimited, Limited: &flowcontrolv1.LimitedPriorityLevelConfiguration{NominalConcurrencyShares: new(int32(5))},
		}},
		"p|Limited|30|64|6|50|3h": &flowcontrolv1.PriorityLevelConfiguration{ObjectMeta: named3h("p"), Spec: flowcontrolv1.PriorityLevelConfigurationSpec{
			Type: flowcontrolv1.PriorityLevelEnablementLimited, Limited: &flowcontrolv1.LimitedPriorityLevelConfiguration{LimitResponse: flowcontrolv1.LimitResponse{
				Queuing: &flowcontrolv1.QueuingConfiguration{Queues: 64, HandSize: 6, QueueLengthLimit: 50},
			}},
		}},
		"p|Exempt|<none>|<none>|<none>|<none>|3h": &flowcontrolv1.PriorityLevelConfiguration{ObjectMeta: named3h("p"), Spec: flowcontrolv1.PriorityLevelConfigurationSpec{
			Type: flowcontrolv1.PriorityLevelEnablementExempt,
		}},
		"c|deleted,allocated,reserved|3h": &resourcev1.ResourceClaim{ObjectMeta: deletedMeta("c"), Status: resourcev1.ResourceClaimStatus{
			Allocation: &resourcev1.AllocationResult{}, ReservedFor: make([]resourcev1.ResourceClaimConsumerReference, 1),
		}},
		"c|deleted|3h":   &resourcev1.ResourceClaim{ObjectMeta: deletedMeta("c")},
		"c|pending|3h":   &resourcev1.ResourceClaim{ObjectMeta: named3h("c")},
		"c|allocated|3h": &resourcev1.ResourceClaim{ObjectMeta: named3h("c"), Status: resourcev1.ResourceClaimStatus{Allocation: &resourcev1.AllocationResult{}}},
		"m|deployments.apps|Succeeded": &migrationv1.StorageVersionMigration{
			ObjectMeta: named3h("m"), Spec: migrationv1.StorageVersionMigrationSpec{Resource: metav1.GroupResource{Group: "apps", Resource: "deployments"}},
			Status: migrationv1.StorageVersionMigrationStatus{Conditions: []metav1.Condition{
				{Type: string(migrationv1.MigrationRunning), Status: metav1.ConditionFalse}, {Type: string(migrationv1.MigrationSucceeded), Status: metav1.ConditionTrue},
				{Type: string(migrationv1.MigrationFailed), Status: metav1.ConditionFalse}, {Type: "Other", Status: metav1.ConditionTrue},
			}},
		},
		"m|deployments|Unknown": &migrationv1.StorageVersionMigration{
			ObjectMeta: named3h("m"), Spec: migrationv1.StorageVersionMigrationSpec{Resource: metav1.GroupResource{Resource: "deployments"}},
		},
		"h|Deployment/d|cpu: <unknown>/80%|1|3|0|3h": autoscaler(),
		"h|Deployment/d|cpu: 20%/50%, 5/7 (avg) + 1 more...|1|3|0|3h": autoscaler(
			autoscalingv2.MetricSpec{Type: autoscalingv2.ResourceMetricSourceType, Resource: &autoscalingv2.ResourceMetricSource{
				Name: "cpu", Target: autoscalingv2.MetricTarget{AverageUtilization: new(int32(50))},
			}},
			autoscalingv2.MetricSpec{Type: autoscalingv2.ExternalMetricSourceType, External: &autoscalingv2.ExternalMetricSource{
				Target: autoscalingv2.MetricTarget{AverageValue: resource.NewQuantity(7, resource.DecimalSI)},
			}},
			autoscalingv2.MetricSpec{},
		),
		"h|Deployment/d|6/9, 5/9 (avg)|1|3|0|3h": autoscaler(
			autoscalingv2.MetricSpec{Type: "Pods", Pods: &autoscalingv2.PodsMetricSource{Target: average}},
			autoscalingv2.MetricSpec{Type: "Object", Object: &autoscalingv2.ObjectMetricSource{Target: average}},
		),
		"h|Deployment/d|4/9, 4/9 + 1 more...|1|3|0|3h": autoscaler(
			autoscalingv2.MetricSpec{Type: "Object", Object: &autoscalingv2.ObjectMetricSource{Target: value}},
			autoscalingv2.MetricSpec{Type: "External", External: &autoscalingv2.ExternalMetricSource{Target: value}},
			autoscalingv2.MetricSpec{},
		),
		"h|Deployment/d|cpu: 3/9, cpu: 20%/<auto>|1|3|0|3h": autoscaler(
			autoscalingv2.MetricSpec{Type: "ContainerResource", ContainerResource: &autoscalingv2.ContainerResourceMetricSource{Name: "cpu", Target: average}},
			autoscalingv2.MetricSpec{Type: "Resource", Resource: &autoscalingv2.ResourceMetricSource{Name: "cpu"}},
		),
		"n|Unknown|a,b,c,d,e|3h|v1|10.0.0.1|1.1.1.1|os|6.1 (arm64)|cri": &corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: "n", CreationTimestamp: before(3 * time.Hour), Labels: map[string]string{
				rolePrefix + "e": "", rolePrefix + "b": "", rolePrefix + "d": "", rolePrefix + "a": "", rolePrefix + "c": "", "other": "x",
			}},
			Status: corev1.NodeStatus{
				Addresses: []corev1.NodeAddress{{Type: corev1.NodeHostName, Address: "n"}, {Type: corev1.NodeExternalIP, Address: "1.1.1.1"}, {Type: corev1.NodeInternalIP, Address: "10.0.0.1"}},
				NodeInfo:  corev1.NodeSystemInfo{KubeletVersion: "v1", OSImage: "os", KernelVersion: "6.1", Architecture: "arm64", ContainerRuntimeVersion: "cri"},
			},
		},
		"n|Unknown|a,b|3h||<none>|<none>|<unknown>|<unknown>|<unknown>": &corev1.Node{ObjectMeta: metav1.ObjectMeta{
			Name: "n", CreationTimestamp: before(3 * time.Hour), Labels: map[string]string{rolePrefix + "a": "", rolePrefix: "", roleLabel: "b"},
		}},
		"n|Ready|<none>|3h||<none>|<none>|<unknown>|<unknown>|<unknown>": &corev1.Node{ObjectMeta: named3h("n"), Status: corev1.NodeStatus{
			Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}, {Type: corev1.NodeDiskPressure, Status: corev1.ConditionFalse}},
		}},
		"n|NotReady,SchedulingDisabled|<none>|3h||<none>|<none>|<unknown>|<unknown>|<unknown>": &corev1.Node{
			ObjectMeta: named3h("n"), Spec: corev1.NodeSpec{Unschedulable: true},
			Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionUnknown}}},
		},
		"s|IPv4|80,web,*|10.0.0.1|3h": &discoveryv1.EndpointSlice{
			ObjectMeta: named3h("s"), AddressType: discoveryv1.AddressTypeIPv4, Endpoints: []discoveryv1.Endpoint{{Addresses: []string{"10.0.0.1"}}},
			Ports: []discoveryv1.EndpointPort{{Name: new("http"), Port: new(int32(80))}, {Name: new("web")}, {}},
		},
		"s|FQDN|80,81,82 + 1 more...|a,b,c + 2 more...|3h": &discoveryv1.EndpointSlice{
			ObjectMeta: named3h("s"), AddressType: discoveryv1.AddressTypeFQDN,
			Endpoints: []discoveryv1.Endpoint{{Addresses: []string{"a", "b"}}, {Addresses: []string{"c", "d", "e"}}},
			Ports:     []discoveryv1.EndpointPort{{Port: new(int32(80))}, {Port: new(int32(81))}, {Port: new(int32(82))}, {Port: new(int32(83))}},
		},
		"d.example.com|Namespaced|v1(storage),v1beta1|2026-05-04T00:02:01Z|example.com|D|d1,d2|true": &apiextensionsv1.CustomResourceDefinition{
			ObjectMeta: named3h("d.example.com"), Spec: apiextensionsv1.CustomResourceDefinitionSpec{
				Group: "example.com", Scope: apiextensionsv1.NamespaceScoped,
				Names:    apiextensionsv1.CustomResourceDefinitionNames{Kind: "D", ShortNames: []string{"d1", "d2"}},
				Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{Name: "v1beta1", Served: true}, {Name: "v1", Served: true, Storage: true}, {Name: "v1alpha1"}},
			}, Status: apiextensionsv1.CustomResourceDefinitionStatus{Conditions: []apiextensionsv1.CustomResourceDefinitionCondition{
				{Type: apiextensionsv1.Established, Status: apiextensionsv1.ConditionTrue},
			}},
		},
		"e|Cluster|v1|2026-05-04T00:02:01Z||||false": &apiextensionsv1.CustomResourceDefinition{
			ObjectMeta: named3h("e"), Spec: apiextensionsv1.CustomResourceDefinitionSpec{
				Scope: apiextensionsv1.ClusterScoped, Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{Name: "v2", Storage: true}, {Name: "v1", Served: true}},
			},
		},
		"a|Local|Unknown|3h":  apiService(nil),
		"a|Local|True|3h":     apiService(nil, apiregistrationv1.APIServiceCondition{Type: apiregistrationv1.Available, Status: apiregistrationv1.ConditionTrue, Reason: "R"}),
		"a|ns/s|False (R)|3h": apiService(inNamespace, apiregistrationv1.APIServiceCondition{Type: apiregistrationv1.Available, Status: apiregistrationv1.ConditionFalse, Reason: "R"}),
		"a|ns/s|False|3h":     apiService(inNamespace, apiregistrationv1.APIServiceCondition{Type: apiregistrationv1.Available, Status: apiregistrationv1.ConditionFalse}),
	} {
		var texts []string
		for _, cell := range row(t, obj) {
			if cell == nil {
				cell = ""
			}
			texts = append(texts, fmt.Sprint(cell))
		}
		require.Equal(t, strings.TrimSuffix(want, " "), strings.Join(texts, "|"), "%T", obj)
	}
}

// autoscaler returns an autoscaler whose first metrics have a status.
func autoscaler(metrics ...autoscalingv2.MetricSpec) *autoscalingv2.HorizontalPodAutoscaler {
	h := &autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: named3h("h"), Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
		ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{Kind: "Deployment", Name: "d"}, MaxReplicas: 3, Metrics: metrics,
	}}
	if len(metrics) > 0 {
		n := func(n int64) *resource.Quantity { return resource.NewQuantity(n, resource.DecimalSI) }
		is := autoscalingv2.MetricValueStatus{Value: n(4), AverageValue: n(5), AverageUtilization: new(int32(20))}
		of := autoscalingv2.MetricStatus{
			Object:            &autoscalingv2.ObjectMetricStatus{Current: is},
			Pods:              &autoscalingv2.PodsMetricStatus{Current: autoscalingv2.MetricValueStatus{AverageValue: n(6)}},
			Resource:          &autoscalingv2.ResourceMetricStatus{Current: is},
			ContainerResource: &autoscalingv2.ContainerResourceMetricStatus{Current: autoscalingv2.MetricValueStatus{AverageValue: n(3)}},
			External:          &autoscalingv2.ExternalMetricStatus{Current: is},
		}
		h.Status.CurrentMetrics = []autoscalingv2.MetricStatus{of, of}
	}
	return h
}

// The metrics of an autoscaler, without and with their current values.
func TestMetricCells(t *testing.T) {
	n := func(n int64) *resource.Quantity { return resource.NewQuantity(n, resource.DecimalSI) }
	value, average := autoscalingv2.MetricTarget{Value: n(9)}, autoscalingv2.MetricTarget{AverageValue: n(9)}
	share := autoscalingv2.MetricTarget{AverageUtilization: new(int32(50))}
	external := &autoscalingv2.ExternalMetricSource{Target: value}
	object := &autoscalingv2.ObjectMetricSource{Target: value}
	pods := &autoscalingv2.PodsMetricSource{Target: average}
	of := func(target autoscalingv2.MetricTarget) *autoscalingv2.ResourceMetricSource {
		return &autoscalingv2.ResourceMetricSource{Name: "cpu", Target: target}
	}
	ofContainer := func(target autoscalingv2.MetricTarget) *autoscalingv2.ContainerResourceMetricSource {
		return &autoscalingv2.ContainerResourceMetricSource{Name: "memory", Target: target}
	}
	for _, tt := range []struct {
		metric        autoscalingv2.MetricSpec
		unknown, want string // without and with the current values
	}{
		{autoscalingv2.MetricSpec{Type: "External", External: external}, "<unknown>/9", "4/9"},
		{autoscalingv2.MetricSpec{Type: "External", External: &autoscalingv2.ExternalMetricSource{Target: average}}, "<unknown>/9 (avg)", "5/9 (avg)"},
		{autoscalingv2.MetricSpec{Type: "Object", Object: object}, "<unknown>/9", "4/9"},
		{autoscalingv2.MetricSpec{Type: "Object", Object: &autoscalingv2.ObjectMetricSource{Target: average}}, "<unknown>/9 (avg)", "5/9 (avg)"},
		{autoscalingv2.MetricSpec{Type: "Pods", Pods: pods}, "<unknown>/9", "6/9"},
		{autoscalingv2.MetricSpec{Type: "Resource", Resource: of(average)}, "cpu: <unknown>/9", "cpu: 5/9"},
		{autoscalingv2.MetricSpec{Type: "Resource", Resource: of(share)}, "cpu: <unknown>/50%", "cpu: 20%/50%"},
		{autoscalingv2.MetricSpec{Type: "ContainerResource", ContainerResource: ofContainer(average)}, "memory: <unknown>/9", "memory: 3/9"},
		{autoscalingv2.MetricSpec{Type: "ContainerResource", ContainerResource: ofContainer(share)}, "memory: <unknown>/50%", "memory: <unknown>/50%"},
		{autoscalingv2.MetricSpec{Type: "External", Object: object, Pods: pods, Resource: of(share), ContainerResource: ofContainer(share)}, "<unknown type>", "<unknown type>"},
		{autoscalingv2.MetricSpec{Type: "Object", External: external}, "<unknown type>", "<unknown type>"},
		{autoscalingv2.MetricSpec{Type: "Pods", External: external}, "<unknown type>", "<unknown type>"},
		{autoscalingv2.MetricSpec{Type: "Resource", External: external}, "<unknown type>", "<unknown type>"},
		{autoscalingv2.MetricSpec{Type: "ContainerResource", External: external}, "<unknown type>", "<unknown type>"},
	} {
		h := autoscaler(tt.metric)
		require.Equal(t, tt.want, row(t, h)[2], tt.metric)
		h.Status.CurrentMetrics[0] = autoscalingv2.MetricStatus{}
		require.Equal(t, tt.unknown, row(t, h)[2], tt.metric)
		h.Status.CurrentMetrics = nil
		require.Equal(t, tt.unknown, row(t, h)[2], tt.metric)
	}
	h := autoscaler(autoscalingv2.MetricSpec{Type: "External", External: &autoscalingv2.ExternalMetricSource{Target: average}})
	h.Status.CurrentMetrics[0].External.Current.AverageValue = nil
	require.Equal(t, "<unknown>/9 (avg)", row(t, h)[2])
}

// Flow schemas are listed in the order in which they are matched.
func TestCompareFlows(t *testing.T) {
	flow := func(name string, precedence int32) *flowcontrolv1.FlowSchema {
		return &flowcontrolv1.FlowSchema{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: flowcontrolv1.FlowSchemaSpec{MatchingPrecedence: precedence}}
	}
	compare := PrinterFor(flowcontrolv1.SchemeGroupVersion.WithKind("FlowSchema")).CompareFunc()
	require.Equal(t, -1, compare(flow("b", 1), flow("a", 2)))
	require.Equal(t, 1, compare(flow("b", 1), flow("a", 1)))
	require.Zero(t, compare(flow("b", 1), &corev1.Pod{}))
	require.Zero(t, compare(&corev1.Pod{}, flow("b", 1)))
}

// A storage class is a default by either annotation.
func TestDefaultStorageClass(t *testing.T) {
	isDefault := PrinterFor(storagev1.SchemeGroupVersion.WithKind("StorageClass")).DefaultFunc()
	for annotation, want := range map[string]bool{
		"storageclass.kubernetes.io/is-default-class": true, "storageclass.beta.kubernetes.io/is-default-class": true, "is-default-class": false,
	} {
		require.Equal(t, want, isDefault(&storagev1.StorageClass{ObjectMeta: annotated("s", annotation, "true")}), annotation)
		require.False(t, isDefault(&storagev1.StorageClass{ObjectMeta: annotated("s", annotation, "false")}), annotation)
	}
	require.False(t, isDefault(&corev1.Pod{}))
}

// At most three endpoints are shown, each with all its ports.
func TestEndpoints(t *testing.T) {
	address := func(ips ...string) (all []corev1.EndpointAddress) {
		for _, ip := range ips {
			all = append(all, corev1.EndpointAddress{IP: ip})
		}
		return all
	}
	e := &endpointsObject{Subsets: []corev1.EndpointSubset{ //lint:ignore SA1019 it is served
		{Addresses: address("10.0.0.1", "10.0.0.2"), Ports: []corev1.EndpointPort{{Port: 80}, {Port: 443}}},
		{Addresses: address("fd00::1")},
	}}
	require.Equal(t, "10.0.0.1:80,10.0.0.2:80,10.0.0.1:443 + 2 more...", row(t, e)[1])
	e.Subsets = e.Subsets[1:]
	require.Equal(t, "fd00::1", row(t, e)[1])
	e.Subsets[0].Addresses = nil
	require.Empty(t, row(t, e)[1])
}
