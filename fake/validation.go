package fakeapi

// WithoutValidation starts a server that does not validate objects of built-in types, so that it
// accepts all that decodes, for instance a Pod without containers. It is for tests that were
// written for the clients of client-go's fake packages and have incomplete objects. Such objects
// are refused by a kube-apiserver, and tests that rely on them may pass where production fails.
//
// Names, labels and other metadata are validated, and so are custom resources and their
// definitions. Admission plugins and defaults are as usual.
func WithoutValidation() Option {
	return func(o *options) error {
		o.validation = false
		return nil
	}
}
