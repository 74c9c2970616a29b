package main

import (
	"context"
	"fmt"
	"os"

	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
	"k8s.io/apiserver/pkg/audit/policy"
	"sigs.k8s.io/yaml"

	fakeapi "example.com/fakeapi/fake"
)

// auditFlags has the flags of the audit log. Both are set, or none.
type auditFlags struct {
	policy, log string   // paths
	file        *os.File // of the log; nil if it is not open
}

// open reads the policy and opens the log, to which the server appends.
func (f *auditFlags) open(ctx context.Context) (fakeapi.Option, error) {
	refuse := func(err error) (fakeapi.Option, error) {
		return nil, fmt.Errorf("--audit-policy-file %s: %w", f.policy, unwrapPathError(err))
	}
	text, err := readFile(ctx, f.policy)
	if err != nil {
		return refuse(err)
	}
	if _, err := policy.LoadPolicyFromBytes(text); err != nil {
		return refuse(err)
	}
	var rules auditv1.Policy
	if err := yaml.Unmarshal(text, &rules); err != nil {
		return refuse(err)
	}
	if f.file, err = os.OpenFile(f.log, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600); err != nil {
		return nil, fmt.Errorf("--audit-log-path %s: %w", f.log, unwrapPathError(err))
	}
	return fakeapi.WithAuditLog(&rules, f.file), nil
}

// close closes the log. The server must be closed before.
func (f *auditFlags) close() error {
	if f.file == nil {
		return nil
	}
	return f.file.Close()
}
