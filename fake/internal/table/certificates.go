package table

import (
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"
	certificatesv1beta1 "k8s.io/api/certificates/v1beta1"
	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/duration"
	"k8s.io/utils/ptr"
)

// certificatePrinters returns the printers of certificates.k8s.io and of leases. The descriptions
// of CertificateSigningRequests are those of v1beta1, as on a real server.
func certificatePrinters() []entry {
	gv := certificatesv1.SchemeGroupVersion
	request := certificatesv1beta1.CertificateSigningRequestSpec{}
	return []entry{
		newEntry(gv, requestCells,
			named(), age(),
			text("SignerName", describes(request, "signerName")),
			text("Requestor", describes(request, "request")),
			text("RequestedDuration", describes(request, "expirationSeconds")),
			text("Condition", describes(certificatesv1beta1.CertificateSigningRequestStatus{}, "conditions")),
		),
		newEntry(gv, func(b *certificatesv1.ClusterTrustBundle) []any {
			return []any{b.Name, orDefault(b.Spec.SignerName, none)}
		}, named(), text("SignerName", describes(certificatesv1.ClusterTrustBundleSpec{}, "signerName"))),
		newEntry(gv, podRequestCells,
			named(),
			text("PodName", describes(certificatesv1.PodCertificateRequestSpec{}, "podName")),
			text("ServiceAccountName", describes(certificatesv1.PodCertificateRequestSpec{}, "serviceAccountName")),
			text("NodeName", describes(certificatesv1.PodCertificateRequestSpec{}, "nodeName")),
			text("SignerName", describes(certificatesv1.PodCertificateRequestSpec{}, "signerName")),
			text("State", "Is the request Pending, Issued, Denied, or Failed?"),
			text("UnverifiedUserAnnotations", describes(certificatesv1.PodCertificateRequestSpec{}, "unverifiedUserAnnotations")),
		),
		newEntry(coordinationv1.SchemeGroupVersion, func(l *coordinationv1.Lease) []any {
			return []any{l.Name, ptr.Deref(l.Spec.HolderIdentity, ""), since(l.CreationTimestamp)}
		}, named(), text("Holder", describes(coordinationv1.LeaseSpec{}, "holderIdentity")), age()),
	}
}

func requestCells(r *certificatesv1.CertificateSigningRequest) []any {
	lasts := none
	if s := r.Spec.ExpirationSeconds; s != nil {
		lasts = duration.HumanDuration(time.Duration(*s) * time.Second)
	}
	return []any{
		r.Name, since(r.CreationTimestamp), orDefault(r.Spec.SignerName, none), r.Spec.Username, lasts, requestCondition(r),
	}
}

// requestCondition returns the approval of a request and whether its certificate is issued.
func requestCondition(r *certificatesv1.CertificateSigningRequest) string {
	has := map[certificatesv1.RequestConditionType]bool{}
	for _, c := range r.Status.Conditions {
		has[c.Type] = true
	}
	condition := "Pending"
	switch {
	case has[certificatesv1.CertificateDenied]:
		condition = "Denied"
	case has[certificatesv1.CertificateApproved]:
		condition = "Approved"
	}
	if has[certificatesv1.CertificateFailed] {
		condition += ",Failed"
	}
	if len(r.Status.Certificate) > 0 {
		condition += ",Issued"
	}
	return condition
}

func podRequestCells(r *certificatesv1.PodCertificateRequest) []any {
	state := "Pending"
	for _, c := range r.Status.Conditions {
		switch c.Type {
		case certificatesv1.PodCertificateRequestConditionTypeIssued,
			certificatesv1.PodCertificateRequestConditionTypeDenied,
			certificatesv1.PodCertificateRequestConditionTypeFailed:
			state = c.Type
		}
	}
	return []any{
		r.Name, r.Spec.PodName, r.Spec.ServiceAccountName, string(r.Spec.NodeName), r.Spec.SignerName, state,
		labels.FormatLabels(r.Spec.UnverifiedUserAnnotations),
	}
}
