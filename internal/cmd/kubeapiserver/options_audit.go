package kubeapiserver

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
	"k8s.io/apiserver/pkg/audit/policy"
	"sigs.k8s.io/yaml"

	fakeapi "example.com/fakeapi/fake"
)

// standardOutput is the value of --audit-log-path for the standard output.
const standardOutput = "-"

// auditOptions returns the audit log. It needs both flags, as in kube-apiserver: without a policy
// nothing is audited, and without a path nothing is written.
func (f *Flags) auditOptions(files directory) ([]fakeapi.Option, error) {
	a := &f.audit
	if a.policyFile == "" || a.logPath == "" {
		return nil, nil
	}
	rules, err := readAuditPolicy(files, a.policyFile)
	if err != nil {
		return nil, fmt.Errorf("loading audit policy file: %w", err)
	}
	log, err := f.openAuditLog(files)
	if err != nil {
		return nil, err
	}
	return []fakeapi.Option{fakeapi.WithAuditLog(rules, log)}, nil
}

// readAuditPolicy reads and validates the file of --audit-policy-file.
func readAuditPolicy(files directory, name string) (*auditv1.Policy, error) {
	data, err := files.read(name)
	if err != nil {
		return nil, fmt.Errorf("failed to read file path %q: %w", name, err)
	}
	if _, err := policy.LoadPolicyFromBytes(data); err != nil {
		return nil, fmt.Errorf("%w: from file %v", err, name)
	}
	rules := &auditv1.Policy{}
	return rules, yaml.Unmarshal(data, rules)
}

// openAuditLog returns the writer of the audit log. A file is appended to; Close closes it.
func (f *Flags) openAuditLog(files directory) (io.Writer, error) {
	if f.audit.logPath == standardOutput {
		if f.Stdout != nil {
			return f.Stdout, nil
		}
		return os.Stdout, nil
	}
	path := files.path(f.audit.logPath)
	err := os.MkdirAll(filepath.Dir(path), 0o700)
	if err != nil {
		return nil, fmt.Errorf("ensureLogFile: %w", err)
	}
	if f.auditLog, err = os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600); err != nil {
		return nil, fmt.Errorf("ensureLogFile: %w", err)
	}
	return f.auditLog, nil
}

// Close closes the files that Options has opened. The server must be closed before.
func (f *Flags) Close() error {
	if f.auditLog == nil {
		return nil
	}
	err := f.auditLog.Close()
	f.auditLog = nil
	return err
}
