package builtin

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	certificatesv1beta1 "k8s.io/api/certificates/v1beta1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"

	"example.com/fakeapi/fake/internal/resource"
)

// otherVersion is a version of a group that is not served by default. Its resources have the same
// fields as in v1, in which they are stored, but for two deprecated ones of PodCertificateRequests.
type otherVersion struct {
	schema.GroupVersion
	plurals []string
}

// otherVersions returns the versions that can be enabled, in the order of their preference.
func otherVersions() []otherVersion {
	gv := func(group, version string, plurals ...string) otherVersion {
		return otherVersion{schema.GroupVersion{Group: group, Version: version}, plurals}
	}
	return []otherVersion{
		gv("admissionregistration.k8s.io", "v1beta1", "mutatingadmissionpolicies", "mutatingadmissionpolicybindings"),
		gv("admissionregistration.k8s.io", "v1alpha1", "mutatingadmissionpolicies", "mutatingadmissionpolicybindings"),
		gv("certificates.k8s.io", "v1beta1", "clustertrustbundles", "podcertificaterequests"),
		gv("resource.k8s.io", "v1beta2", "deviceclasses", "devicetaintrules", "resourceclaims", "resourceclaimtemplates", "resourceslices"),
		gv("resource.k8s.io", "v1alpha3", "devicetaintrules"),
		gv("storagemigration.k8s.io", "v1beta1", "storageversionmigrations"),
	}
}

// isOtherVersion reports whether a resource is one of otherVersions.
func isOtherVersion(gvr schema.GroupVersionResource) bool {
	return slices.ContainsFunc(otherVersions(), func(o otherVersion) bool {
		return o.GroupVersion == gvr.GroupVersion() && slices.Contains(o.plurals, gvr.Resource)
	})
}

// withOtherVersions returns resources with those of otherVersions after the others of their group.
func withOtherVersions(resources []resource.Resource) []resource.Resource {
	var all []resource.Resource
	for i, r := range resources {
		all = append(all, r)
		if i+1 < len(resources) && resources[i+1].Group == r.Group {
			continue
		}
		for _, o := range otherVersions() {
			if o.Group != r.Group {
				continue
			}
			for _, stored := range resources {
				if stored.Group == o.Group && stored.Version == "v1" && slices.Contains(o.plurals, stored.Plural) {
					all = append(all, inVersion(stored, o.Version))
				}
			}
		}
	}
	return all
}

// inVersion returns a resource of v1 in another version with the same fields.
func inVersion(r resource.Resource, version string) resource.Resource {
	inV1 := r.GroupVersionKind().String()
	r.StorageVersion, r.Version = r.GroupVersion(), version
	r.FieldErrorFormat = strings.Replace(r.FieldErrorFormat, inV1, r.GroupVersionKind().String(), 1)
	r.Subresources = slices.Clone(r.Subresources)
	if r.Plural == "devicetaintrules" { // its strategy keeps what its older versions did
		r.AllowUnconditionalUpdate, r.ReturnDeletedObject = true, true
	}
	r.ToStorage, r.FromStorage = convertTo(r.StorageVersion.WithKind(r.Kind)), convertTo(r.GroupVersionKind())
	if r.Plural == "podcertificaterequests" {
		r.ToStorage = refuseProofs(r.ToStorage)
	}
	return r
}

// refuseProofs returns a conversion of PodCertificateRequests that does not lose the fields which
// v1 does not have. A real server keeps them for requests without a stubPKCS10Request.
func refuseProofs(convert resource.Conversion) resource.Conversion {
	return func(obj runtime.Object) (runtime.Object, error) {
		spec := &obj.(*certificatesv1beta1.PodCertificateRequest).Spec
		//lint:ignore SA1019 clients of 1.36 send them
		if len(spec.PKIXPublicKey)+len(spec.ProofOfPossession) > 0 {
			return nil, apierrors.NewBadRequest("fakeapi does not support spec.pkixPublicKey and spec.proofOfPossession, which are deprecated: set spec.stubPKCS10Request")
		}
		return convert(obj)
	}
}

// convertTo returns a conversion to a kind with the same fields.
func convertTo(kind schema.GroupVersionKind) resource.Conversion {
	goType := scheme.Scheme.AllKnownTypes()[kind]
	return func(obj runtime.Object) (runtime.Object, error) {
		text, err := json.Marshal(obj)
		if err != nil {
			return nil, err
		}
		out := reflect.New(goType).Interface().(runtime.Object)
		return out, json.Unmarshal(text, out)
	}
}

// isRemoved reports whether no kind of a version is in the emulated release: those that the release
// has are removed in a later one.
func isRemoved(gv schema.GroupVersion) bool {
	for _, goType := range scheme.Scheme.KnownTypes(gv) {
		removed, ok := reflect.New(goType).Interface().(interface{ APILifecycleRemoved() (major, minor int) })
		if !ok {
			continue
		}
		if _, minor := removed.APILifecycleRemoved(); minor > resource.EmulatedMinor {
			return false
		}
	}
	return !slices.Contains(versionsWithoutLifecycle(), gv)
}

// versionsWithoutLifecycle returns the versions of the emulated release whose kinds have no release
// in which they are removed, because they are alpha.
func versionsWithoutLifecycle() []schema.GroupVersion {
	return []schema.GroupVersion{
		{Group: "internal.apiserver.k8s.io", Version: "v1alpha1"}, {Group: "scheduling.k8s.io", Version: "v1alpha3"},
	}
}
