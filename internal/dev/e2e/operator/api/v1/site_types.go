package v1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Tier is the price tier of a site.
// +kubebuilder:validation:Enum=Free;Paid
type Tier string

// The tiers.
const (
	TierFree Tier = "Free"
	TierPaid Tier = "Paid"
)

// The phases of a site.
const (
	PhasePending = "Pending"
	PhaseReady   = "Ready"
)

// Ready is the type of the condition that is true if all pods of a site are ready.
const Ready = "Ready"

// Port is one port of a site.
type Port struct {
	// name is the unique name of the port.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=15
	Name string `json:"name"`

	// port is the port number.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	Port int32 `json:"port"`

	// protocol is the port's protocol.
	// +kubebuilder:default=TCP
	// +kubebuilder:validation:Enum=TCP;UDP
	// +optional
	Protocol corev1.Protocol `json:"protocol,omitempty"`
}

// Autoscale limits the number of replicas.
// +kubebuilder:validation:XValidation:rule="self.min <= self.max",message="min must not be greater than max",fieldPath=".min"
type Autoscale struct {
	// min is the least number of replicas.
	// +kubebuilder:default=1
	// +optional
	Min int32 `json:"min,omitempty"`

	// max is the greatest number of replicas.
	Max int32 `json:"max"`
}

// SiteSpec is the desired state of a site.
// +kubebuilder:validation:XValidation:rule="!has(self.autoscale) || self.replicas <= self.autoscale.max",message="replicas must not be greater than autoscale.max",reason=FieldValueForbidden
// +kubebuilder:validation:XValidation:rule="self.tier == 'Paid' || self.replicas <= 10",messageExpression="'tier ' + self.tier + ' has 10 replicas at most'"
// +kubebuilder:validation:XValidation:rule="has(self.storageClass) == has(oldSelf.storageClass)",message="storageClass comes with the site"
type SiteSpec struct {
	// image is the container image that serves the site.
	// +kubebuilder:validation:Pattern=`^[a-z0-9./-]+(:[a-zA-Z0-9._-]+)?$`
	// +kubebuilder:validation:MaxLength=200
	Image string `json:"image"`

	// replicas is how many pods serve the site.
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=50
	// +optional
	Replicas *int32 `json:"replicas,omitempty"`

	// tier is the price tier.
	// +kubebuilder:default=Free
	// +optional
	Tier Tier `json:"tier,omitempty"`

	// hosts are the names by which the site is reached.
	// +listType=set
	// +kubebuilder:validation:MaxItems=8
	// +kubebuilder:validation:items:MaxLength=253
	// +kubebuilder:validation:items:Format=hostname
	// +optional
	Hosts []string `json:"hosts,omitempty"`

	// ports are the ports that the site listens on.
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:XValidation:rule="self.exists_one(p, p.name == 'http')",message="there must be a port of the name http"
	// +kubebuilder:default={{name: "http", port: 80}}
	// +optional
	Ports []Port `json:"ports,omitempty"`

	// autoscale limits replicas.
	// +optional
	Autoscale *Autoscale `json:"autoscale,omitempty"`

	// storageClass is where the site's files are. It cannot be changed.
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="storageClass is immutable"
	// +kubebuilder:validation:MaxLength=63
	// +optional
	StorageClass *string `json:"storageClass,omitempty"`

	// resources are what each pod needs.
	// +optional
	Resources corev1.ResourceRequirements `json:"resources,omitempty"`

	// maxUnavailable is how many pods may be missing in a roll-out, or what part of them.
	// +optional
	MaxUnavailable *intstr.IntOrString `json:"maxUnavailable,omitempty"`

	// drain is the termination grace period of a pod.
	// +optional
	Drain *metav1.Duration `json:"drain,omitempty"`

	// labels are put on the site's pods.
	// +kubebuilder:validation:MaxProperties=8
	// +optional
	Labels map[string]string `json:"labels,omitempty"`

	// settings are passed to the image unchanged.
	// +kubebuilder:pruning:PreserveUnknownFields
	// +optional
	Settings *runtime.RawExtension `json:"settings,omitempty"`
}

// SiteStatus is the observed state of a site.
type SiteStatus struct {
	// observedGeneration is the generation that the status describes.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// phase is Pending until all replicas are ready.
	// +kubebuilder:validation:Enum=Pending;Ready
	// +optional
	Phase string `json:"phase,omitempty"`

	// readyReplicas is how many pods are ready.
	// +optional
	ReadyReplicas int32 `json:"readyReplicas"`

	// selector finds the site's pods.
	// +optional
	Selector string `json:"selector,omitempty"`

	// conditions are the conditions of the site.
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// Site is a web site with its pods and its service.
//
// +kubebuilder:object:root=true
// +kubebuilder:storageversion
// +kubebuilder:subresource:status
// +kubebuilder:subresource:scale:specpath=.spec.replicas,statuspath=.status.readyReplicas,selectorpath=.status.selector
// +kubebuilder:resource:shortName=si,categories=all
// +kubebuilder:selectablefield:JSONPath=`.spec.tier`
// +kubebuilder:selectablefield:JSONPath=`.status.phase`
// +kubebuilder:printcolumn:name="Image",type=string,JSONPath=`.spec.image`
// +kubebuilder:printcolumn:name="Desired",type=integer,JSONPath=`.spec.replicas`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Hosts",type=string,priority=1,JSONPath=`.spec.hosts`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="size(self.metadata.name) <= 40",message="names of sites have 40 characters at most"
type Site struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is the desired state of the site.
	Spec SiteSpec `json:"spec"`

	// status is the observed state of the site.
	// +optional
	Status SiteStatus `json:"status,omitempty"`
}

// SiteList is a list of sites.
//
// +kubebuilder:object:root=true
type SiteList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Site `json:"items"`
}

// Hub marks this version as the one that the others are converted to and from.
func (*Site) Hub() {}
