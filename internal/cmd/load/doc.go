// Package load measures a Kubernetes API server over HTTP, any server in the same way:
// how long requests take, how many a second it answers, how soon watchers hear of a
// write, and what memory it says that it has.
//
// Run makes a namespace of its own, whose name begins with Config.Namespace, and fills it
// with ConfigMaps of about a KiB. Then each kind of request is repeated for
// Config.Duration, by one client and by Config.Clients at a time. The figures are, in
// this order:
//
//	create      until there are Config.Objects; a tenth by one client, the rest by all
//	get         of one object after the other
//	update      a PUT without a resourceVersion, that changes a value
//	patch       a merge patch that changes it
//	apply       a server-side apply, forced, that changes it
//	list        all objects in one answer, by one client
//	page        the first 500 of them; and 500 from the middle, if there are enough
//	watch list  a streaming list, up to the bookmark that ends it
//	fan-out     a write until the last of some watchers has read its event
//	delete      of one object after the other, until the time is over or all are gone
//
// An answer is read to its end and not decoded, apart from the continue tokens, so that
// the client costs little. Compression is not asked for. No two clients write to the same
// object at a time. Each has connections of its own; the watchers share a transport, which
// over HTTP/2 packs as many of them into a connection as the server allows.
//
// In the end, also after an error or when the context is done, all is removed. Where
// nothing ends namespaces the empty one stays, and Report.Notes says so.
package load
