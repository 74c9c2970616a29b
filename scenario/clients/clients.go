package clients

import "example.com/fakeapi/scenario"

// Implementation is a client in a role.
type Implementation struct {
	// Name is unique within the role.
	Name, Role string
	// Doc describes in a sentence how the client works.
	Doc    string
	Client scenario.Client
}

// All returns the clients of this package, sorted by role.
func All() []Implementation {
	return []Implementation{
		{"informer", "mirror", "client-go's shared informer with its defaults, which include streaming lists.", informer},
		{"informer-list", "mirror", "client-go's shared informer with LIST and WATCH instead of streaming lists.", informerList},
		{"retrywatcher", "mirror", "A list, and client-go's RetryWatcher from its resourceVersion; again when that ends.", retryWatcher},
		{"poller", "mirror", "A list with client-go's pager every 30 seconds, and no watch.", poller},
		{"naive", "mirror", "A list, and watches from the last resourceVersion seen; it ignores ERROR events.", naive},
		{"watch-only", "mirror", "Watches without a list, from the last resourceVersion seen, or from the current state after 410.", watchOnly},
		{"informer", "custom-mirror", "client-go's shared informer of a custom resource, with LIST and WATCH.", customInformer},
		{"retrywatcher", "custom-mirror", "A list, and client-go's RetryWatcher from its resourceVersion; again when that ends.", customRetryWatcher},
		{"naive", "custom-mirror", "A list, and watches from the last resourceVersion seen; it ignores ERROR events.", customNaive},
		{"pager", "lister", "client-go's pager with two objects per page; it restarts the list after an error.", pagingLister},
		{"by-hand", "lister", "A loop that follows the continue token while pages are full, and returns errors.", manualLister},
		{"offered-token", "lister", "A loop that continues with the token in a 410 response, and restarts the list after other errors.", resumingLister},
		{"leaderelection", "elector", "client-go's leader election on a Lease; it campaigns again when it has lost.", elector},
		{"by-clock", "elector", "A hand-written loop that compares renewTime with its clock, and keeps its state after an error.", clockElector},
		{"careful", "creator", "It creates again after an error, and treats AlreadyExists as success.", carefulCreator},
		{"careless", "creator", "It creates again after an error, and treats AlreadyExists as an error.", carelessCreator},
		{"thorough", "creator", "It accepts an existing object only if it has its own mark and is not being deleted.", thoroughCreator},
		{"careful", "counter", "It sets a mark in the object when it counts, and checks it after an error.", carefulCounter},
		{"careless", "counter", "It reads and counts again after an error.", carelessCounter},
		{"retry-on-conflict", "counter", "client-go's RetryOnConflict with its default back-off; it returns other errors.", conflictCounter},
		{"blind", "counter", "A merge patch with the sum, without a resourceVersion.", blindCounter},
		{"careful", "singleton-creator", "It looks for the object in a current list before each attempt.", carefulSingletonCreator},
		{"careless", "singleton-creator", "It lists once, and creates again after an error.", carelessSingletonCreator},
		{"cached", "singleton-creator", "It lists at resourceVersion 0 before each attempt.", cachedSingletonCreator},
		{"careful", "remover", "It sends the uid as a precondition, and treats NotFound and Conflict as success.", carefulRemover},
		{"by-name", "remover", "It deletes by name, retries after an error, and treats NotFound as success.", removerByName},
		{"careless", "remover", "It deletes by name, and treats every response except success as an error.", carelessRemover},
		{"informers", "inventory", "An informer for each kind; it waits for all of them before it writes.", inventory},
		{"careless", "inventory", "It lists both kinds every ten seconds, and treats an error as an empty list.", carelessInventory},
		{"patcher", "status-writer", "An informer and a queue with a back-off; it patches the status.", statusPatcher},
		{"updater", "status-writer", "An informer and a queue with a back-off; it updates the status.", statusUpdater},
		{"careless", "status-writer", "An informer and a queue; it patches the status and ignores errors.", carelessStatusPatcher},
		{"careful", "deletion-handler", "An informer with a selector; it gets an object that was removed from the cache.", carefulDeletionHandler},
		{"careless", "deletion-handler", "An informer with a selector; it trusts DELETED events and ignores tombstones.", carelessDeletionHandler},
	}
}
