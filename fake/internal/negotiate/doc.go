// Package negotiate evaluates the headers Accept and Content-Type as a kube-apiserver does.
//
// The router first compares the media types of the Accept header without their parameters. The
// negotiation then evaluates the parameters (as=, v=, g=, pretty=, stream=) clause by clause, in
// the client's order of preference. [ResponseOutput] does both for the [Endpoint] of a request.
// [RequestMediaType] returns the encoding of a request body.
package negotiate
