package handlers

import (
	"context"
	"errors"
	"time"

	"example.com/fakeapi/fake/internal/codec"
	"example.com/fakeapi/fake/internal/status"
	"example.com/fakeapi/memstore"
)

// conversionRetryInterval is how long a watch waits before it tries again to convert an event. A real
// server tries many times a second at first, and then every few seconds.
const conversionRetryInterval = time.Second

// errWatchEnded says that the watch ended while a conversion was waited for: a clean end.
var errWatchEnded = errors.New("the watch has ended")

// isConversionError reports whether an error is that an object cannot be converted.
func isConversionError(err error) bool {
	var one *codec.ConversionError
	return errors.As(err, &one)
}

// matches is the selector's matches, which may have to convert.
func (s *stream) matches(rec *memstore.Record) (bool, error) {
	if rec != nil && s.sel.fields != nil && !codec.HasIndexedFields(s.res, rec) {
		if err := s.convert(rec); err != nil {
			return false, err
		}
	}
	return s.sel.matches(rec)
}

// convert has the webhook asked for a record, if that must be. The call goes on when the watch
// ends: what comes of it is for those who ask next.
func (s *stream) convert(rec *memstore.Record) error { return s.convertWithin(s.ctx, rec) }

func (s *stream) convertWithin(ctx context.Context, rec *memstore.Record) error {
	if !codec.NeedsWebhook(s.res, rec) || codec.IsConversionCached(s.res, rec) {
		return nil
	}
	converted := make(chan error, 1)
	go func() {
		_, err := codec.ConvertedJSON(s.res, rec)
		converted <- err
	}()
	select {
	case err := <-converted:
		return err
	case <-ctx.Done():
		return errWatchEnded
	}
}

// waitUntilConvertible waits until all that a stream begins with can be converted, as long as for a
// revision from the future: the watch cache of the version is as old as the last object
// before the first that cannot.
func (s *stream) waitUntilConvertible(view memstore.View) error {
	if s.res.Custom == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(s.ctx, s.api.settings.ResourceVersionTimeout)
	defer cancel()
	for {
		failed, err := s.firstUnconvertible(ctx, view)
		if err == nil || !isConversionError(err) && !errors.Is(err, errWatchEnded) {
			return err
		}
		select {
		case <-ctx.Done():
		case <-time.After(conversionRetryInterval):
			continue
		}
		if s.ctx.Err() != nil {
			return errWatchEnded
		}
		return status.TooLargeResourceVersion(uint64(view.Revision()), uint64(failed.Revision-1))
	}
}

// firstUnconvertible is a record that the stream begins with and that cannot be converted.
func (s *stream) firstUnconvertible(ctx context.Context, view memstore.View) (*memstore.Record, error) {
	for rec := range view.Range(s.prefix, "") {
		if err := s.convertWithin(ctx, rec); err != nil {
			return rec, err
		}
	}
	return nil, nil
}
