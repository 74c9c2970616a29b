package scenario

import "context"

// Compact forgets what a compaction of etcd forgets: reads at an exact past
// resourceVersion and continue tokens answer 410 Expired from now on.
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

// Expire forgets all history: a watch that starts from a past resourceVersion is
// answered 410 Expired, too.
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
