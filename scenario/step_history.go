package scenario

import "context"

// Compact compacts the history, as etcd does. Reads at an exact past resourceVersion and continue
// tokens are answered 410 Expired from then on.
func Compact() Step { return compact{} }

type compact struct{}

func (kinds) Compact() stepKind {
	return stepKind{"compact", parseBare(Compact())}
}

func (compact) String() string { return "compact" }

func (compact) Run(_ context.Context, e *Env) error {
	e.Server().Compact()
	return nil
}

// Expire forgets all history. A watch from a past resourceVersion is answered 410 Expired, too.
func Expire() Step { return expire{} }

type expire struct{}

func (kinds) Expire() stepKind {
	return stepKind{"expire", parseBare(Expire())}
}

func (expire) String() string { return "expire" }

func (expire) Run(_ context.Context, e *Env) error {
	e.Server().ForgetHistory()
	return nil
}
