package metrics

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// WebhookCall is a call of an admission webhook.
type WebhookCall struct {
	// Name is that of the webhook. Type is admit or validating. Operation is that of the write.
	Name, Type, Operation string
	Duration              time.Duration
	// Code is 200, the status code of the denial or failure, or 0 if there is none.
	Code int
	// Rejected reports whether the write was refused for it. ErrorType is why, or "" if the refusal
	// does not count as one of the webhook.
	Rejected  bool
	ErrorType string
	// FailedOpen reports whether the call failed and the write went on.
	FailedOpen bool
}

// PolicyCheck is an evaluation of an expression of an admission policy.
type PolicyCheck struct {
	Policy, Binding, ErrorType string
	Duration                   time.Duration
}

// admissionMetrics are the metrics of admission webhooks and policies.
type admissionMetrics struct {
	webhookDurations  *prometheus.HistogramVec
	webhookRequests   *prometheus.CounterVec
	webhookRejections *prometheus.CounterVec
	webhookFailOpen   *prometheus.CounterVec

	validatingChecks, mutatingChecks       *prometheus.CounterVec
	validatingDurations, mutatingDurations *prometheus.HistogramVec
}

func newAdmissionMetrics() *admissionMetrics {
	policyLabels := []string{"policy", "policy_binding", "error_type"}
	actionLabels := append(policyLabels[:len(policyLabels):len(policyLabels)], "enforcement_action")
	policyBuckets := []float64{0.0000005, 0.001, 0.01, 0.1, 1}
	return &admissionMetrics{
		webhookDurations: newHistogramVec(prometheus.HistogramOpts{
			Name:    "apiserver_admission_webhook_admission_duration_seconds",
			Help:    "[STABLE] Duration of calls of admission webhooks in seconds, by webhook, type (admit or validating), operation and whether the write was refused.",
			Buckets: []float64{0.005, 0.025, 0.1, 0.5, 1, 2.5, 10, 25},
		}, []string{"name", "type", "operation", "rejected"}),
		webhookRequests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "apiserver_admission_webhook_request_total",
			Help: "[ALPHA] Calls of admission webhooks by webhook, type, operation, status code (600 for larger ones) and whether the write was refused.",
		}, []string{"name", "type", "operation", "code", "rejected"}),
		webhookRejections: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "apiserver_admission_webhook_rejection_count",
			Help: "[ALPHA] Writes refused for an admission webhook, by webhook, type, operation, error (calling_webhook_error, apiserver_internal_error or no_error) and status code.",
		}, []string{"name", "type", "operation", "error_type", "rejection_code"}),
		webhookFailOpen: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "apiserver_admission_webhook_fail_open_count",
			Help: "[ALPHA] Failed calls of admission webhooks whose failure policy is Ignore, by webhook and type.",
		}, []string{"name", "type"}),
		validatingChecks: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "apiserver_validating_admission_policy_check_total",
			Help: "[BETA] Evaluations by validating admission policies that failed or did not hold, by policy, binding, error and enforcement action.",
		}, actionLabels),
		validatingDurations: newHistogramVec(prometheus.HistogramOpts{
			Name:    "apiserver_validating_admission_policy_check_duration_seconds",
			Help:    "[BETA] Duration of the evaluations of single expressions of validating admission policies in seconds, by policy, binding, error and enforcement action.",
			Buckets: policyBuckets,
		}, actionLabels),
		mutatingChecks: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "apiserver_mutating_admission_policy_check_total",
			Help: "[ALPHA] Mutations by mutating admission policies, by policy, binding and error.",
		}, policyLabels),
		mutatingDurations: newHistogramVec(prometheus.HistogramOpts{
			Name:    "apiserver_mutating_admission_policy_check_duration_seconds",
			Help:    "[ALPHA] Duration of single mutations by mutating admission policies in seconds, by policy, binding and error.",
			Buckets: policyBuckets,
		}, policyLabels),
	}
}

// vector is a metric with labels.
type vector interface {
	prometheus.Collector
	Reset()
}

// vectors returns all of the metrics.
func (m *admissionMetrics) vectors() []vector {
	return []vector{
		m.webhookDurations, m.webhookRequests, m.webhookRejections, m.webhookFailOpen,
		m.validatingChecks, m.validatingDurations, m.mutatingChecks, m.mutatingDurations,
	}
}

// RecordWebhook records a call of an admission webhook.
func (r *Recorder) RecordWebhook(c WebhookCall) {
	m := r.admission()
	code, rejected := strconv.Itoa(min(c.Code, 600)), strconv.FormatBool(c.Rejected) // webhooks choose their codes
	m.webhookRequests.WithLabelValues(c.Name, c.Type, c.Operation, code, rejected).Inc()
	m.webhookDurations.WithLabelValues(c.Name, c.Type, c.Operation, rejected).Observe(c.Duration.Seconds())
	if c.Rejected && c.ErrorType != "" {
		m.webhookRejections.WithLabelValues(c.Name, c.Type, c.Operation, c.ErrorType, code).Inc()
	}
	if c.FailedOpen {
		m.webhookFailOpen.WithLabelValues(c.Name, c.Type).Inc()
	}
}

// RecordValidatingPolicy records an evaluation by a validating policy that failed or did not hold.
// action is allow, deny, warn or audit.
func (r *Recorder) RecordValidatingPolicy(c PolicyCheck, action string) {
	m := r.admission()
	m.validatingChecks.WithLabelValues(c.Policy, c.Binding, c.ErrorType, action).Inc()
	m.validatingDurations.WithLabelValues(c.Policy, c.Binding, c.ErrorType, action).Observe(c.Duration.Seconds())
}

// RecordMutatingPolicy records a mutation by a mutating policy.
func (r *Recorder) RecordMutatingPolicy(c PolicyCheck) {
	m := r.admission()
	m.mutatingChecks.WithLabelValues(c.Policy, c.Binding, c.ErrorType).Inc()
	m.mutatingDurations.WithLabelValues(c.Policy, c.Binding, c.ErrorType).Observe(c.Duration.Seconds())
}
