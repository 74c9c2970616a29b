package conformance

import (
	"context"
	"fmt"
	"net/http"
	"slices"
)

func checkReviewOptions(ctx context.Context, w *webhooks, c collection) error {
	if err := w.validating(ctx, w.webhook("a")); err != nil {
		return err
	}
	options := func(kind string, fields object) object {
		return fields.with("apiVersion", "meta.k8s.io/v1").with("kind", kind)
	}
	deletion := del(c.item("a"))
	deletion.body = object{"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": "Background"}
	for _, one := range []struct {
		send call
		want object
	}{
		{post(c.path(), c.object("a")).withQuery("fieldManager=m&fieldValidation=Strict"), options("CreateOptions", object{"fieldManager": "m", "fieldValidation": "Strict"})},
		{put(c.item("a"), c.object("a")).withQuery("fieldManager=m&fieldValidation=Warn"), options("UpdateOptions", object{"fieldManager": "m", "fieldValidation": "Warn"})},
		{mergePatch(c.item("a"), object{}).withQuery("fieldManager=m"), options("UpdateOptions", object{"fieldManager": "m"})},
		{applyAs("m", c.item("a"), c.object("a")).withQuery("force=true"), options("UpdateOptions", object{"fieldManager": "m"})},
		{applyAs("m", c.item("b"), c.object("b")), options("CreateOptions", object{"fieldManager": "m"})},
		{del(c.item("b")).withQuery("dryRun=All&gracePeriodSeconds=0"), options("DeleteOptions", object{"dryRun": []string{"All"}, "gracePeriodSeconds": 0})},
		{deletion, options("DeleteOptions", object{"propagationPolicy": "Background"})},
	} {
		if one.send.method == http.MethodPut { // custom resources need a resourceVersion
			o, err := w.s.doObject(ctx, get(c.item("a")), code(200))
			if err != nil {
				return err
			}
			one.send.body = c.object("a").withMeta("resourceVersion", o.ResourceVersion)
		}
		if _, err := w.write(ctx, one.send, code(200, 201)); err != nil {
			return err
		}
		if err := w.expectReview("a", valueAt(one.want, "request", "options")); err != nil {
			return err
		}
	}
	return nil
}

func checkReviewOfCollection(ctx context.Context, w *webhooks, c collection) error {
	for _, name := range []string{"a", "b", "c"} {
		if _, err := w.write(ctx, post(c.path(), c.object(name).withLabel("gone", fmt.Sprint(name != "c"))), code(201)); err != nil {
			return err
		}
	}
	if err := w.validating(ctx, w.webhook("a")); err != nil {
		return err
	}
	if err := w.s.expect(ctx, del(c.path()).withQuery("labelSelector=gone%3Dtrue"), code(200)); err != nil {
		return err
	}
	calls, err := w.calls("a", "a")
	if err != nil {
		return err
	}
	var names []string
	for _, one := range calls {
		if err := one.expect(field("DELETE", "request", "operation"), valueAt(nil, "request", "object"), noField("request", "name")); err != nil {
			return err
		}
		name, err := one.valueAt("request", "oldObject", "metadata", "name")
		if err != nil {
			return err
		}
		names = append(names, fmt.Sprint(name))
	}
	if slices.Sort(names); !slices.Equal(names, []string{"a", "b"}) {
		return fmt.Errorf("expected reviews about the objects a and b, got %v", names)
	}
	return nil
}

func checkReviewOfFinalizers(ctx context.Context, w *webhooks, c collection) error {
	if err := w.validating(ctx, w.webhook("a")); err != nil {
		return err
	}
	operation := func(name string, expect ...expectation) error {
		return w.expectReview("a", append(expect, field(name, "request", "operation"))...)
	}
	if _, err := w.write(ctx, post(c.path(), c.object("a").withFinalizer()), code(201)); err != nil {
		return err
	}
	if err := operation("CREATE"); err != nil {
		return err
	}
	for _, terminating := range []bool{false, true} {
		deleted, err := w.s.doObject(ctx, del(c.item("a")), code(200))
		if err != nil {
			return err
		}
		if err := w.s.expect(ctx, get(c.item("a")+"?resourceVersion="+deleted.ResourceVersion), code(200)); err != nil {
			return err
		}
		expect := noField("request", "oldObject", "metadata", "deletionTimestamp")
		if terminating {
			expect = hasField("request", "oldObject", "metadata", "deletionTimestamp")
		}
		if err := operation("DELETE", expect); err != nil {
			return err
		}
	}
	remove := mergePatch(c.item("a"), object{"metadata": object{"finalizers": nil}})
	if err := w.s.expect(ctx, remove, code(200)); err != nil {
		return err
	}
	if err := operation("UPDATE", noField("request", "object", "metadata", "finalizers"), hasField("request", "oldObject", "metadata", "finalizers")); err != nil {
		return err
	}
	return w.s.expect(ctx, get(c.item("a")), code(404))
}
