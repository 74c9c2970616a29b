package kubeapiserver

import (
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Modes and formats of the audit backends.
const (
	auditModeBatch    = "batch"
	auditModes        = "batch,blocking,blocking-strict"
	auditFormatLegacy = "legacy"
	auditFormatJSON   = "json"
	auditVersion      = "audit.k8s.io/v1"
)

func (f *Flags) validateAudit() (errs []error) {
	a := &f.audit
	if a.logPath != "" {
		errs = append(errs, a.log.validate("log")...)
		errs = append(errs, validateAuditVersion(a.logVersion)...)
		switch a.format {
		case auditFormatJSON:
		case auditFormatLegacy:
			errs = append(errs, errors.New("--audit-log-format=legacy is not supported here; use json"))
		default:
			errs = append(errs, fmt.Errorf("invalid audit log format %s, allowed formats are %q", a.format, auditFormatLegacy+","+auditFormatJSON))
		}
		for _, size := range []struct {
			flag  string
			value int
		}{{"maxage", a.maxAge}, {"maxbackup", a.maxBackups}, {"maxsize", a.maxSize}} {
			if size.value < 0 {
				errs = append(errs, fmt.Errorf("--audit-log-%s %v can't be a negative number", size.flag, size.value))
			}
		}
	}
	if a.webhookConfigFile != "" {
		errs = append(errs, a.webhook.validate("webhook")...)
		errs = append(errs, validateAuditVersion(a.webhookVersion)...)
	}
	return errs
}

func validateAuditVersion(version string) []error {
	gv, err := schema.ParseGroupVersion(version)
	if err != nil {
		return []error{err}
	}
	if known := []schema.GroupVersion{{Group: "audit.k8s.io", Version: "v1"}}; !slices.Contains(known, gv) {
		return []error{fmt.Errorf("invalid group version, allowed versions are %q", known)}
	}
	return nil
}

// validate returns the first error in the flags of a batch, and one in those of truncation.
func (b *auditBackend) validate(name string) (errs []error) {
	if err := b.validateBatch(name); err != nil {
		errs = append(errs, err)
	}
	switch {
	case b.truncatedMaxEvent <= 0:
		errs = append(errs, fmt.Errorf("invalid audit truncate %s max event size %v, must be a positive number", name, b.truncatedMaxEvent))
	case b.truncatedMaxBatchSize < b.truncatedMaxEvent:
		errs = append(errs, fmt.Errorf("invalid audit truncate %s max batch size %v, must be greater than max event size (%v)", name, b.truncatedMaxBatchSize, b.truncatedMaxEvent))
	}
	return errs
}

func (b *auditBackend) validateBatch(name string) error {
	const positive = "invalid audit batch %s %s %v, must be a positive number"
	switch {
	case !slices.Contains([]string{auditModeBatch, "blocking", "blocking-strict"}, b.mode):
		return fmt.Errorf("invalid audit %s mode %s, allowed modes are %q", name, b.mode, auditModes)
	case b.mode != auditModeBatch:
		return nil
	case b.bufferSize <= 0:
		return fmt.Errorf(positive, name, "buffer size", b.bufferSize)
	case b.batchSize <= 0:
		return fmt.Errorf(positive, name, "max batch size", b.batchSize)
	case b.throttle && b.qps <= 0:
		return fmt.Errorf(positive, name, "throttle QPS", b.qps)
	case b.throttle && b.burst <= 0:
		return fmt.Errorf(positive, name, "throttle burst", b.burst)
	}
	return nil
}
