package main

// figure is a line of the table: the ratio of two benchmarks' metrics.
type figure struct {
	what string
	// suite is the directory of the benchmarks, and bench the pattern that selects them.
	suite, bench string
	// top and bottom are the names of the two benchmarks, without "Benchmark", and unit is the
	// metric. The figure is top's value divided by bottom's. If bottom is "", the metric itself is
	// the ratio.
	top, bottom, unit string
	// goal is the limit of the ratio: a minimum if atLeast is set, otherwise a maximum. 0 means
	// none.
	goal    float64
	atLeast bool
}

// figures returns the lines of the table, in order.
func figures() []figure {
	const (
		server, store, rules = "fake", "memstore", "faults"
		documents, fakes     = "fake/internal/openapi", "internal/dev/e2e/fakes"
		time                 = "ns/op"
	)
	return []figure{
		{"GET of a KiB: rate, beside a bare `net/http` handler that writes the same bytes", server, "^BenchmarkGet$", "Get/bare", "Get/server", time, 0.8, true},
		{"LIST of 10,000 x 1 KiB: rate, beside the bare handler", server, "^BenchmarkList10000$", "List10000/bare", "List10000/server", time, 0.8, true},
		{"allocations of such a LIST, client included, per item", server, "^BenchmarkList10000$", "List10000/server", "", "allocs/item", 0.1, false},
		{"streaming list of 10,000 up to its bookmark: rate, beside the bare handler", server, "^BenchmarkWatchList$", "WatchList/bare", "WatchList/server", time, 0, false},
		{"page of 500 in the middle of 20,000: time, beside the first", server, "^BenchmarkPage500$", "Page500/middle", "Page500/front", time, 1.1, false},
		{"start to first answer with TLS: time, beside without", server, "^BenchmarkStart$", "Start/tls", "Start/tcp", time, 0, false},
		{"LIST of 2,000 inside the server in protobuf: time, beside JSON", server, "^BenchmarkEncodings$/^list$/^(protobuf|gzip)$", "Encodings/list/protobuf", "", "x-json", 0, false},
		{"the same in JSON and gzip, beside JSON", server, "^BenchmarkEncodings$/^list$/^(protobuf|gzip)$", "Encodings/list/gzip", "", "x-json", 0, false},
		{"create of a ConfigMap of a KiB inside the server: time, beside strictly decoding it", server, serve, "Serve/ConfigMap/create/json", "", "x-decode", 2, false},
		{"update of it", server, serve, "Serve/ConfigMap/update/json", "", "x-decode", 2, false},
		{"create of a Deployment", server, serve, "Serve/Deployment/create/json", "", "x-decode", 2, false},
		{"update of it", server, serve, "Serve/Deployment/update/json", "", "x-decode", 2, false},
		{"an apply that says again what is there", server, serve, "Serve/ConfigMap/apply-repeating/json", "", "x-decode", 0, false},
		{"an apply that changes something", server, serve, "Serve/ConfigMap/apply-changing/json", "", "x-decode", 0, false},
		{"create of a Pod inside the server: time, beside without validation", server, "^BenchmarkValidation$", "Validation/Pod/create", "", "x-without", 1.3, false},
		{"update of it", server, "^BenchmarkValidation$", "Validation/Pod/update", "", "x-without", 1.3, false},
		{"create of a Deployment", server, "^BenchmarkValidation$", "Validation/Deployment/create", "", "x-without", 1.3, false},
		{"update of it", server, "^BenchmarkValidation$", "Validation/Deployment/update", "", "x-without", 1.3, false},
		{"a GET inside the server by one of 500 bindings of RBAC: time, beside without RBAC", server, rbac, "RBAC/bindings=500/namespace", "RBAC/off/namespace", time, 0, false},
		{"the same, denied", server, rbac, "RBAC/bindings=500/denied", "RBAC/off/namespace", time, 0, false},
		{"an update inside the server with controllers: time, beside without", server, "^BenchmarkControllersWatch$", "ControllersWatch/with", "ControllersWatch/without", time, 0, false},
		{"create of a custom resource of a KiB inside the server: time, beside a ConfigMap", server, custom, "Custom/create", "", "x-configmap", 0, false},
		{"the same, beside a Deployment of that size", server, custom, "Custom/create", "", "x-deployment", 0, false},
		{"GET of it, beside a ConfigMap", server, custom, "Custom/get", "", "x-configmap", 0, false},
		{"LIST of 10,000 of them, beside ConfigMaps", server, custom, "Custom/list-10000", "", "x-configmap", 0, false},
		{"install 100 definitions that the process has not seen: time, beside starting with them", server, "^BenchmarkDefinitions$", "Definitions/new", "Definitions/load", "µs/crd", 0, false},
		{"the same of those that it has seen", server, "^BenchmarkDefinitions$", "Definitions/again", "Definitions/load", "µs/crd", 0, false},
		{"one event to 100 watchers: time, beside one watcher", server, fanout, "Fanout/watchers=100", "Fanout/watchers=1", time, 0, false},
		{"one event to 10,000 watchers", server, fanout, "Fanout/watchers=10000", "Fanout/watchers=1", time, 0, false},
		{"one event to 100 watchers and one that never reads: time, beside without it", server, fanout, "Fanout/watchers=100/slow", "Fanout/watchers=100", time, 1.2, false},
		{"a create inside the server beside 1,000,000 objects: time, beside 1,000", server, size, "Size/objects=1000000/create", "Size/objects=1000/create", time, 2, false},
		{"a get of one of them", server, size, "Size/objects=1000000/get", "Size/objects=1000/get", time, 2, false},
		{"a list of one of them by its name", server, size, "Size/objects=1000000/list-one", "Size/objects=1000/list-one", time, 2, false},
		{"a page of 500", server, size, "Size/objects=1000000/page", "Size/objects=1000/page", time, 2, false},
		{"an update up to its event at a watch of the object", server, size, "Size/objects=1000000/watch", "Size/objects=1000/watch", time, 2, false},
		{"the heap at 1,000,000 objects of a KiB, beside their bytes", server, size, "Size/objects=1000000/create", "", "heap/byte", 2.5, false},
		{"a write to the store at 1,000,000 objects: time, beside at 1,000", store, "^BenchmarkWrite$/^objects=(1000|1000000)$", "Write/objects=1000000", "Write/objects=1000", time, 2, false},
		{"memory of a live object of a KiB, beside its bytes", store, "^BenchmarkMemory$/^live$", "Memory/live", "", "B/object/KiB", 2.5, false},
		{"a small request over HTTP through ten armed fault rules: time, beside none", rules, "^BenchmarkRequest$", "Request/rules=ten", "Request/without", time, 0, false},
		{"OpenAPI v2, made when first asked for: time, beside a client's parsing of it", documents, "^BenchmarkDocuments$/^(v2|parse)$", "Documents/v2", "Documents/parse", time, 0, false},
		{"client-go's fake: time of a create, beside one here over HTTP", fakes, "^BenchmarkCreate$", "Create/client-go", "Create/server", time, 0, false},
		{"controller-runtime's fake: time of a create, beside one here", fakes, "^BenchmarkCreate$", "Create/controller-runtime", "Create/server", time, 0, false},
		{"a get here over HTTP: time, beside client-go's fake, a function call", fakes, "^BenchmarkGet$", "Get/server", "Get/client-go", time, 0, false},
		{"a get here over HTTP: time, beside controller-runtime's fake", fakes, "^BenchmarkGet$", "Get/server", "Get/controller-runtime", time, 0, false},
	}
}

const (
	serve  = "^BenchmarkServe$/^(ConfigMap|Deployment)$/^(create|update|apply-.*)$/^json$"
	custom = "^BenchmarkCustom$/^(create|get|list-10000)$"
	fanout = "^BenchmarkFanout$"
	size   = "^BenchmarkSize$"
	rbac   = "^BenchmarkRBAC$/^(off|bindings=500)$/^(namespace|denied)$"
)
