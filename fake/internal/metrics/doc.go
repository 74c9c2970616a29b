// Package metrics counts the requests, watch events, decisions of admission and objects of a server
// and serves them on /metrics under the names and labels of a real API server, in the text or the
// protobuf format of Prometheus (DI-19). In protobuf, histograms have native buckets, too
// (KEP-5808).
//
//	apiserver_request_total                    verb dry_run group version resource subresource scope component code
//	apiserver_request_duration_seconds         the same without code
//	apiserver_request_aborts_total             verb group version resource subresource scope
//	apiserver_request_terminations_total       verb group version resource subresource scope component code
//	apiserver_requested_deprecated_apis        group version resource subresource removed_release
//	apiserver_longrunning_requests             verb group version resource subresource scope component
//	apiserver_current_inflight_requests        request_kind
//	apiserver_watch_events_total, _sizes       group version resource
//	apiserver_resource_objects                 group resource
//	apiserver_admission_webhook_admission_duration_seconds   name type operation rejected
//	apiserver_admission_webhook_request_total                name type operation code rejected
//	apiserver_admission_webhook_rejection_count              name type operation error_type rejection_code
//	apiserver_admission_webhook_fail_open_count              name type
//	apiserver_validating_admission_policy_check_total, _check_duration_seconds   policy policy_binding error_type enforcement_action
//	apiserver_mutating_admission_policy_check_total, _check_duration_seconds     policy policy_binding error_type
//	process_start_time_seconds                 start of the server, not of the process
//	process_..., go_...                        of the process, which a test may share with other servers
//
// The metrics are those of client_golang, in a registry per server. Recording a request takes one
// map lookup and a few atomic additions: the counter and the histogram of each label set are
// looked up once. Requests for resources that are not served and for unknown paths are not
// recorded, as on a real server, so requests cannot create any number of label sets. Webhooks and
// policies have label sets by their names, as on a real server.
package metrics
