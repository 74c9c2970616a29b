package scenario

import (
	"context"
	"fmt"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Watch opens a watch. Its events are in the transcript and can be expected under its name. It
// requests bookmarks, starts with the existing objects as ADDED events, and ends after an hour. Its
// user agent is "scenario/NAME".
func Watch(name string, of Collection) Step { return watchStep{name, of, ""} }

// WatchFrom is [Watch] from a resourceVersion, without the objects that existed before.
func WatchFrom(name string, of Collection, revision string) Step {
	return watchStep{name, of, revision}
}

type watchStep struct {
	name string
	of   Collection
	from string
}

func (kinds) Watch() stepKind {
	return stepKind{"watch NAME KIND [-n NAMESPACE | -A] [--selector SELECTOR] [--from REVISION]", parseWatch}
}

func parseWatch(a *args) (Step, error) {
	words, given, err := a.wordsAndFlags(append([]string{"--from="}, collectionFlags...)...)
	if err != nil {
		return nil, err
	}
	all, err := unquoteWords(words, 2, 2)
	if err != nil {
		return nil, err
	}
	if all[0] == "" {
		return nil, fmt.Errorf(`expected a name for the watch, found ""`)
	}
	of, err := newCollection(all[1], given)
	if err != nil {
		return nil, err
	}
	if from := given["--from"]; from != "" {
		if _, err := strconv.ParseUint(from, 10, 64); err != nil {
			return nil, fmt.Errorf("expected a resourceVersion after --from, found %q", from)
		}
	}
	return watchStep{all[0], of, given["--from"]}, nil
}

func (s watchStep) String() string {
	from := ""
	if s.from != "" {
		from = "--from " + quote(s.from)
	}
	return joinWords("watch", quote(s.name), s.of.String(), from)
}

// watchTimeoutSeconds is the timeout of watches. Without one the server would choose a random time.
const watchTimeoutSeconds int64 = 3600

func (s watchStep) Run(ctx context.Context, e *Env) error {
	if _, ok := e.streams.find(s.name); ok {
		return fmt.Errorf("there is a watch %q already", s.name)
	}
	client, err := e.dynamicClient(stepUserAgent + "/" + s.name)
	if err != nil {
		return err
	}
	resource, err := e.collection(client, s.of)
	if err != nil {
		return err
	}
	// The timeout is for the response header; the stream may last longer.
	ctx, cancel := context.WithCancelCause(ctx)
	timer := time.AfterFunc(requestTimeout, func() { cancel(errNoResponse) })
	seconds := watchTimeoutSeconds
	source, err := resource.Watch(ctx, metav1.ListOptions{
		LabelSelector:       s.of.Selector,
		ResourceVersion:     s.from,
		AllowWatchBookmarks: true,
		TimeoutSeconds:      &seconds,
	})
	timer.Stop()
	if err != nil {
		defer cancel(nil)
		return requestError(ctx, err)
	}
	e.streams.start(s.name, s.of, source, func() {
		source.Stop()
		cancel(nil)
	})
	return nil
}
