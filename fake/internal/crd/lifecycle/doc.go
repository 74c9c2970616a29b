// Package lifecycle has the behavior of a CustomResourceDefinition as an object: its defaults,
// validation and warnings, the conditions that controllers set, and its deletion. The functions
// take and return objects of apiextensions.k8s.io/v1. They do not access the store.
//
// # Writes
//
// [Canonicalize] is called first for every decoded object. It sets the defaults and changes the
// JSON values in schemas to the stored form. Then follow [PrepareForCreate], [PrepareForUpdate] or
// [PrepareStatusForUpdate], the matching one of [Validate], [ValidateUpdate] and
// [ValidateStatusUpdate], and [WarningsOnCreate] or [WarningsOnUpdate]. Canonicalize and the
// Prepare functions change their first argument; all others change no argument. An old object is
// one in the store, which is canonical.
//
// The validation is that of apiextensions-apiserver, with its causes and texts. An error in a
// schema that all versions share has the path spec.validation, as on a real server, although v1 has
// no such field. The first validation builds a CEL environment. Digests of valid definitions are
// cached in the process, so that other servers do not validate them again.
//
// # Conditions
//
// [Reconcile] returns the states that the controllers write after a definition changed, including
// other definitions that get names which became free. It combines four controllers of a real
// server, in the order in which an idle server runs them:
//
//   - KubernetesAPIApprovalPolicyConformant, for protected groups, by the annotation
//     api-approved.kubernetes.io
//   - NamesAccepted, with status.acceptedNames, and Established False
//   - NonStructuralSchema, for schemas that v1 does not accept any more
//   - Established True, or False while the caBundle of the conversion webhook is invalid
//
// Each returned state has to be written to the status subresource, so that it has its own
// resourceVersion. On a real server the approval and the names are written in any order, because
// the controllers are independent.
//
// Names conflict within a group only. Built-in resources are not considered: a kind Pod in another
// group is no conflict. Plural, singular and short names are one set of names, kind and list kind
// another. A name in use is not accepted; the other names are. The condition reports the last
// conflict. If a conflict disappears while the accepted names are those of the spec already, the
// condition does not change: NamesAccepted stays False, as on a real server.
//
// # Serving
//
// [ServesRequests], [AllowsCreate] and [DiscoversWriteVerbs] report which requests for instances
// are served in a state.
//
// # Deletion
//
// The first DELETE of a definition does not remove it: it calls [MarkTerminating]. The finalizing
// controller then writes [StartFinalizing], deletes the instances if [MustDeleteInstances] is true,
// waits until they are removed, and writes [FinishFinalizing]. If no finalizer remains, the object
// is removed, and the DELETED event has the state before, with the finalizer. No instances can be
// created while the definition is being deleted, even after Terminating became False. A
// deletecollection does nothing of that: it removes definitions, and their instances stay.
package lifecycle
