package v1beta1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// SiteSpec is the desired state of a site.
type SiteSpec struct {
	// image is the container image that serves the site.
	Image string `json:"image"`

	// size is how many pods serve the site.
	// +kubebuilder:default=1
	// +optional
	Size *int32 `json:"size,omitempty"`

	// host is the name by which the site is reached.
	// +optional
	Host string `json:"host,omitempty"`
}

// SiteStatus is the observed state of a site.
type SiteStatus struct {
	// ready is true if all pods are ready.
	// +optional
	Ready bool `json:"ready,omitempty"`
}

// Site is a web site with its pods and its service.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=si,categories=all
// +kubebuilder:deprecatedversion:warning="hosting.example.com/v1beta1 Site is deprecated; use v1"
// +kubebuilder:printcolumn:name="Host",type=string,JSONPath=`.spec.host`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
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
