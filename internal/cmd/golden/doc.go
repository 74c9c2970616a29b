// Package golden replays recorded exchanges with a Kubernetes API server
// against another server and tells where the answers differ.
//
// A recording is a [Case]: a file of requests, in order, each with the answer
// that the recorded server gave. Load reads a folder of them; a [Player] sends
// the requests to a base URL and compares:
//
//   - the status code; if it differs, nothing else of that answer is looked at;
//   - the headers Content-Type, Retry-After, Warning, Allow, Content-Encoding and
//     Location, which must be the same or absent on both sides;
//   - the body, in the form that the recording has it in (see [Response]);
//   - of a watch: the number, order and content of its events, and how it ended.
//
// Package exchange says how values are compared, and has the symbols that stand in a recording for what no two servers have in common.
//
// # What it does not do
//
// It records nothing. It does not install the custom resources that a case
// names in CRDs: the caller has the server ready, by Install or otherwise.
package golden
