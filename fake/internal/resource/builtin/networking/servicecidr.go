package networking

import "example.com/fakeapi/fake/internal/resource"

// The strategy of ServiceCIDRs clears no status on create and keeps none on update, so that the
// rows of this type do not set Status. It declares its reset fields for a version that does not
// exist, which is the same as declaring none.

// serviceCIDRStatusSubresource keeps the spec and the metadata.
func serviceCIDRStatusSubresource() resource.Subresource {
	s := resource.StatusSubresource("metadata")
	s.ResetFields = nil
	return s
}
