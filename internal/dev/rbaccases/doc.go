// Package rbaccases tests authorization by roles and bindings: which requests are allowed, and the
// texts of the denials. It has only tests. TestCases plays the cases of testdata, each with a
// server of its own, on virtual time.
//
// # Sources
//
// No case is recorded from a server. Each has a source: the file of Kubernetes v1.37 that states
// the fact. Where a case and a real server differ, the server is right.
//
// # Format
//
// A file is a YAML list of cases. A case has a name, a source, and may have
//
//   - note: an explanation;
//   - needs: what it depends on besides authorization: aggregation (of ClusterRoles),
//     serviceaccount-token, constrained-impersonation;
//   - setup: objects that the administrator creates first, in the namespace of the case unless they
//     have another;
//   - requests: in order.
//
// A request has
//
//   - as: the user that the administrator impersonates: user, groups, uid, extra. token is the name
//     of a ServiceAccount, which sends the request with a token; without as it is the
//     administrator;
//   - do: the method and the path;
//   - type: of a patch, one of merge (the default), json, strategic and apply;
//   - body;
//   - until: it is repeated until the response is as wanted, for ten seconds.
//
// Of the response it has
//
//   - code: the status code;
//   - reason and message of a Status. The reason of a 403 is Forbidden if there is none. A message,
//     and a text in answer, can be $re:REGEXP, which matches as a whole;
//   - details and answer: fields of the details, and of the whole response. Objects may have other
//     fields, lists may not have other elements;
//   - has and hasNot: elements that the lists at these paths have, or do not have;
//   - absent: paths that the response does not have.
//
// $ns is the namespace of the case, and $id a part of the names of cluster-scoped objects.
package rbaccases
