package v1beta1

import (
	"encoding/json"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/conversion"

	v1 "example.com/fakeapi/internal/dev/e2e/operator/api/v1"
)

// HubAnnotation is the annotation that carries what this version has no fields for.
const HubAnnotation = "hosting.example.com/v1"

// hubFields is what that annotation holds.
type hubFields struct {
	Spec   v1.SiteSpec   `json:"spec"`
	Status v1.SiteStatus `json:"status"`
}

// ConvertTo makes the stored version of a site.
func (s *Site) ConvertTo(to conversion.Hub) error {
	hub, ok := to.(*v1.Site)
	if !ok {
		return fmt.Errorf("cannot convert a v1beta1 Site to %T", to)
	}
	if s.Spec.Image == "unconvertible" {
		return fmt.Errorf("the image of site %s has no representation in v1", s.Name)
	}
	hub.ObjectMeta = *s.ObjectMeta.DeepCopy()
	var more hubFields
	if text, ok := s.Annotations[HubAnnotation]; ok {
		if err := json.Unmarshal([]byte(text), &more); err != nil {
			return fmt.Errorf("annotation %s: %w", HubAnnotation, err)
		}
		delete(hub.Annotations, HubAnnotation)
	}
	hub.Spec, hub.Status = more.Spec, more.Status
	hub.Spec.Image, hub.Spec.Replicas = s.Spec.Image, s.Spec.Size
	switch {
	case s.Spec.Host == "":
		hub.Spec.Hosts = nil
	case len(hub.Spec.Hosts) == 0:
		hub.Spec.Hosts = []string{s.Spec.Host}
	default:
		hub.Spec.Hosts[0] = s.Spec.Host
	}
	return nil
}

// ConvertFrom makes this version of a stored site.
func (s *Site) ConvertFrom(from conversion.Hub) error {
	hub, ok := from.(*v1.Site)
	if !ok {
		return fmt.Errorf("cannot convert %T to a v1beta1 Site", from)
	}
	text, err := json.Marshal(hubFields{Spec: hub.Spec, Status: hub.Status})
	if err != nil {
		return err
	}
	s.ObjectMeta = *hub.ObjectMeta.DeepCopy()
	if s.Annotations == nil {
		s.Annotations = map[string]string{}
	}
	s.Annotations[HubAnnotation] = string(text)
	s.Spec = SiteSpec{Image: hub.Spec.Image, Size: hub.Spec.Replicas}
	if len(hub.Spec.Hosts) > 0 {
		s.Spec.Host = hub.Spec.Hosts[0]
	}
	s.Status.Ready = hub.Status.Phase == v1.PhaseReady
	return nil
}
