package handlers

import (
	"errors"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"example.com/fakeapi/fake/internal/codec"
	"example.com/fakeapi/fake/internal/resource"
	"example.com/fakeapi/fake/internal/status"
	"example.com/fakeapi/memstore"
)

// This file is about what comes of conversions that fail; package conversion has the table.

// statusFromConversionError is the answer to an error: one that comes of an object, or of objects, that cannot
// be converted from their stored version gets the words of a real server's storage.
func statusFromConversionError(err error) error {
	var api apierrors.APIStatus
	if errors.As(err, &api) {
		return err
	}
	var list codec.ConversionErrors
	if errors.As(err, &list) {
		items := make([]status.UnreadableItem, len(list))
		for i, one := range list {
			items[i] = status.UnreadableItem{Path: "/registry" + one.Path(), Err: one}
		}
		return status.StorageReadError(list[0].Resource, items, list.IsTruncated())
	}
	var one *codec.ConversionError
	if errors.As(err, &one) {
		return status.CorruptObject(one.Path(), one)
	}
	return err
}

// unwrapConversionError is the error of a write that is done, and that cannot be shown: 500 without a
// reason.
func unwrapConversionError(err error) error {
	var one *codec.ConversionError
	if errors.As(err, &one) {
		return errors.New(one.Error())
	}
	return err
}

// replyFresh answers a get of the most recent state. What has to be converted by a webhook is
// converted again, as by a real server, whose storage remembers nothing.
func (q *request) replyFresh(rec *memstore.Record) error {
	if !codec.NeedsWebhook(q.res, rec) {
		return q.replyRecord(http.StatusOK, rec)
	}
	obj, err := codec.ConvertUncached(q.res, rec)
	if err != nil {
		return err
	}
	return q.replyObject(http.StatusOK, obj)
}

// reconvert asks the webhook for an object that is about to be deleted: that, too, is not done
// with what was converted before.
func (a *API) reconvert(res *resource.Resource, key string) error {
	rec := a.store.View().Get(key)
	if !codec.NeedsWebhook(res, rec) {
		return nil
	}
	_, err := codec.ConvertUncached(res, rec)
	return err
}
