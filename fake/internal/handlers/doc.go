// Package handlers serves the requests for resources: the verbs of the Kubernetes API, from a
// parsed path to the bytes of the response. It corresponds to k8s.io/apiserver's
// pkg/endpoints/handlers.
//
// [API.Serve] finds the handler of a request in dispatch.go, negotiates the form of the response,
// and calls the handler. A handler returns an error instead of writing it; Serve writes it as a
// Status. A handler that returns nil has written the response.
//
// # Verbs
//
//	get                get.go
//	list               list.go; continue tokens in continue.go, remainingItemCount in
//	                   remaining_count.go
//	watch              watch.go; bookmarks in watch_bookmarks.go, conversion of custom resources
//	                   in watch_convert.go, WebSockets in watch_websocket.go
//	create             create.go
//	update             update.go
//	patch              patch.go
//	apply              apply.go
//	delete             delete.go
//	deletecollection   deletecollection.go
//	reviews            review.go; the answers in package reviews
//
// The subresources status, ephemeralcontainers, resize, approval and finalize write the object
// itself, and are served by get.go, update.go and patch.go. The others have a file each:
//
//	scale              subresource_scale.go; custom resources in subresource_scale_custom.go
//	binding            subresource_binding.go, also for a POST to bindings
//	eviction           subresource_eviction.go; budgets in subresource_eviction_budget.go
//	token              subresource_token.go; the tokens in package serviceaccount
//	exec, attach, portforward, proxy
//	                   subresource_connect.go: an error, because there is no kubelet. Before that
//	                   admission reviews the connection, and pod, container and node are checked
//	log                subresource_log.go: an error, too, after checks of the options and of those
//
// controllers.go has the writes of controllers, which are reviewed by webhooks and policies.
// admission.go and admission_dynamic.go run the admission plugins.
//
// # The flow of a request
//
// A create:
//
//	create                      decode the options and the body, check the namespace, set
//	                            managedFields, run mutating admission
//	createWithGeneratedName     for each generated name: prepareCreate (rest.PrepareForCreate,
//	                            rest.ValidateCreate, warnings), validating admission, and then
//	storage.GuaranteedUpdate    encode and write to the store
//
// An update, a patch or an apply:
//
//	updateObject                answer from the no-op cache, or parse the request into an
//	                            updatedObjectInfo: parseUpdate, parsePatch or parseApply
//	guaranteedUpdate            read the stored object, call the updatedObjectInfo, and then
//	                            beforeUpdate (checkResourceVersion, rest.BeforeUpdate, warnings,
//	                            validating admission) or, if there is no object, createOnUpdate
//	storage.GuaranteedUpdate    encode and write to the store
//
// A write of the Scale of an object is an update of the Scale inside of an update of the object.
//
// A delete:
//
//	delete                      decode the options
//	deleteObject                check the preconditions, run admission, and apply
//	                            rest.BeforeDelete, which finds out whether the object is removed
//	storage.GuaranteedUpdate    write to the store or remove from it
//
// After each write the store calls the controller of CustomResourceDefinitions, which changes the
// served resources before the response is written.
//
// A get or a list takes a state of the store, finds the records in it, and encodes them. The
// records are copied to the response as they are stored where that is possible; package encode
// does this. A watch opens a cursor of the store and encodes each event for its selector.
//
// # The state that a read sees
//
// A state of the store is a memstore.View. Three functions of resource_version.go choose it:
//
//	viewAtLeast        "most recent": the store itself. "any" and "not older than N": the view of
//	                   the watch cache, after waiting for N
//	viewExactly        "exactly N": the history of the store, after waiting for N
//	resolveContinue    the revision in a continue token, by viewExactly; the current state if the
//	                   token has none
//
// A get calls viewAtLeast (GT-02 to GT-06). A list or a deletecollection calls resolveListStart,
// which has the table of the three options of a list. A cell has the result and its rule in
// conformance/rules.md.
//
//	resourceVersionMatch       resourceVersion ""     resourceVersion "0"     resourceVersion N
//	unset, no limit            most recent (RS-10)    any (RS-11)             not older (RS-12)
//	unset, limit               most recent, paged     any, not paged          exactly N, paged
//	                           (RS-13)                (RS-14)                 (RS-15)
//	unset, continue            the token (RS-16)      the token (RS-17)       400 (RS-18)
//	Exact                      422 (RS-19)            422 (RS-20)             exactly N (RS-21)
//	NotOlderThan               422 (RS-22)            any (RS-23)             not older (RS-24,
//	                                                                          RS-28)
//	any value, continue        422 (RS-25)            422 (RS-25)             422 (RS-25)
//	unknown value              422 (RS-26)            422 (RS-26)             422 (RS-26)
//
// They are implemented here:
//
//	most recent, any,          resolveListStart calls viewAtLeast. Without a limit, or with a
//	not older                  selector, it checks before that the watch cache is ready (RS-31)
//	exactly N                  resolveListStart calls viewExactly
//	the token, 400             resolveContinue
//	paged, not paged           limit
//	422                        decodeListOptions, by ValidateListOptions of apimachinery, also for
//	                           sendInitialEvents on a list (RS-27)
//
// # Responses
//
// response.go writes objects, Statuses and errors. Package status has the texts of the errors. The
// errors of conversion webhooks become those of a real server's storage in fromConversionError.
//
// # Caches
//
// The no-op cache (noop_cache.go) answers a PUT or a PATCH that did not change the stored object
// the last time. It is not visible to clients.
//
// # Packages
//
//	rest              prepares and validates objects before a write
//	storage           reads and writes objects in the store
//	watchcache        the state that reads from the watch cache see, and its readiness
//	clock, ids        the time, uids and generated names
//	serviceaccount    tokens of service accounts
//	reviews           access reviews and token reviews
//	fixtures          objects that are loaded without requests
//	crd/controller    the controllers of CustomResourceDefinitions
//	status            errors
package handlers
