package clients

import "example.com/fakeapi/scenario"

// Implementation is a client in a role.
type Implementation struct {
	// Name is unique in the role.
	Name, Role string
	// Doc says in a sentence how it does its work.
	Doc    string
	Client scenario.Client
}

// All are the clients of this package, by role.
func All() []Implementation {
	return []Implementation{
		{"informer", "mirror", "client-go's shared informer as it comes, with streaming lists.", informer},
		{"informer-list", "mirror", "The same with LIST and WATCH, as it was before streaming lists.", informerList},
		{"retrywatcher", "mirror", "A list, then client-go's RetryWatcher from its revision; when that ends, again.", retryWatcher},
		{"poller", "mirror", "A list with client-go's pager every 30 seconds, and no watch.", poller},
		{"naive", "mirror", "A list, then watches, each from the last revision seen; what ERROR events say is ignored.", naive},
		{"watch-only", "mirror", "Watches without a list, each from the last revision seen, and afresh after 410.", watchOnly},
		{"pager", "lister", "client-go's pager, two objects a page; the whole list again after an error.", pagingLister},
		{"by-hand", "lister", "A loop that follows the continue token while pages are full, and gives up at an error.", manualLister},
		{"offered-token", "lister", "A loop that goes on with the token that a 410 offers, and begins again after other errors.", resumingLister},
		{"leaderelection", "elector", "client-go's leader election on a Lease; it campaigns again when it has lost.", elector},
		{"by-clock", "elector", "By hand: it compares renewTime with its clock, and keeps its opinion when there is an error.", clockElector},
		{"careful", "creator", "After an error it creates again; that the object exists then means that it was done.", carefulCreator},
		{"careless", "creator", "After an error it creates again, and takes every answer but success for an error.", carelessCreator},
		{"thorough", "creator", "An object that exists must bear its mark, and not be on its way out.", thoroughCreator},
		{"careful", "counter", "It writes down in the object that it has counted, and looks there after an error.", carefulCounter},
		{"careless", "counter", "After an error it reads and counts again.", carelessCounter},
		{"retry-on-conflict", "counter", "client-go's RetryOnConflict with its default back-off; other errors are returned.", conflictCounter},
		{"blind", "counter", "A merge patch with the sum, and no revision.", blindCounter},
		{"careful", "singleton-creator", "It looks for the child in a current list before each attempt.", carefulSingletonCreator},
		{"careless", "singleton-creator", "It looks once; after an error it creates again.", carelessSingletonCreator},
		{"cached", "singleton-creator", "It looks before each attempt, at resourceVersion 0.", cachedSingletonCreator},
		{"careful", "remover", "It names the uid, and takes NotFound and Conflict to mean that it was done.", carefulRemover},
		{"by-name", "remover", "It deletes by name, after an error again; that nothing is there is fine.", removerByName},
		{"careless", "remover", "It deletes by name, and takes every answer but success for an error.", carelessRemover},
		{"careful", "deletion-handler", "An informer with a selector; what it has lost sight of is asked for.", carefulDeletionHandler},
		{"careless", "deletion-handler", "The same, which believes in DELETED events and knows nothing else.", carelessDeletionHandler},
	}
}
