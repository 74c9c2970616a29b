package rest

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/fake/internal/resource/builtin"
)

// TestMetadataChecksOfTypes is TestValidateMetadataUpdate for types with empty objects, and for
// their subresources.
func TestMetadataChecksOfTypes(t *testing.T) {
	type counts struct{ labels, finalizer, immutable int } // immutable is of the comparisons alone
	both, asNew, asUpdated := counts{4, 2, 2}, counts{3, 1, 1}, counts{3, 1, 2}
	bothAnyFinalizers, asNewAnyFinalizers, asUpdatedAnyFinalizers := counts{4, 0, 2}, counts{3, 0, 1}, counts{3, 0, 2}
	for group, types := range map[string]map[string]counts{
		"admissionregistration.k8s.io": {
			"mutatingadmissionpolicies": asNewAnyFinalizers, "mutatingadmissionpolicybindings": asNewAnyFinalizers,
			"mutatingwebhookconfigurations": asNewAnyFinalizers,
			"validatingadmissionpolicies":   asNewAnyFinalizers, "validatingadmissionpolicies/status": {2, 0, 1},
			"validatingadmissionpolicybindings": asNewAnyFinalizers, "validatingwebhookconfigurations": asNewAnyFinalizers,
		},
		"apiextensions.k8s.io": {
			"customresourcedefinitions": asUpdatedAnyFinalizers, "customresourcedefinitions/status": asUpdatedAnyFinalizers,
		},
		"apiregistration.k8s.io": {"apiservices": bothAnyFinalizers, "apiservices/status": asUpdatedAnyFinalizers},
		"certificates.k8s.io":    {"certificatesigningrequests": both, "clustertrustbundles": both, "podcertificaterequests": asUpdated},
		"coordination.k8s.io":    {"leases": asUpdatedAnyFinalizers},
		"discovery.k8s.io":       {"endpointslices": asNew},
		"flowcontrol.apiserver.k8s.io": {
			"flowschemas": asNew, "prioritylevelconfigurations": asNew,
		},
		"networking.k8s.io": {
			"ingresses": both, "ingressclasses": both, "ipaddresses": both,
			"networkpolicies": asUpdated, "servicecidrs": asUpdated,
		},
		"node.k8s.io": {"runtimeclasses": bothAnyFinalizers},
		"rbac.authorization.k8s.io": {
			"roles": both, "clusterroles": both, "rolebindings": both, "clusterrolebindings": both,
		},
		"resource.k8s.io": {
			"deviceclasses": both, "devicetaintrules": asUpdated, "devicetaintrules/status": asUpdated,
			"resourceclaims": both, "resourceclaims/status": asUpdated,
			"resourceclaimtemplates": asUpdated, "resourceslices": asUpdated,
		},
		"scheduling.k8s.io": {"priorityclasses": asUpdated},
		"storage.k8s.io": {
			"csidrivers": asUpdated, "csinodes": asNew, "csistoragecapacities": both,
			"storageclasses": both, "volumeattachments": asNew, "volumeattributesclasses": both,
		},
		"storagemigration.k8s.io": {"storageversionmigrations": both},
	} {
		for plural, want := range types {
			t.Run(plural, func(t *testing.T) {
				plural, sub, _ := strings.Cut(plural, "/")
				res := builtin.Table().Lookup(group, "v1", plural)
				require.NotNil(t, res)
				obj, old := res.NewStored(), res.NewStored()
				m, was := resource.Accessor(obj), resource.Accessor(old)
				if res.Namespaced {
					m.SetNamespace("default")
					was.SetNamespace("default")
				}
				m.SetResourceVersion("1")
				m.SetLabels(map[string]string{"a": "b c"})
				m.SetFinalizers([]string{"mine"})
				m.SetDeletionGracePeriodSeconds(new(int64(1)))
				err := ValidateUpdate(t.Context(), res, res.Subresource(sub), obj, old)
				require.True(t, apierrors.IsInvalid(err), "%v", err)
				var got counts
				for _, cause := range err.(apierrors.APIStatus).Status().Details.Causes {
					switch cause.Field {
					case "metadata.labels":
						got.labels++
					case "metadata.finalizers[0]":
						got.finalizer++
					case "metadata.deletionGracePeriodSeconds":
						got.immutable++
					}
				}
				require.Equal(t, want, got)
			})
		}
	}
}
