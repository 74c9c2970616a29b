// Package builtintypes tests how objects of built-in types are stored: their defaults, what the
// strategies of create and update reset, drop, keep and count, what is allocated, and what
// admission plugins add. It also tests which objects are refused, and with which causes. It has
// only tests. TestStoredObjects and TestValidation play the cases of testdata/stored and
// testdata/validation, each with a server of its own.
//
// # Sources
//
// No case is recorded from a server. Each has a source: the function or field comment of Kubernetes
// v1.37 that states the fact. Where a case and a real server differ, the server is right.
//
// # Format
//
// A file is a YAML list of cases. A case has a name, a source, and may have
//
//   - needs: what it depends on besides defaults and strategies, such as an allocator (service-ip,
//     node-port, single-stack) or an admission plugin;
//   - setup: objects that are created first;
//   - create: the body of the POST, and after it what is expected;
//   - steps: further requests, in order, each with its own expectation. A step has one of create
//     (another object, which the next steps are about), update (PUT without resourceVersion), patch
//     (merge patch, of the subresource sub if that is set), patchStatus, delete and read (GET in
//     another apiVersion). In testdata/validation an update has the current resourceVersion.
//
// An expectation is about the response and about a GET that follows it:
//
//   - code: the status code; without it, any 2xx;
//   - reason: the reason of a refusal;
//   - causes: all of its details.causes, in any order. $any in a field or a message stands for any
//     text, and messageContains is a part of the message;
//   - stored: fields that the object has with these values. It may have others. Lists have as many
//     elements, in this order. null means that the field is not there;
//   - exact: stored.spec is the whole spec;
//   - absent: paths that the object does not have, such as spec.ports.0.name, or a list of the
//     segments of a path with dots in a segment.
//
// # Symbols
//
// A text in stored that begins with $ stands for any value of a kind: $any, $ip4 (an address in
// 10.96.0.0/12), $port (a number from 30000 to 32767), $uid, $time (RFC 3339, UTC), $user (the name
// of the user) and $re:REGEXP (a text that matches as a whole). The same symbol with the same #NAME
// behind it stands for equal values everywhere in a case, and for that value in later bodies. $ns,
// the namespace, $id, letters and digits for names of cluster-scoped objects, and $repeat(C,N), N
// times the character C, can be parts of a text.
package builtintypes
