// Package exchange compares what two Kubernetes API servers answered: what one of them said, the left side, with symbols in the place of
// what no two servers have in common, and what came on the right. Package golden has left sides in files, and package compare makes them
// of what a server answers now.
//
// JSON is compared as values: the order of keys does not count, every other
// thing does, fields too many as well as fields too few, and 1.0 is not 1. Two
// things that API servers themselves order at random are sorted on both sides
// first: the causes of a Status (and the list of them in its message), and the
// resources of a discovery document.
//
// # Symbols
//
// What no two servers have in common is a symbol in a recording. It is bound to
// a value where it first appears in an answer, answers to set-up included, and
// stands for that value in later requests:
//
//	$ns                     the namespace of the case
//	$rv1, $rv2 ...          a resourceVersion
//	$uid1 ...               a uid
//	$rand1 ...              the five letters that make a generated name unique
//	$hash1 ..., $etag1 ...  a hash of an OpenAPI document, an ETag with its quotes
//	$continue(...)          a continue token that the server gave; the text in
//	                        the parentheses only tells one from another
//	$token(v= rv= start=)   a continue token that the client made up: unpadded
//	                        base64url of {"v":"V","rv":RV,"start":"START"}
//	$time, $age             an RFC 3339 time; the age in a table, like 5s
//	$microtime              a time with six digits of its second
//	$num1 ...               a number in a name that the client made
//	$revision               a resourceVersion that is not that of an object, as in lists and messages
//	$storageVersionHash, $serverAddress, $gitVersion, $gitCommit, $buildDate,
//	$goVersion, $compiler, $platform, $opaque
//	                        any text but none
//
// Any other word with a dollar sign ($patch, $ref) is plain text. The same $uid,
// $rand or $num must be the same value all through a case and two of them two values;
// NewPlaceholders says whether that holds for $rv too, otherwise any number will do.
//
// A [Scribe] puts the symbols into what a server answers now.
package httpdiff
