package golden

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// configurationPath matches the path of the collections of webhook configurations and policies.
var configurationPath = regexp.MustCompile(`^/apis/admissionregistration\.k8s\.io/[a-z0-9]+/[a-z]+`)

// collectionPath matches the path of a collection in the namespace of the case.
var collectionPath = regexp.MustCompile(`^/.*/namespaces/\$ns/[a-z]+`)

// cleanupTimeout limits the clean-up of a case, and a create that is not interrupted.
const cleanupTimeout = 30 * time.Second

// uninterrupted returns a context for a create that is not canceled after it has begun: the
// clean-up could not know whether the server carries it out.
func uninterrupted(ctx context.Context) (context.Context, context.CancelFunc) {
	if ctx.Err() != nil {
		return ctx, func() {}
	}
	return context.WithTimeout(context.WithoutCancel(ctx), cleanupTimeout)
}

// cleanUp deletes the objects and the namespace of a case, and records what it could not delete.
func (r *replay) cleanUp(ctx context.Context, c Case) {
	ctx, cancel := context.WithTimeout(ctx, cleanupTimeout)
	defer cancel()
	r.removeConfigurations(ctx, c) // they could refuse to delete the rest
	known := map[string]bool{}
	for _, s := range c.Steps {
		path := collectionPath.FindString(s.Request.Path)
		if path != "" && !known[path] && !strings.Contains(path, "/watch/") { // a watch path would be a stream
			known[path] = true
			r.empty(ctx, path)
		}
	}
	r.remove(ctx, "/api/v1/namespaces/$ns")
}

// removeConfigurations deletes the webhook configurations and policies that a case has created.
func (r *replay) removeConfigurations(ctx context.Context, c Case) {
	for _, s := range c.Steps {
		path := configurationPath.FindString(s.Request.Path)
		var sent struct{ Metadata struct{ Name string } }
		if path == "" || s.Request.Method != http.MethodPost || json.Unmarshal(s.Request.Body, &sent) != nil || sent.Metadata.Name == "" {
			continue
		}
		r.remove(ctx, path+"/"+sent.Metadata.Name)
	}
}

// empty deletes a collection, and removes the finalizers of the objects that remain.
func (r *replay) empty(ctx context.Context, path string) {
	if !r.remove(ctx, path) {
		return
	}
	left, err := r.sendManifest(ctx, http.MethodGet, path, "", http.StatusOK)
	if err != nil {
		return // the collection cannot be listed
	}
	var list metav1.PartialObjectMetadataList
	if err := json.Unmarshal([]byte(left.body), &list); err != nil {
		r.result.Leftovers = append(r.result.Leftovers, fmt.Sprintf("GET %s: %v", path, err))
		return
	}
	for _, item := range list.Items {
		if len(item.Finalizers) > 0 {
			r.release(ctx, path+"/"+item.Name)
		}
		r.remove(ctx, path+"/"+item.Name+"?gracePeriodSeconds=0")
	}
}

// release removes the finalizers of an object.
func (r *replay) release(ctx context.Context, path string) {
	response, err := r.send(ctx, Request{
		Method: http.MethodPatch, Path: path, Headers: map[string]string{"Content-Type": "application/merge-patch+json"},
		BodyText: `{"metadata":{"finalizers":null}}`,
	})
	if err == nil {
		_ = response.Body.Close() // the deletion reports errors
	}
}

// remove deletes the object at a path, if the server has it.
func (r *replay) remove(ctx context.Context, path string) bool {
	_, err := r.sendManifest(ctx, http.MethodDelete, path, "", http.StatusOK, http.StatusAccepted, http.StatusConflict, http.StatusNotFound, http.StatusMethodNotAllowed)
	if err != nil {
		r.result.Leftovers = append(r.result.Leftovers, err.Error())
	}
	return err == nil
}
