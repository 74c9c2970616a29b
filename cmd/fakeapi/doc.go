// Command fakeapi runs a Kubernetes API server in memory, for tests that are not
// written in Go and for trying things out with kubectl.
//
//	fakeapi serve [--address ADDRESS] [--kubeconfig FILE] [--load DIR_OR_FILE]... [--tls] [--token TOKEN]...
//	        [--client-ca FILE]... [--host NAME]... [--faults FILE] [--controllers=false] [--cbor]
//	        [--scenario FILE [--stay]]
//	fakeapi proxy --kubeconfig FILE [--context CONTEXT] --faults FILE [--address ADDRESS] [--write-kubeconfig FILE]
//	fakeapi run [FILE | DIRECTORY | CASE | -]... [--client [ROLE=]NAME]... [--seed N] [-q] [--real-time]
//	        [--html FOLDER]
//	fakeapi run --all [--client [ROLE=]NAME]...
//	fakeapi run --list
//	fakeapi conformance --kubeconfig FILE [--context CONTEXT] [--namespace PREFIX] [--run REGEX]
//	        [--skip REGEX] [--level LEVEL] [--features NAME[=BOOL],...]... [--unprivileged-kubeconfig FILE]
//	        [--unprivileged-context CONTEXT] [--compact URL|COMMAND] [--expire URL|COMMAND] [--starting COMMAND]
//	        [--timeout TIME] [--patience TIME] [--report FORMAT[=FILE]]... [-q]
//	fakeapi conformance --url URL [--namespace PREFIX] [--run REGEX] [--skip REGEX] [--level LEVEL]
//	        [--features NAME[=BOOL],...]... [--unprivileged-kubeconfig FILE] [--unprivileged-context CONTEXT]
//	        [--compact URL|COMMAND] [--expire URL|COMMAND] [--starting COMMAND] [--timeout TIME]
//	        [--patience TIME] [--report FORMAT[=FILE]]... [-q]
//	fakeapi conformance --dry-run --kubeconfig FILE [--context CONTEXT] [--namespace PREFIX] [--run REGEX]
//	        [--skip REGEX] [--level LEVEL]
//	fakeapi conformance --list [--run REGEX] [--level LEVEL]
//	fakeapi compare --left SERVER --right SERVER [--left-context CONTEXT] [--right-context CONTEXT]
//	        [--left-compact URL] [--right-compact URL] [--controllers=false] [--namespace PREFIX] [--run REGEX]
//	        [--skip REGEX] [--level LEVEL] [--timeout TIME] [--patience TIME] [--report FORMAT[=FILE]]... [-q]
//	fakeapi compare --dry-run --left SERVER --right SERVER [--left-context CONTEXT] [--right-context CONTEXT]
//	        [--namespace PREFIX] [--run REGEX] [--skip REGEX] [--level LEVEL]
//	fakeapi compare --list [--left golden:DIR] [--run REGEX] [--level LEVEL]
//	fakeapi bench --kubeconfig FILE [--context CONTEXT] [--objects N] [--clients N] [--watchers N,...]
//	        [--duration TIME] [--json] [-q]
//	fakeapi bench --url URL [--objects N] [--clients N] [--watchers N,...] [--duration TIME] [--json] [-q]
//	fakeapi bench --self [--objects N] [--clients N] [--watchers N,...] [--duration TIME] [--json] [-q]
//	fakeapi version
//	fakeapi help [COMMAND]
//
// Serving is what it does when no command is named. The server listens on a
// loopback address only; the default is a free port. Its state lives and dies
// with the process. SIGINT and SIGTERM end it.
//
// # Manifests
//
// --load stores manifests before the first request is answered: a directory with
// everything below it, or one file, ending in .yaml, .yml or .json. It can be
// given several times. Objects are stored as they are, status and all; a
// namespace that is missing is made. What cannot be read or is not valid ends
// the command before it serves anything.
//
// # The kubeconfig file
//
// It is written, with mode 0600 and in one piece, when the server answers: a
// script can wait for the file and go on. Without --kubeconfig it lies in a
// fresh temporary directory that is removed at the end. A file named by
// --kubeconfig stays, since its owner decides about it. If it exists already, it
// is replaced only if it is empty or if nothing but an earlier fakeapi is
// described in it: a kubeconfig with real clusters is never overwritten.
//
// # TLS and tokens
//
// --tls serves HTTPS, with HTTP/2, by a certificate authority that is made for this run;
// the kubeconfig carries its certificate. --token does so too, and answers 401 to all who do
// not send one of the tokens given, or one that was issued for a service account. A
// token stands for system:admin unless it names its user and the user's groups. --client-ca takes
// client certificates of the authorities in a file, besides tokens or instead of them.
//
// Requests under a name that is not this machine's, and those of web pages, are refused;
// --host gives the server another name.
//
// # Faults
//
// --faults arms the fault rules of a file from the start, one a line, in the language of
// package faults. A file with a rule that cannot be read, or cannot work, ends the
// command before it serves anything, with line and column of what was not understood.
//
// proxy puts such rules in front of a real cluster. It reaches the cluster with the
// credentials of the kubeconfig that is named, there is no default, and writes another
// kubeconfig for the client under test, without credentials. Whoever reaches the proxy has
// those of the cluster: it listens on loopback only, and refuses requests under a name
// that is not this machine's. At the end it prints what the rules have hit.
//
// # Control
//
// The command serves the control API of package fakeapi under /fakeapi/v1/, too: fault
// rules and what they hit, the requests seen, snapshots, compact, expire, settle. The
// documentation of that package has each as a line of curl.
//
// --cbor serves CBOR beside the other encodings, which is an alpha feature of a real server and off there by default.
//
// Controllers run by themselves unless --controllers=false switches them off; then
// settle steps them by hand.
//
// # Scenarios
//
// run plays scenarios, which package scenario documents, each against a server of its
// own, in memory and on virtual time. It takes files, directories with all .txtar
// files below them, - for what stands on stdin, and the number or the name of a case of
// the catalogue. For each it prints the transcript and a line that begins with "ok" or
// "FAIL", with -q that line alone. What went wrong goes to stderr, a line that begins
// with FILE:LINE of the step. All that is named is played, whatever fails.
//
// The clients under test are those of package scenario/clients, by their roles: for a
// case the first that survives it, in a file the first of each role that it runs, or
// those that --client names. --list prints the cases, with who survives them, and the
// clients. --all plays each case with each client of its role and prints who survives;
// that somebody does or does not against what the catalogue says is a failure.
//
// With --real-time there is no virtual time: ten minutes take ten minutes, and no two
// runs are the same. --html leaves a page for each scenario in a folder: the timeline of
// its server, to open in a browser.
//
// # A client in any language
//
// serve --scenario plays a scenario in real time on the server that it serves, for a
// client of another process:
//
//	fakeapi serve --scenario case.txtar --kubeconfig /tmp/config &
//	KUBECONFIG=/tmp/config ./controller
//
// A step "run controller" means a client whose requests have a user agent that begins
// with "controller". It is waited for, and the command prints for what; a request that
// comes before that step is held back until then. The transcript is printed as it
// happens, line by line: steps, what they led to when they end, and each request of such
// a client when it is answered. At the end there is a line that begins with "ok" or
// "FAIL", what went wrong is on stderr, and the command ends; with --stay it goes on
// serving until it is interrupted.
//
// # Conformance
//
// conformance runs the cases of package conformance, which says what it does to a
// server, against the one of a kubeconfig. --list prints them. --dry-run runs them against
// servers of its own and prints what each creates; the server that is named is asked
// for its version only. Cases run one after the other, in namespaces whose names begin with
// PREFIX, and each is cleaned up after at once, whatever becomes of it.
//
// What depends on a feature gate is asked of the server. --features says what it has to be, as in
// --features CBORServingAndStorage,WatchList=false; -WatchList says off, too. What cannot be
// brought about by requests is done by hooks, and skipped without them: --compact and
// --expire make the server forget, by a POST to a URL that is answered with 2xx, or by a
// command for sh that ends with 0, and --starting puts it back into its start by a command that prints a
// line and ends that state when it is interrupted. Of fakeapi serve, they are in its
// control API, /fakeapi/v1/compact and /fakeapi/v1/expire.
//
// --unprivileged-kubeconfig or --unprivileged-context name a user of the same server who may do nothing, for
// the cases about denials; without them such a user is impersonated.
//
// While it runs, stderr has a line for each group of rules, for each failure, and every ten
// seconds: how many cases are done, of how many, what failed, what was skipped, how long it
// takes so far (-q: none). At the end, stdout has what failed and what was
// left behind, and how many cases of each group and level ended how. --report writes the
// results for others: junit for build servers, json (ReportJSON of package conformance),
// markdown, and html, one page that needs no network. Without =FILE it goes to stdout, and the
// rest to stderr. A file is there when it is complete.
//
// A signal ends the run: the case that is run is cut off and cleaned up after, which takes a minute at
// most, the reports are written, and the cases that are missing are skipped in them. A second
// signal ends the command at once, and leaves what is there.
//
// # Comparing two servers
//
// compare makes the same requests to two servers and prints what is different in their answers, by rule: the request, the path of
// the field or the name of the header, what the left has and what the right has. A side is the server of a kubeconfig, or, called
// self, one of this process. The requests are those of the cases of conformance, which are run on both sides in step, as safely as
// there. What no two servers have in common is left out: uids, resourceVersions, times, generated names, continue tokens,
// addresses, the ID of the run; package internal/cmd/compare says what is compared and how. What differs behind the first difference
// of a case may only be what came of it, and is marked. Cases that one side only can run are listed with the reason, those
// that need a server to forget its history are run if --left-compact and --right-compact name a URL for that (this server's is
// /fakeapi/v1/compact); servers of this process need none. --list, --dry-run, --run, --level and the rest are those of conformance.
//
//	fakeapi compare --left FILE --right self
//	fakeapi compare --left golden:DIR --right self --controllers=false
//
// On the left there may be recorded exchanges, a folder in the form of package internal/cmd/golden, as golden:DIR. Their requests are sent to the right side
// in order, each recording in a namespace of its own, and the answers compared with the recorded ones; --run selects by name. For self each
// has a server of its own; a server with a kubeconfig gets the definitions that the recordings need, and loses again those that it did not have.
//
// --report writes the result as json or markdown. A signal ends a comparison as it does a run of conformance.
//
// # Measuring a server
//
// bench measures any Kubernetes API server in the same way: create, get, update, patch,
// apply, list, pages, streaming lists, what time passes from a write until all of some
// watchers have its event, and delete. For each it prints how many requests a second were
// answered and how long the half and 99 percent of them took at most. --json has the same
// for programs. The server is that of a kubeconfig, which has no default, or one at a URL
// that wants no credentials; with --self it is one of this process, on loopback, and then
// how long it takes to start is measured, too.
//
// It works in a namespace of its own, fakeapi-bench-SOMETHING, with ConfigMaps of a KiB,
// as many as --objects, and removes it in the end, after a signal as well. Each kind of
// request is repeated for --duration, by one client and by --clients. What a server has
// of memory is read from process_resident_memory_bytes in its /metrics, if it is there and
// the user may read it; with --self it is the heap of the process, clients included. It is
// load: do not measure a cluster that others need. Requests that failed make it exit with 1.
//
// # Exit status
//
// 0 after a signal and after help, 1 for what went wrong, with one line on stderr
// that says what, 2 for a command line that was not understood. A scenario that failed
// is 1, and so is one that a signal has ended.
//
// Of conformance, 0 says that no MUST failed and that nothing was left behind: a SHOULD or a
// MAY that failed is told only. 1 says that a MUST failed, that something could not be
// cleaned up, or that the run could not begin or did not end.
//
// Of compare, 0 says that the two sides are the same, 1 that there are differences, or cases that one side only could run. 2 says that
// they could not be compared, that the comparison did not end, or that something could not be cleaned up.
package main
