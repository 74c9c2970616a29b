package handlers

import (
	"context"
	"errors"
	"time"

	"example.com/fakeapi/fake/internal/codec"
	"example.com/fakeapi/fake/internal/status"
	"example.com/fakeapi/memstore"
)

// conversionRetryInterval is how long a watch waits until it tries again to convert an event. A
// real server tries many times per second at first, and then every few seconds.
const conversionRetryInterval = time.Second

// errWatchEnded is the error of a watch that ends during a conversion. The client does not see it.
var errWatchEnded = errors.New("the watch has ended")

// isConversionError reports whether err is that of an object that cannot be converted.
func isConversionError(err error) bool {
	var one *codec.ConversionError
	return errors.As(err, &one)
}

// matches reports whether rec matches the selector. It converts rec if the labels or the fields
// need it.
func (s *stream) matches(rec *memstore.Record) (bool, error) {
	if rec != nil && (s.sel.labels != nil || s.sel.fields != nil && !codec.HasIndexedFields(s.res, rec)) {
		if err := s.convert(rec); err != nil {
			return false, err
		}
	}
	return s.sel.matches(rec)
}

// convert calls the conversion webhook for rec, if it needs to be. The call continues after the
// watch ends, so that its result is cached.
func (s *stream) convert(rec *memstore.Record) error { return s.convertWithin(s.ctx, rec) }

func (s *stream) convertWithin(ctx context.Context, rec *memstore.Record) error {
	if !codec.ConversionMayFail(s.res, rec) || codec.IsConversionCached(s.res, rec) {
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

// waitUntilConvertible waits until the initial objects of a stream can be converted, at most as
// long as for a resourceVersion. The watch cache of a real server does not become newer than the
// last object before the first one that cannot be converted.
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

// firstUnconvertible returns the first of the initial records that cannot be converted, and the
// error.
func (s *stream) firstUnconvertible(ctx context.Context, view memstore.View) (*memstore.Record, error) {
	for rec := range view.Range(s.prefix, "") {
		if err := s.convertWithin(ctx, rec); err != nil {
			return rec, err
		}
	}
	return nil, nil
}
