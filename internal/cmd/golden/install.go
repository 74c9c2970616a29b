package golden

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/yaml"

	"example.com/fakeapi/internal/cmd/httpdiff"
)

const crdPath = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

// crd has the fields of a CustomResourceDefinition that Install needs.
type crd struct {
	Metadata struct{ Name string }
	Spec     struct {
		Group    string
		Names    struct{ Plural string }
		Versions []struct{ Name string }
	}
}

// Install creates the CustomResourceDefinitions of a manifest and waits until they are served,
// including their OpenAPI documents. Definitions that the server already has are not changed.
// remove deletes the created ones; it is never nil.
func (p Player) Install(ctx context.Context, manifest []byte) (remove func(context.Context) error, err error) {
	r := &replay{player: p, placeholders: httpdiff.NewPlaceholders("", false), client: p.client()}
	var created []string
	remove = func(ctx context.Context) error {
		var all []error
		for _, path := range created {
			_, err := r.sendManifest(ctx, http.MethodDelete, path, "", http.StatusOK, http.StatusNotFound)
			all = append(all, err)
		}
		return errors.Join(all...)
	}
	documents := yaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(manifest)))
	for {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return remove, nil
		}
		if err != nil {
			return remove, err
		}
		var d crd
		if err := yaml.Unmarshal(document, &d); err != nil {
			return remove, err
		}
		answer, err := r.createDefinition(ctx, string(document))
		if err != nil {
			return remove, err
		}
		if answer.code == http.StatusCreated {
			created = append(created, crdPath+"/"+d.Metadata.Name)
		}
		if err := r.awaitServed(ctx, d); err != nil {
			return remove, err
		}
	}
}

// createDefinition creates a CustomResourceDefinition, unless the server has it.
func (r *replay) createDefinition(ctx context.Context, document string) (installResponse, error) {
	ctx, cancel := uninterrupted(ctx)
	defer cancel()
	return r.sendManifest(ctx, http.MethodPost, crdPath, document, http.StatusCreated, http.StatusConflict)
}

// installResponse is a response to a request of Install.
type installResponse struct {
	code int
	body string
}

// sendManifest sends a request that belongs to no case. It returns an error if the status code is
// not one of codes.
func (r *replay) sendManifest(ctx context.Context, method, path, manifest string, codes ...int) (installResponse, error) {
	response, err := r.send(ctx, Request{Method: method, Path: path, Headers: map[string]string{"Content-Type": "application/yaml"}, BodyText: manifest})
	if err != nil {
		return installResponse{}, fmt.Errorf("%s %s: %w", method, path, err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := httpdiff.ReadBody(response)
	if err != nil {
		return installResponse{}, fmt.Errorf("%s %s: %w", method, path, err)
	}
	for _, code := range codes {
		if response.StatusCode == code {
			return installResponse{code, string(body)}, nil
		}
	}
	return installResponse{}, fmt.Errorf("%s %s: %s: %.300s", method, path, response.Status, body)
}

// awaitServed waits until discovery and OpenAPI include the definition.
func (r *replay) awaitServed(ctx context.Context, d crd) error {
	ctx, cancel := context.WithTimeoutCause(ctx, 30*time.Second, fmt.Errorf("%s is not served after 30 seconds", d.Metadata.Name))
	defer cancel()
	for _, version := range d.Spec.Versions {
		group := "apis/" + d.Spec.Group + "/" + version.Name
		for {
			_, err := r.sendManifest(ctx, http.MethodGet, "/"+group+"/"+d.Spec.Names.Plural, "", http.StatusOK)
			if err == nil {
				index, err := r.sendManifest(ctx, http.MethodGet, "/openapi/v3", "", http.StatusOK, http.StatusNotFound)
				if err == nil && (index.code == http.StatusNotFound || strings.Contains(index.body, `"`+group+`"`)) {
					break
				}
			}
			if pause(ctx, 100) != nil {
				return context.Cause(ctx)
			}
		}
	}
	return nil
}
