package kubeapiserver

import "time"

func (f *Flags) auditingFlags() []flag {
	rows := []flag{
		{"audit-policy-file", text(&f.audit.policyFile, ""), applied, "file with the audit policy; without it nothing is audited"},
		{"audit-log-path", text(&f.audit.logPath, ""), applied, "file of the audit log; - is the standard output"},
		{"audit-log-maxage", integer(&f.audit.maxAge, 366), ignored, "number of days for which old files of the audit log are kept; 0 is no limit"},
		{"audit-log-maxbackup", integer(&f.audit.maxBackups, 100), ignored, "number of old files of the audit log that are kept; 0 is no limit"},
		{"audit-log-maxsize", integer(&f.audit.maxSize, 100), ignored, "size in megabytes at which a new file of the audit log is begun; 0 is no limit"},
		{"audit-log-format", text(&f.audit.format, "json"), applied, "format of the audit log: json; legacy, lines of text, is refused here"},
		{"audit-log-version", text(&f.audit.logVersion, "audit.k8s.io/v1"), ignored, "API group and version of the events in the audit log"},
		{"audit-log-compress", boolean(nil, false), ignored, "compress old files of the audit log"},
		{"audit-webhook-config-file", text(&f.audit.webhookConfigFile, ""), ignored, "kubeconfig of a webhook that receives the events"},
		{"audit-webhook-initial-backoff", duration(nil, 10*time.Second), ignored, "time before the first request that failed is repeated"},
		{"audit-webhook-batch-initial-backoff", deprecated("Deprecated, use --audit-webhook-initial-backoff instead.", duration(nil, 10*time.Second)), ignored, "time before the first request that failed is repeated"},
		{"audit-webhook-version", text(&f.audit.webhookVersion, "audit.k8s.io/v1"), ignored, "API group and version of the events for the webhook"},
	}
	rows = append(rows, auditBackendFlags("log", &f.audit.log, batch{mode: "blocking", size: 1})...)
	return append(rows, auditBackendFlags("webhook", &f.audit.webhook, batch{mode: "batch", size: 400, wait: 30 * time.Second, throttle: true, qps: 10, burst: 15})...)
}

// auditBackend are the values of the flags that both audit backends have.
type auditBackend struct {
	mode                                     string
	bufferSize, batchSize                    int
	throttle                                 bool
	qps                                      float32
	burst                                    int
	truncate                                 bool
	truncatedMaxBatchSize, truncatedMaxEvent int64
}

// batch has the defaults in which the audit backends differ.
type batch struct {
	mode        string
	size, burst int
	wait        time.Duration
	throttle    bool
	qps         float32
}

func auditBackendFlags(backend string, b *auditBackend, byDefault batch) []flag {
	name := func(suffix string) string { return "audit-" + backend + "-" + suffix }
	return []flag{
		{name("batch-buffer-size"), integer(&b.bufferSize, 10000), ignored, "number of events that wait for a batch, in the mode batch"},
		{name("batch-max-size"), integer(&b.batchSize, byDefault.size), ignored, "number of events in a batch, in the mode batch"},
		{name("batch-max-wait"), duration(nil, byDefault.wait), ignored, "time after which a batch that is not full is written, in the mode batch"},
		{name("batch-throttle-burst"), integer(&b.burst, byDefault.burst), ignored, "number of batches that may be written at once, in the mode batch"},
		{name("batch-throttle-enable"), boolean(&b.throttle, byDefault.throttle), ignored, "limit the number of batches, in the mode batch"},
		{name("batch-throttle-qps"), number32(&b.qps, byDefault.qps), ignored, "number of batches in a second, in the mode batch"},
		{name("mode"), text(&b.mode, byDefault.mode), ignored, "how events are written: batch, blocking or blocking-strict"},
		{name("truncate-enabled"), boolean(&b.truncate, false), ignored, "truncate large events and batches"},
		{name("truncate-max-batch-size"), integer64(&b.truncatedMaxBatchSize, 10*1024*1024), ignored, "size of a batch in bytes above which it is split"},
		{name("truncate-max-event-size"), integer64(&b.truncatedMaxEvent, 100*1024), ignored, "size of an event in bytes above which its objects are removed"},
	}
}
