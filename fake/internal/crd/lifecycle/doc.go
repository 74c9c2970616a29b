// Package definition knows what a CustomResourceDefinition is and becomes: what
// is defaulted, refused and warned of, which status its controllers give it, and
// how it ends. Its functions know no HTTP and no store; they take objects of
// apiextensions.k8s.io/v1.
//
// # A write
//
// What comes in is given to Decoded first, whatever the verb: it sets the defaults
// and brings the JSON values in schemas into the form in which a server keeps them.
// Then comes PrepareForCreate, PrepareForUpdate or PrepareStatusForUpdate, then its Validate, then
// Warnings for writes of the object itself. The Prepare functions change their first
// argument in place; all others change nothing that they are given. An old object
// is what the store holds: it went this way once.
//
// Validation is that of apiextensions-apiserver, so causes and texts are those of a
// real server. As there, a schema that all versions share is complained about as
// spec.validation, though v1 has no such field. It builds a CEL environment the
// first time that a definition is validated, and never without one. New definitions
// that nothing was wrong with are remembered in the process, by a digest of all that
// validation looks at: the next server that gets one takes it as it is.
//
// # Conditions
//
// Accept gives the states that one definition goes through, Settle those of a
// whole set, when a change of one sets others free. Both are what five controllers
// of a real server do, in the order in which one that is not busy does it:
//
//   - KubernetesAPIApprovalPolicyConformant, for groups of the community: what the
//     annotation api-approved.kubernetes.io says
//   - NamesAccepted, with status.acceptedNames; Established False
//   - NonStructuralSchema, which v1 does not let anyone create any more
//   - Established True, or False while the caBundle of the conversion webhook is none
//
// Each gives a state of its own, with a resourceVersion of its own; the caller writes
// them through the status subresource, as the server itself. On a real server the
// approval and the names come in any order, as they are the work of two goroutines.
//
// Names are a matter of a group's definitions only: built-in resources are not minded
// (a kind Pod in another group is no conflict).
// Plural, singular and short names are one set, kind and list kind the other. A name
// that is taken is left out of acceptedNames, the others are accepted. The last
// conflict found is the one told. A definition whose names are free again is told
// nothing if its accepted names are those of its spec already: NamesAccepted stays
// False (seen on a real server).
//
// # Serving
//
// ServingOf tells what requests and discovery see of a definition.
//
// # The end
//
// A DELETE of a definition that is not being deleted only marks it: MarkTerminating. Then
// the finalizing controller writes Finalizing; deletes the instances, if the definition
// is established and not Overlapping a built-in resource; waits for their end; and
// writes Finalized. If instances are still there after CleanupPatience it writes
// FinalizingFailed, and begins again. If Finalized leaves no finalizers the object
// goes, and the event of its end shows the state before, with the finalizer. While
// it is being deleted nothing new can be created, even after Terminating became False.
package lifecycle
