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

// collectionPath finds a collection in the namespace of the case.
var collectionPath = regexp.MustCompile(`^/.*/namespaces/\$ns/[a-z]+`)

// cleanupTimeout bounds the clean-up of a case.
const cleanupTimeout = 30 * time.Second

// cleanUp removes what the case left behind, and takes down what it could not.
func (r *replay) cleanUp(ctx context.Context, c Case) {
	ctx, cancel := context.WithTimeout(ctx, cleanupTimeout)
	defer cancel()
	known := map[string]bool{}
	for _, s := range c.Steps {
		path := collectionPath.FindString(s.Request.Path)
		if path != "" && !known[path] && !strings.Contains(path, "/watch/") { // which would be a stream
			known[path] = true
			r.empty(ctx, path)
		}
	}
	r.remove(ctx, "/api/v1/namespaces/$ns")
}

// empty deletes a collection, and takes off the finalizers of what stays.
func (r *replay) empty(ctx context.Context, path string) {
	if !r.remove(ctx, path) {
		return
	}
	left, err := r.sendManifest(ctx, http.MethodGet, path, "", http.StatusOK)
	if err != nil {
		return // there is no such collection to read
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

// release takes the finalizers off an object.
func (r *replay) release(ctx context.Context, path string) {
	response, err := r.send(ctx, Request{
		Method: http.MethodPatch, Path: path, Headers: map[string]string{"Content-Type": "application/merge-patch+json"},
		BodyText: `{"metadata":{"finalizers":null}}`,
	})
	if err == nil {
		_ = response.Body.Close() // what is wrong with it the deletion will say
	}
}

// remove deletes what is at a path, if the server has such a thing.
func (r *replay) remove(ctx context.Context, path string) bool {
	_, err := r.sendManifest(ctx, http.MethodDelete, path, "", http.StatusOK, http.StatusAccepted, http.StatusConflict, http.StatusNotFound, http.StatusMethodNotAllowed)
	if err != nil {
		r.result.Leftovers = append(r.result.Leftovers, err.Error())
	}
	return err == nil
}
