package controlplane

// Path is the path at the client URLs of etcd with its Address.
const Path = "/fakeapi/controlplane"

// Protocol is the version of the messages. Processes of different versions do not connect.
const Protocol = 1

// Address is the document at Path: where an etcd process accepts connections.
type Address struct {
	Protocol int    `json:"protocol"`
	Socket   string `json:"socket"`
	// Version is the version of etcd.
	Version string `json:"version"`
}

// Method is what a Request asks for.
type Method string

// The methods of a connection. The first request is Serve or AwaitEnded.
const (
	// Serve starts an API server at the listener that is passed. The Response follows its start, and
	// another one its end.
	Serve Method = "serve"
	// Shutdown ends the API server gracefully.
	Shutdown Method = "shutdown"
	// AwaitEnded returns when the API servers of processes that have ended are closed, so that their
	// ports are free.
	AwaitEnded Method = "await-ended"
)

// ServeFiles is the number of files that Serve requires: the listener, stdout and stderr.
const ServeFiles = 3

// Request is a message to the etcd process.
type Request struct {
	Method Method `json:"method"`
	// Arguments are the arguments of kube-apiserver without its name, Directory is its working
	// directory, to which paths in flags are relative, and Environment its variables FAKEAPI_*.
	Arguments   []string          `json:"arguments,omitempty"`
	Directory   string            `json:"directory,omitempty"`
	Environment map[string]string `json:"environment,omitempty"`
}

// Response is a message from the etcd process.
type Response struct {
	// Error is why the API server did not start or shut down, or "".
	Error string `json:"error,omitempty"`
	// Notes are lines for the log.
	Notes []string `json:"notes,omitempty"`
}
