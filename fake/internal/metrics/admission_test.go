package metrics

import (
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// samples returns the samples of admission as text, without buckets and sums.
func samples(t *testing.T, r *Recorder) (lines []string) {
	t.Helper()
	w := httptest.NewRecorder()
	r.ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	for line := range strings.Lines(w.Body.String()) {
		if strings.Contains(line, "admission") && !strings.HasPrefix(line, "#") && !strings.Contains(line, "_bucket{") && !strings.Contains(line, "_sum{") {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	return lines
}

// The metrics of webhooks and policies have the names and labels of a real server, whether they are
// recorded before or after the first scrape.
func TestAdmissionMetrics(t *testing.T) {
	r := newRecorder()
	call := WebhookCall{Name: "a.example.com", Type: "admit", Operation: "CREATE", Code: 200, Duration: 2 * time.Second}
	r.RecordWebhook(call)
	require.Equal(t, []string{
		`apiserver_admission_webhook_admission_duration_seconds_count{name="a.example.com",operation="CREATE",rejected="false",type="admit"} 1`,
		`apiserver_admission_webhook_request_total{code="200",name="a.example.com",operation="CREATE",rejected="false",type="admit"} 1`,
	}, samples(t, r))
	family := scrape(t, r)["apiserver_admission_webhook_admission_duration_seconds"]
	histogram := family.Metric[0].GetHistogram()
	require.InDelta(t, 2, histogram.GetSampleSum(), 1e-9)
	require.EqualValues(t, 0, histogram.Bucket[4].GetCumulativeCount(), "up to 1s")
	require.EqualValues(t, 1, histogram.Bucket[5].GetCumulativeCount(), "up to 2.5s")
	require.Len(t, histogram.Bucket, 8)

	call.Type, call.Rejected, call.Code, call.ErrorType = "validating", true, 700, "no_error"
	r.RecordWebhook(call)
	call.ErrorType = ""
	r.RecordWebhook(call)
	call.Type, call.Rejected, call.Code, call.ErrorType, call.FailedOpen = "admit", false, 503, "calling_webhook_error", true
	r.RecordWebhook(call)
	check := PolicyCheck{Policy: "p", Binding: "b", ErrorType: "no_error", Duration: time.Millisecond}
	r.RecordValidatingPolicy(check, "deny")
	r.RecordValidatingPolicy(check, "warn")
	r.RecordMutatingPolicy(check)
	require.Equal(t, []string{
		`apiserver_admission_webhook_admission_duration_seconds_count{name="a.example.com",operation="CREATE",rejected="false",type="admit"} 2`,
		`apiserver_admission_webhook_admission_duration_seconds_count{name="a.example.com",operation="CREATE",rejected="true",type="validating"} 2`,
		`apiserver_admission_webhook_fail_open_count{name="a.example.com",type="admit"} 1`,
		`apiserver_admission_webhook_rejection_count{error_type="no_error",name="a.example.com",operation="CREATE",rejection_code="600",type="validating"} 1`,
		`apiserver_admission_webhook_request_total{code="200",name="a.example.com",operation="CREATE",rejected="false",type="admit"} 1`,
		`apiserver_admission_webhook_request_total{code="503",name="a.example.com",operation="CREATE",rejected="false",type="admit"} 1`,
		`apiserver_admission_webhook_request_total{code="600",name="a.example.com",operation="CREATE",rejected="true",type="validating"} 2`,
		`apiserver_mutating_admission_policy_check_duration_seconds_count{error_type="no_error",policy="p",policy_binding="b"} 1`,
		`apiserver_mutating_admission_policy_check_total{error_type="no_error",policy="p",policy_binding="b"} 1`,
		`apiserver_validating_admission_policy_check_duration_seconds_count{enforcement_action="deny",error_type="no_error",policy="p",policy_binding="b"} 1`,
		`apiserver_validating_admission_policy_check_duration_seconds_count{enforcement_action="warn",error_type="no_error",policy="p",policy_binding="b"} 1`,
		`apiserver_validating_admission_policy_check_total{enforcement_action="deny",error_type="no_error",policy="p",policy_binding="b"} 1`,
		`apiserver_validating_admission_policy_check_total{enforcement_action="warn",error_type="no_error",policy="p",policy_binding="b"} 1`,
	}, samples(t, r))

	r.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("DELETE", "/metrics", nil))
	require.Empty(t, samples(t, r))
	r.RecordMutatingPolicy(check)
	require.Len(t, samples(t, r), 2)
}
