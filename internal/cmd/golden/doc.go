// Package golden replays recorded exchanges with a Kubernetes API server against another server and
// reports where the responses differ.
//
// A recording is a [Case]: a file of requests, in order, each with the response of the recorded
// server. [Load] reads the cases of a directory. A [Player] sends the requests to a base URL and
// compares:
//
//   - the status code. If it differs, the rest of the response is not compared;
//   - the headers Content-Type, Retry-After, Warning, Allow, Content-Encoding and Location, which
//     must be equal or absent on both sides;
//   - the body, in the form in which it was recorded (see [Response]);
//   - the number, order and content of the events of a watch, and how it ended.
//
// Package httpdiff compares the values, and defines the placeholders that recordings have in place
// of values that differ between servers.
//
// # Limits
//
// The package does not record. Play does not install the custom resources that a case lists in
// CRDs; the caller prepares the server with Install or otherwise.
package golden
