// Package differential compares two API servers by random sequences of requests. It implements the
// command "fakeapi compare --random".
//
// [Run] sends each request to both servers at the same time and compares the responses: the status
// code, the headers that depend on the API server, the body as a value, and the order of its keys.
// Watches are read until the end of the sequence, and their events compared. Values that always
// differ between two servers, such as uids and times, are replaced as in package httpdiff.
//
// # Requests
//
// A run has random CustomResourceDefinitions with structural schemas, in one or two versions, with
// or without status and scale. Half of them also have random keywords, and may be refused. For each
// there are sequences of up to 27 requests about its custom resources, about ConfigMaps or about
// Deployments, each in its own namespace: creates, updates, the object that was last received sent
// again, patches of every type, applies, reads, lists with selectors and continue tokens, deletions
// and watches. Values conform to the schema or do not; options, metadata, media types and
// preconditions are valid or not. There are three names, so that requests meet the same objects. A
// fifth of the sequences are about definitions: creates and patches, most with mistakes, all dry
// runs. The same seed results in the same requests.
//
// # Differences
//
// A sequence ends at its first difference, because the servers may have different objects then.
// Differences have a signature, the request and the first difference without names and numbers;
// those with the same signature are a class. A new class is confirmed by a second run, and then
// shrunk: the report has the smallest sequence that was found, with the smallest bodies, options
// and definition.
//
// [Listed] has the classes that are known, with reasons. They are counted and not shrunk.
//
// # What a run leaves behind
//
// Objects, namespaces and definitions are deleted, after the removal of finalizers. The Deployments
// are paused, so that a cluster creates no Pods for them. Controllers that write objects of the
// namespaces, and admission that changes them, are differences too.
package differential
