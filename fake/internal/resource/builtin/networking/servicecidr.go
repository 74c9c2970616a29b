package networking

import "example.com/fakeapi/fake/internal/resource"

// The strategy of ServiceCIDRs resets the status (ServiceCIDRStatusFieldWiping, on since v1.36). It
// declares its reset fields for a version that does not exist, which is the same as declaring none.

// serviceCIDRStatusSubresource keeps the spec and the metadata.
func serviceCIDRStatusSubresource() resource.Subresource {
	s := resource.StatusSubresource("metadata")
	s.ResetFields = nil
	return s
}
