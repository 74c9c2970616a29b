package kubeapiserver

import (
	"errors"
	"fmt"

	utilerrors "k8s.io/apimachinery/pkg/util/errors"
)

// validate returns all errors in the values of flags.
func (f *Flags) validate() error {
	var errs []error
	if len(f.EtcdServers) == 0 {
		errs = append(errs, errors.New("--etcd-servers must be specified"))
	}
	if f.SecurePort < 1 || f.SecurePort > 65535 {
		errs = append(errs, fmt.Errorf("--secure-port %v must be between 1 and 65535, inclusive. It cannot be turned off with 0", f.SecurePort))
	}
	if err := utilerrors.NewAggregate(errs); err != nil {
		return &exit{status: 1, err: err}
	}
	return nil
}
