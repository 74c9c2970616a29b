// Package httpdiff compares the responses of two Kubernetes API servers. The left side has
// placeholders in place of the values that differ between servers; the right side is a response as
// it was received. Package golden reads left sides from files, package compare makes them from the
// responses of a server.
//
// JSON is compared by value. The order of keys does not matter, extra fields are differences as
// well as missing ones, and 1.0 is not equal to 1. Two lists that API servers return in random
// order are sorted on both sides first: the causes of a Status (and the list of them in its
// message), and the resources of a discovery document.
//
// # Placeholders
//
// A placeholder is bound to a value where it first appears in a response, including the responses
// to set-up requests, and stands for that value in later requests:
//
//	$ns                     the namespace of the case
//	$hooksURL, $hooksHost, $hooksCA
//	                        where the webhook of the case is, and its CA bundle
//	$rv1, $rv2 ...          a resourceVersion
//	$uid1 ...               a uid
//	$rand1 ...              the five letters that make a generated name unique
//	$hash1 ..., $etag1 ...  a hash of an OpenAPI document, an ETag with its quotes
//	$continue(...)          a continue token of the server; the text in the
//	                        parentheses distinguishes tokens
//	$token(v= rv= start=)   a continue token made by the client: unpadded
//	                        base64url of {"v":"V","rv":RV,"start":"START"}
//	$time, $age             an RFC 3339 time; the age in a table, like 5s
//	$microtime              a time with microseconds
//	$num1 ...               a number in a name that the client made
//	$revision               a resourceVersion that is not that of an object, as in lists and messages
//	$storageVersionHash, $serverAddress, $gitVersion, $gitCommit, $buildDate,
//	$goVersion, $compiler, $platform, $opaque
//	                        any non-empty text
//
// Any other word with a dollar sign ($patch, $ref) is plain text. Within a case the same $uid,
// $rand or $num must have the same value, and two different ones must have different values.
// [NewPlaceholders] configures whether that holds for $rv too; otherwise any number matches.
//
// A [Normalizer] inserts the placeholders into the responses of a server.
package httpdiff
