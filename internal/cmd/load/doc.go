// Package load measures a Kubernetes API server over HTTP: the latency and rate of requests, the
// latency of watch events, and the processor time and the memory that the server reports. It
// measures all servers in the same way.
//
// Run creates a namespace whose name begins with Config.Namespace, and fills it with ConfigMaps of
// about a KiB. Then each kind of request is repeated for Config.Duration, first by one client and
// then by Config.Clients concurrently. The figures are, in this order:
//
//	create      until there are Config.Objects; a tenth by one client, the rest by all
//	get         the objects in turn
//	update      a PUT without a resourceVersion that changes a value
//	patch       a merge patch that changes it
//	apply       a server-side apply, forced, that changes it
//	list        all objects in one response, by one client
//	page        the first 500 objects; and 500 from the middle, if there are enough
//	watch list  a streaming list, up to the bookmark that ends it
//	fan-out     from a write until the last of several watchers has read its event
//	events      the events that several watchers read while all clients patch as fast as they can
//	delete      the objects in turn, until the time is over or all are deleted
//
// Then each request of Config.Resources is sent once for each object: create, get, update, the
// patches of each type, status patch, an apply that changes the object and the same again; and some
// lists and Tables.
//
// Each figure has the processor time of the server for one request, if its /metrics have it. It is
// disturbed less by a busy machine than the rate is.
//
// Responses are read completely but not decoded, apart from continue tokens, so that the client
// uses little CPU. Compression is not requested. Clients do not write to the same object at the
// same time. Each client has its own connections. The watchers share a transport, which over HTTP/2
// uses as many streams per connection as the server allows.
//
// At the end, also after an error or when the context is done, Run removes everything. If the
// server does not finish deleting the namespace, it remains empty and Report.Notes lists it.
package load
