// Command fakeapi runs a Kubernetes API server in memory, for tests in any language and for
// kubectl.
//
//	fakeapi serve [--output FORMAT] [--until-stdin-ends] [--scenario FILE [--stay]]
//	        [--address ADDRESS | --port PORT] [--control-address ADDRESS] [--kubeconfig FILE]
//	        [--ca-file FILE] [--load DIR_OR_FILE]... [--tls] [--token TOKEN]... [--client-ca FILE]... [--authorization-mode MODE,...]...
//	        [--host NAME]... [--faults RULES] [--controllers=false] [--cbor]
//	        [--cache-initializing DURATION] [--latency] [--access-report FILE]
//	        [--audit-policy-file FILE --audit-log-path FILE]
//	        [--feature-gates NAME=BOOL,...]... [--enable-admission-plugins NAME,...]...
//	        [--disable-admission-plugins NAME,...]... [--etcd-compaction-interval TIME]
//	        [--auto-compaction-retention N] [--history-bytes BYTES] [--quota-backend-bytes BYTES]
//	        [--max-requests-inflight N] [--max-mutating-requests-inflight N] [--max-watches N]
//	        [--min-request-timeout SECONDS] [--continue-token-lifetime TIME]
//	        [--bookmark-interval TIME] [--resource-version-timeout TIME]
//	        [--namespace-deletion-delay TIME] [--webhook-service NAMESPACE/NAME=ADDRESS]...
//	        [--allow-remote-webhooks] [--admission-delay TIME,TIME]
//	        [--service-cluster-ip-range CIDR[,CIDR]] [--service-node-port-range MIN-MAX]
//	        [--validation=false] [--seed N] [--timeline=false] [-v LEVEL]
//	fakeapi exec [--address ADDRESS | --port PORT] [--control-address ADDRESS] [--kubeconfig FILE]
//	        [--ca-file FILE] [--load DIR_OR_FILE]... [--tls] [--token TOKEN]...
//	        [--client-ca FILE]... [--authorization-mode MODE,...]... [--host NAME]...
//	        [--faults RULES] [--controllers=false] [--cbor] [--cache-initializing DURATION]
//	        [--latency] [--access-report FILE] [--audit-policy-file FILE --audit-log-path FILE]
//	        [--feature-gates NAME=BOOL,...]...
//	        [--enable-admission-plugins NAME,...]... [--disable-admission-plugins NAME,...]...
//	        [--etcd-compaction-interval TIME] [--auto-compaction-retention N]
//	        [--history-bytes BYTES] [--quota-backend-bytes BYTES] [--max-requests-inflight N]
//	        [--max-mutating-requests-inflight N] [--max-watches N] [--min-request-timeout SECONDS]
//	        [--continue-token-lifetime TIME] [--bookmark-interval TIME]
//	        [--resource-version-timeout TIME] [--namespace-deletion-delay TIME]
//	        [--webhook-service NAMESPACE/NAME=ADDRESS]... [--allow-remote-webhooks]
//	        [--admission-delay TIME,TIME] [--service-cluster-ip-range CIDR[,CIDR]]
//	        [--service-node-port-range MIN-MAX] [--validation=false] [--seed N] [--timeline=false]
//	        [-v LEVEL] -- COMMAND [ARGUMENT]...
//	fakeapi stress [--only NAME,... | --all] [--seed N] [--user-agent PREFIX] [--artifacts FOLDER]
//	        [--report FORMAT[=FILE]]... [-q] -- COMMAND [ARGUMENT]...
//	fakeapi stress --list [--seed N] [--user-agent PREFIX]
//	fakeapi perturb --workload FILE [--budget N] [--seed N] [--parallel N] [--pause DURATION] [--settle DURATION]
//	        [--recovery DURATION] [--ignore PATTERN]... [--known NAME]... [--output FOLDER] [-q] -- COMMAND [ARGUMENT]...
//	fakeapi proxy --kubeconfig FILE [--context CONTEXT] --faults RULES [--address ADDRESS]
//	        [--write-kubeconfig FILE]
//	fakeapi access --kubeconfig FILE [--context CONTEXT] [--client NAME] [--format FORMAT]
//	fakeapi access --kubeconfig FILE [--context CONTEXT] [--client NAME] --manifests DIRECTORY
//	        [--subject SUBJECT] [--namespace NAMESPACE] [--and-nothing-more] [--format FORMAT]
//	fakeapi run [FILE | DIRECTORY | CASE | -]... [--client [ROLE=]NAME]... [--seed N] [-q]
//	        [--real-time] [--html FOLDER]
//	fakeapi run --all [--client [ROLE=]NAME]...
//	fakeapi run --list
//	fakeapi conformance --kubeconfig FILE [--context CONTEXT] [--namespace PREFIX] [--run REGEX]
//	        [--skip REGEX] [--level LEVEL] [--features NAME[=BOOL],...]...
//	        [--unprivileged-kubeconfig FILE] [--unprivileged-context CONTEXT]
//	        [--compact URL|COMMAND] [--expire URL|COMMAND] [--starting COMMAND] [--parallel NUMBER]
//	        [--timeout TIME] [--run-timeout TIME] [--patience TIME] [--report FORMAT[=FILE]]... [-q]
//	fakeapi conformance --url URL [--namespace PREFIX] [--run REGEX] [--skip REGEX] [--level LEVEL]
//	        [--features NAME[=BOOL],...]... [--unprivileged-kubeconfig FILE]
//	        [--unprivileged-context CONTEXT] [--compact URL|COMMAND] [--expire URL|COMMAND]
//	        [--starting COMMAND] [--parallel NUMBER] [--timeout TIME] [--run-timeout TIME]
//	        [--patience TIME] [--report FORMAT[=FILE]]... [-q]
//	fakeapi conformance --dry-run --kubeconfig FILE [--context CONTEXT] [--namespace PREFIX]
//	        [--run REGEX] [--skip REGEX] [--level LEVEL]
//	fakeapi conformance --list [--run REGEX] [--level LEVEL]
//	fakeapi compare --left SERVER --right SERVER [--left-context CONTEXT] [--right-context CONTEXT]
//	        [--left-compact URL] [--right-compact URL] [--controllers=false] [--namespace PREFIX]
//	        [--run REGEX] [--skip REGEX] [--level LEVEL] [--timeout TIME] [--patience TIME]
//	        [--report FORMAT[=FILE]]... [-q]
//	fakeapi compare --dry-run --left SERVER --right SERVER [--left-context CONTEXT]
//	        [--right-context CONTEXT] [--namespace PREFIX] [--run REGEX] [--skip REGEX]
//	        [--level LEVEL]
//	fakeapi compare --random --left SERVER --right SERVER [--left-context CONTEXT]
//	        [--right-context CONTEXT] [--controllers=false] [--namespace PREFIX] [--steps NUMBER]
//	        [--seed SEED] [--parallel NUMBER] [--listed FILE] [--report FORMAT[=FILE]]... [-q]
//	fakeapi compare --list [--left golden:DIR] [--run REGEX] [--level LEVEL]
//	fakeapi envtest-assets [DIRECTORY] [-p FORMAT]
//	fakeapi bench --kubeconfig FILE [--context CONTEXT] [--objects N] [--clients N]
//	        [--watchers N,...] [--resources NAME,...] [--duration TIME] [--json] [-q]
//	fakeapi bench --url URL [--objects N] [--clients N] [--watchers N,...] [--resources NAME,...]
//	        [--duration TIME] [--json] [-q]
//	fakeapi bench --self [--objects N] [--clients N] [--watchers N,...] [--resources NAME,...]
//	        [--duration TIME] [--json] [-q]
//	fakeapi version
//	fakeapi help [COMMAND]
//
// Without a command, fakeapi runs serve. The server listens on a loopback address only, by default
// on a free port. Its state is in memory. SIGINT and SIGTERM end it.
//
// # Manifests
//
// --load stores manifests before the first request is answered: a directory with all directories
// below it, or one file, ending in .yaml, .yml or .json. It may be repeated. In a directory, hidden
// files and directories, whose names begin with a dot, and kustomization.yaml and kustomization.yml
// are skipped. Objects are stored as they are, including status. Missing namespaces are created. A
// manifest that cannot be read, is not a regular file or is invalid ends the command before it
// serves.
//
// # The kubeconfig file
//
// The kubeconfig is written atomically, with mode 0600, once the server answers, so a script may
// wait for the file. Without --kubeconfig it is in a new temporary directory, which is removed at
// the end. A file named by --kubeconfig is kept. An existing file is replaced only if it is empty
// or has no other clusters, users and contexts than an earlier fakeapi wrote. It is removed first,
// before anything can fail, so that a script never reads the one of an earlier run. Links are
// followed. --ca-file writes the certificate authority, for clients without a kubeconfig.
//
// --output json replaces the announcement by one line of JSON, which is printed when the server and
// the files are ready: url, kubeconfig (the path), ca (PEM, empty without --tls), token, controlURL
// and version. With --until-stdin-ends the command ends when its stdin does. A program that starts
// it with a pipe as stdin does not leave it behind, also if the program is killed.
//
// # A server for one command
//
// exec runs a command with a server, as env and timeout run one, and ends the server with it:
//
//	fakeapi exec --load manifests -- kubectl get pods
//
// The command has the environment variables KUBECONFIG, FAKEAPI_URL, and FAKEAPI_CONTROL, the URL
// of the control API, which needs no credentials there. It has the streams of exec. Signals are
// forwarded to it; those of the terminal's keys it has already. The exit status is that of the
// command, 128 and the number of a signal that ended it, 127 if it is not found, 126 if it cannot
// be executed, and 125 if the server cannot be started. When the command has failed, the timeline
// page is written to the folder FAKEAPI_ARTIFACTS, or else to that for temporary files, and its
// path is printed on stderr.
//
// If exec is killed, so are the command and all processes that it started, and the temporary
// kubeconfig is removed (on Linux; elsewhere only signals that can be caught end the command).
//
// # A test suite under faults
//
// stress runs a command, usually go test, once without faults and once with each of its sets of
// faults, and prints a table of packages and sets:
//
//	fakeapi stress -- go test ./...
//
// The suite needs no code about it: it starts its servers with package envtest, for which stress
// sets KUBEBUILDER_ASSETS, or with fakeapi.Start. The faults are given to these servers by the
// environment variables below. A failure is printed with the end of its output, the command that
// repeats it, and the timeline pages. Failures of the run without faults are listed first; their
// packages count as failed, and not as found by faults.
//
// --list prints the sets with their rules. They have faults that a correct suite survives, although
// tests do not repeat their requests: watches that end or expire, errors that client-go repeats,
// delays, caches that are behind, and conflicts and lost replies of writes that only controllers
// make, such as those of the status of custom resources. Others are run by --only and --all: they
// fail requests of all clients. With --user-agent, the user agent of the controllers under test,
// conflicts and lost-replies include all writes of the controllers.
//
// The rows are packages for go test, whose output is read as JSON and whose results are not taken
// from its cache; their binaries are linked once, except on Windows. Any other command has one row,
// by its exit status. --report json=FILE writes the result with the output of packages that fail.
// When stress ends, also by SIGKILL, so does the command with what it started, as for exec.
//
// # Bugs of a controller
//
// perturb runs a controller and a workload undisturbed, and then again and again with one
// disturbance each, such as a request that fails. Package scenario/perturb describes the
// disturbances and findings. The workload is a scenario, as for run, whose step "run NAME" starts
// the COMMAND after "--". The COMMAND reads the kubeconfig in KUBECONFIG or the address in
// FAKEAPI_URL, and runs until it is killed. Its requests have the user agent NAME. A run takes some
// seconds, so --budget limits their number.
//
// # Environment variables
//
// These apply to the servers of serve and exec, to those of the programs kube-apiserver and etcd of
// envtest-assets, and the first two also to those of fakeapi.Start in Go tests. Package
// internal/cmd/environment documents them.
//
//	FAKEAPI_FAULTS             fault rules, separated by semicolons or lines, or the path of a file;
//	                           they are added to those of flags
//	FAKEAPI_SEED               the value of --seed, if that is not set
//	FAKEAPI_WATCH_CACHE_DELAY  a duration that watches, and reads that may be stale, are behind the store
//	FAKEAPI_ARTIFACTS          the folder of timeline pages, one for each server, written at its end
//	FAKEAPI_ACCESS_REPORT      the file of the report of accesses; existing files are not overwritten,
//	                           but the name gets a number
//	FAKEAPI_CONTROL            HOST:PORT where the control API listens, without credentials, or a file
//	                           to which its URL is appended
//
// # TLS, users and permissions
//
// --tls serves HTTPS with HTTP/2, by a certificate authority that is created for this run. The
// kubeconfig has its certificate. --token implies --tls; requests without one of the tokens, or one
// that was issued for a service account, are answered with 401. A token authenticates system:admin
// unless it has a user and groups. --client-ca accepts client certificates of the authorities in a
// file, beside tokens or without them. Tokens that were issued for service accounts are accepted on
// all servers, but clients send no token of a kubeconfig without --tls.
//
// --authorization-mode=RBAC authorizes requests by the stored Roles, ClusterRoles and bindings. As
// for kube-apiserver, its value is a list of modes, which are asked in this order until one allows
// or denies a request. It implies --tls and client certificates. A request without credentials is
// one of system:anonymous, and the kubeconfig has a certificate of system:admin, who may do
// everything. The control API issues kubeconfigs for other users and for service accounts. It
// requires credentials, but no permissions.
//
// Requests with another Host than this machine, and requests of web pages, are rejected. --host
// adds a name of the server.
//
// # Faults
//
// --faults adds fault rules, as package faults documents them: those in a file, one per line, or
// RULES themselves, as in --faults 'expire410(first(3))'. An invalid one ends the command.
//
// proxy applies such rules in front of a real cluster. It connects with the credentials of the
// kubeconfig, which has no default, and writes another kubeconfig without credentials for the
// client under test. Every client of the proxy has the rights of the kubeconfig, so it listens on
// loopback only and rejects requests with another Host. At the end it prints the latest hits of the
// rules, at most 1024. The proxy does not see the webhooks that the cluster calls: a rule with
// webhook() is an error, and works with serve.
//
// # Control API
//
// serve also serves the control API of package fakeapi below /fakeapi/v1/: fault rules and their
// hits, the requests, snapshots, a dump for --load, compaction, and the controllers. It lists a
// curl command for each. To reset the server between tests, restore a snapshot with a bump of the
// revision, as in .../restore?bump=1000, so that running clients list again; without it they keep
// objects that the restore has removed, as after a restore of etcd.
//
// --cache-initializing makes the server respond to watches and lists with 429 for a time after its
// start, and after a change of a CustomResourceDefinition for its objects, as a real server does
// while a watch cache is initialized.
//
// --latency delays requests and watch events by 1 to 5 ms, as in a cluster, by two fault rules that
// the control API lists and removes.
//
// Controllers run unless --controllers=false; then the control API runs them on request.
//
// # Access
//
// The server records which permissions each user and each user agent needed, also if it allows
// everything. access prints the report of a running server, as text, as JSON, or as yaml: the
// smallest ServiceAccount, roles and bindings that allow the requests. --client selects a client by
// its user name, its service account, or the beginning of its user agent. The kubeconfig is one
// that serve wrote.
//
//	fakeapi access --kubeconfig FILE
//	fakeapi access --kubeconfig FILE --manifests DIRECTORY --client manager
//
// With --manifests, access compares the requests with the RBAC manifests in a directory, such as
// config/rbac, and prints the rules that they lack, each with the request that needed it first, and
// those that were not used. --subject names the user or service account whose roles count, if the
// manifests have several. --and-nothing-more makes rules that were not used a failure.
//
// serve --access-report writes the report to a file at the end, also after a signal. Its extension
// selects the format: .json, .yaml or .yml, or else text. Package fake/access documents this.
//
// --audit-policy-file and --audit-log-path write an audit log, as those of kube-apiserver.
//
// # Options of the server
//
// These flags are options of package fakeapi, which documents them. Where kube-apiserver or etcd
// has a flag for the same, it has its name.
//
// --feature-gates enables and disables AggregatedDiscoveryEndpoint, CBORServingAndStorage and
// WatchList, as in --feature-gates WatchList=false,CBORServingAndStorage=true. CBOR is the only one
// that is off by default; --cbor enables it, too.
//
// --enable-admission-plugins and --disable-admission-plugins change which admission plugins run.
// The default is that of kube-apiserver without ServiceAccount.
//
// The server remembers changes for the time of --etcd-compaction-interval (5m), at most as many as
// --auto-compaction-retention (100000), and no more than fit into --history-bytes (256 MiB). Reads,
// continue tokens and watches from before get 410. For these three, 0 is no limit.
// --continue-token-lifetime lets continue tokens expire earlier. --quota-backend-bytes is the size
// of all objects (2 GiB; a negative number is no limit), and writes above it get 500.
//
// Requests above --max-requests-inflight, --max-mutating-requests-inflight and --max-watches get
// 429. By default there is no limit. The server ends watches without timeoutSeconds after the
// seconds of --min-request-timeout (1800) to twice that, and sends bookmarks to those that request
// them after each --bookmark-interval (1m). A read at a future resourceVersion waits for
// --resource-version-timeout (3s).
//
// There is no cluster network: --webhook-service is the address of an admission or conversion
// webhook whose configuration names a Service, as in --webhook-service shop/hook=127.0.0.1:9443.
// Webhooks are called at loopback addresses only, and others fail as unreachable, unless
// --allow-remote-webhooks is set. Changes of webhook configurations and of admission policies take
// effect at once, or after the times of --admission-delay, such as 100ms,1s.
//
// --service-cluster-ip-range is the range of the cluster IPs of Services (10.96.0.0/12), or two of
// different families, and --service-node-port-range that of their node ports (30000-32767).
//
// --validation=false accepts objects of built-in types that kube-apiserver refuses, such as pods
// without containers.
//
// --seed makes uids and generated names the same in each run. --timeline=false saves the memory of
// the recorded requests, which are limited. From -v 3 on, stderr has a line for each request.
//
// # Scenarios
//
// run runs scenarios, which package scenario documents, each against a server of its own, in memory
// and on virtual time. Its arguments are files, directories with .txtar files in or below them, -
// for stdin, and numbers or names of cases of the catalogue. For each scenario it prints the
// transcript and a line that begins with "ok" or "FAIL", with -q only that line. Failures are
// printed to stderr, with FILE:LINE of the step. A failure does not stop the scenarios after it.
//
// The clients under test are those of package scenario/clients, by role: for a case, the first
// client that passes it, and for a file, the first client of each role that it runs, or those of
// --client. --list prints the cases, the clients that pass each, and all clients. --all runs each
// case with each client of its role and prints which pass. A result that the catalogue does not
// expect is a failure.
//
// With --real-time, time is not virtual: ten minutes take ten minutes, and runs differ. --html
// writes the timeline of each scenario's server to a folder, as a page for a browser. A page is
// replaced when it is complete.
//
// # Clients in any language
//
// serve --scenario runs a scenario in real time on its server, for a client in another process:
//
//	fakeapi serve --scenario case.txtar --kubeconfig /tmp/config &
//	KUBECONFIG=/tmp/config ./controller
//
// A step "run controller" waits for a client whose user agent begins with "controller", and the
// command prints what it waits for. Requests of that client before the step are held until the
// step. The transcript is printed line by line: steps, their results, and each request of such a
// client when it is answered. The last line begins with "ok" or "FAIL"; a failure is printed to
// stderr. Then the command ends, or with --stay serves until it is interrupted.
//
// # Conformance
//
// conformance runs the cases of package conformance against the server of a kubeconfig. That
// package documents what the cases do to a server. --list prints them. --dry-run runs them against
// servers of its own and prints what each creates; it requests only the version of the named
// server. Cases run in namespaces of their own, whose names begin with PREFIX. Each case removes
// what it created, also when it fails.
//
// Most of a run is waiting, so 16 cases run at a time, or --parallel. Those that change the state
// of the whole server, such as a compaction, run alone. The report is the same for any number, in
// the order of the IDs. --run-timeout limits the run, to 30 minutes by default, if the server
// hangs: the running cases fail, and the report has the others as not reached. A server that does
// not answer the first request within 30 seconds is not asked for more; no case is reached then.
//
// Feature gates are detected by requests. --features overrides them, as in --features
// CBORServingAndStorage,WatchList=false; -WatchList also means off. Some states of a server are not
// reachable by requests. Hooks produce them, and without its hook a case is skipped: --compact and
// --expire drop history, by a POST to a URL that is answered with 2xx, or by a shell command that
// exits with 0. --starting is a command that puts the server into its start-up state, prints a
// line, and ends that state when it is interrupted. fakeapi serve has /fakeapi/v1/compact and
// /fakeapi/v1/forget-history for these.
//
// --unprivileged-kubeconfig or --unprivileged-context name a user without rights on the same
// server, for cases about denials. Without them, the cases impersonate such a user.
//
// While it runs, stderr has a line for each group of rules, for each failure, and every ten
// seconds: the number of cases done, in total, failed and skipped, and the elapsed time (with -q,
// none). At the end, stdout has the failures, the cases that were not reached, the leftovers, the
// number of outcomes by group and level, and the --run for the failed cases. --report writes the
// results as junit (for build servers), json (ReportJSON of package conformance), markdown, or html
// (one page that needs no network). Without =FILE it is written to stdout, and the summary to
// stderr. A file is replaced when the report is complete, and keeps its mode; links are followed.
// Devices, FIFOs and descriptors of the process, as in --report json=/dev/fd/3, are written in
// place. Text of the server is escaped: reports have no control characters of it.
//
// A signal ends the run. The running cases are stopped and remove what they created, which takes at
// most a minute, and the reports are written, in which the missing cases are skipped. A second
// signal ends the command at once, without cleaning up.
//
// # Comparing two servers
//
// compare sends the same requests to two servers and prints the differences between their
// responses, by rule: the request, the path of the field or the name of the header, and both
// values. A side is the server of a kubeconfig, or self, a server in this process. The requests are
// those of the conformance cases, which run on both sides at the same time, one after the other.
// Values that differ between any two servers are ignored: uids, resourceVersions, times, generated
// names, continue tokens, addresses, the ID of the run. Package internal/cmd/compare documents what
// is compared. Differences after the first one of a case may be its consequences, and are marked.
// Cases that only one side can run are listed with the reason. Cases that need a compaction run if
// --left-compact and --right-compact name URLs for it (here, /fakeapi/v1/compact); servers in this
// process need none. --list, --dry-run, --run, --level and the other flags are those of
// conformance.
//
//	fakeapi compare --left FILE --right self
//	fakeapi compare --left golden:DIR --right self --controllers=false
//
// The left side may be a folder of recorded exchanges in the format of package internal/cmd/golden,
// as golden:DIR. Their requests are sent to the right side in order, each recording in a namespace
// of its own, and the responses are compared with the recorded ones. --run selects recordings by
// name. For self, each recording has a server of its own. On a server with a kubeconfig, the
// definitions that the recordings need are created, and removed afterwards if they did not exist
// before.
//
// --random sends random requests instead of the cases: --steps of them, about custom resources with
// random schemas, their definitions, ConfigMaps and Deployments, in sequences with watches. It
// prints each class of differences with the smallest sequence of requests that has it. --seed
// repeats a run. --listed is a file of differences that are expected, a YAML list of objects with
// the fields pattern, a regular expression that matches the first line of a difference, and reason.
// Use --controllers=false, because controllers write at random times. Package
// internal/cmd/differential documents the requests, what a run creates, and the differences to a
// real server that are known.
//
// --report writes the result as json or markdown, as for conformance. A signal ends a comparison as
// it ends conformance.
//
// # Benchmarks
//
// bench measures any Kubernetes API server in the same way: create, get, update, patch, apply,
// list, pages, streaming lists, the delay from a write until all watchers have its event, the
// events that watchers get while all clients write, and delete. For each it prints the requests per
// second, the median and the 99th percentile of the latency, and the processor time of the server
// for one request. --json prints the same as JSON. The server is that of a kubeconfig, which has no
// default, or one at a URL without credentials. With --self it is a server in this process, on
// loopback, and its start is measured as well.
//
// bench works in a namespace fakeapi-bench-RANDOM with ConfigMaps of 1 KiB, as many as --objects,
// and removes it at the end, also after a signal. Each kind of request is repeated for --duration,
// by one client and by --clients. --resources adds other resources: configmaps, pods, deployments,
// and custom, a custom resource that bench defines and removes. Each object of these is created,
// read, updated, patched, applied and applied again, once, by four clients, and then lists and
// tables are read.
//
// The server's memory is process_resident_memory_bytes of its /metrics, and the processor time is
// process_cpu_seconds_total, if the user may read them. With --self the memory is the heap of the
// process, including the clients, and the processor time is not known. bench is load: do not run it
// against a cluster in use. Failed requests result in exit status 1.
//
// # envtest and other programs that start kube-apiserver
//
// Started under the names kube-apiserver, etcd and kubectl, the program is these. envtest-assets
// makes a folder with links under these names, by default in the user's cache directory, and prints
// the variable for it. Then suites that use the envtest of controller-runtime, or any program that
// starts a control plane from KUBEBUILDER_ASSETS, run without a change. With -p path it prints the
// path only, as setup-envtest does. Files of other programs are not replaced.
//
//	eval "$(fakeapi envtest-assets)" && go test ./...
//
// etcd keeps the objects in memory and serves them; kube-apiserver parses its flags, opens its port
// and passes both to etcd. An API server that is started again on the same etcd has the objects
// again, at their resourceVersions; an etcd that is started again is empty. Both listen on loopback
// addresses only. They end at SIGTERM and SIGINT, and with the process that started them, also if
// that is killed. kube-apiserver has all flags of the real one; its log lists those without effect.
// kubectl is the next one on PATH. The environment variables FAKEAPI_* of package
// internal/cmd/environment add fault rules and write timelines and reports. The processes need a
// Unix system.
//
// # Exit status
//
// 0 after a signal and after help, 1 for an error, which is printed on one line of stderr, 2 for an
// invalid command line. A failed or interrupted scenario is 1.
//
// For conformance, 0 means that no MUST failed and nothing was left behind; a failed SHOULD or MAY
// is only reported, in junit as a failure, which some build servers count (--level MUST leaves it
// out). 1 means that a MUST failed, that cleaning up failed, or that the run did not start or did
// not complete in time.
//
// For access with --manifests, 0 means that no rule is missing, 1 that one is, or with
// --and-nothing-more that one was not used. 2 means that they could not be compared.
//
// For exec, see there. For stress, 1 means that a package failed, for perturb unknown findings.
//
// For compare, 0 means that the two sides are the same, 1 that there are differences, or cases that
// only one side could run. 2 means that they could not be compared, that the comparison did not
// complete, or that cleaning up failed.
package main
