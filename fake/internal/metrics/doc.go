// Package metrics counts what a server does, and says it on /metrics as a real API server
// does: by the names and labels of that, in the text format of Prometheus or in its
// protobuf (DI-19).
//
//	apiserver_request_total                    verb dry_run group version resource subresource scope component code
//	apiserver_request_duration_seconds         the same but code
//	apiserver_request_aborts_total             verb group version resource subresource scope
//	apiserver_request_terminations_total       verb group version resource subresource scope component code
//	apiserver_longrunning_requests             verb group version resource subresource scope component
//	apiserver_current_inflight_requests        request_kind
//	apiserver_watch_events_total, _sizes       group version resource
//	apiserver_resource_objects                 group resource
//	process_start_time_seconds                 of the server
//	process_..., go_...                        of the process, which a test may share with other servers:
//	                                           processor time, memory, descriptors (where there is a /proc), goroutines,
//	                                           threads, the heap and its collections
//
// A request costs a look at a table and two additions: the series are atomic numbers,
// and what the format wants is put together when somebody asks. Requests for resources
// that are not served, and for paths that there are not, count nowhere, as on a real
// server, so that clients cannot fill the memory with labels.
//
// Only the format is a library's. Prometheus' own counters would bring four modules more,
// a registry, and collectors that nobody asks for in a test.
package metrics
