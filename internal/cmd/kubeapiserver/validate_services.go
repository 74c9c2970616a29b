package kubeapiserver

import (
	"errors"
	"fmt"

	netutils "k8s.io/utils/net"
)

// minServiceAddresses is the smallest size of a range of cluster IPs.
const minServiceAddresses = 8

// completeServices returns the error of the ranges of cluster IPs with which kube-apiserver ends at
// once.
func (f *Flags) completeServices() error {
	ranges := f.services.clusterIPRanges()
	_, primary, err := netutils.ParseCIDRSloppy(ranges[0])
	if err != nil {
		return errors.New("service-cluster-ip-range[0] is not a valid cidr")
	}
	if netutils.RangeSize(primary) < minServiceAddresses {
		return fmt.Errorf("error determining service IP ranges for primary service cidr: the service cluster IP range must be at least %d IP addresses", minServiceAddresses)
	}
	if len(ranges) > 1 {
		if _, _, err := netutils.ParseCIDRSloppy(ranges[1]); err != nil {
			return errors.New("service-cluster-ip-range[1] is not an ip net")
		}
	}
	return nil
}

func (f *Flags) validateServices() (errs []error) {
	s := &f.services
	ranges := s.clusterIPRanges()
	if len(ranges) > 2 {
		errs = append(errs, errors.New("--service-cluster-ip-range must not contain more than two entries"))
	}
	if len(ranges) > 1 {
		if dual, err := netutils.IsDualStackCIDRStrings(ranges[:2]); err != nil || !dual {
			errs = append(errs, errors.New("--service-cluster-ip-range[0] and --service-cluster-ip-range[1] must be of different IP family"))
		}
	}
	if port := f.misc.kubernetesServiceNodePort; port < 0 || port > 65535 {
		errs = append(errs, fmt.Errorf("--kubernetes-service-node-port %v must be between 0 and 65535, inclusive. If 0, the Kubernetes master service will be of type ClusterIP", port))
	} else if port > 0 && !s.nodePortRange.Contains(port) {
		errs = append(errs, fmt.Errorf("kubernetes service node port range %v doesn't contain %v", s.nodePortRange, port))
	}
	if address := f.AdvertiseAddress; address != nil && f.misc.endpointReconciler != "none" && netutils.IsIPv4CIDRString(ranges[0]) != netutils.IsIPv4(address) {
		errs = append(errs, fmt.Errorf("service IP family %q must match public address family %q", ranges[0], address))
	}
	if n := f.misc.apiserverCount; n <= 0 {
		errs = append(errs, fmt.Errorf("--apiserver-count should be a positive number, but value '%d' provided", n))
	}
	return errs
}
