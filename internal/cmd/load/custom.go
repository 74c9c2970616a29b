package load

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// customResource is the name of the custom resource in Config.Resources, and gauges its plural
// name.
const (
	customResource = "custom"
	gauges         = "gauges"
)

// definitionsPath is the path of CustomResourceDefinitions.
const definitionsPath = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

// group returns the API group of the custom resource, which no other run has.
func (s *session) group() string { return s.report.Namespace + ".example.com" }

// newGauge returns a custom resource with a list of ten objects.
func newGauge(group, name string, change int) []byte {
	var items []string
	for k := range 10 {
		items = append(items, fmt.Sprintf(`{"name":"n%d","value":"a value of some length, %d %d"}`, k, k, change))
	}
	return fmt.Appendf(nil, `{"apiVersion":"%s/v1","kind":"Gauge","metadata":{"name":%q},"spec":{"size":%d,"mode":"a","items":[%s]}}`,
		group, name, change, strings.Join(items, ","))
}

// definition returns the definition of the custom resource. It has a schema with a default, an
// enum, a list with keys, a rule, and a status of any content.
func (s *session) definition() []byte {
	return fmt.Appendf(nil, `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"%[2]s.%[1]s"},`+
		`"spec":{"group":%[1]q,"scope":"Namespaced","names":{"plural":%[2]q,"singular":"gauge","kind":"Gauge"},`+
		`"versions":[{"name":"v1","served":true,"storage":true,"subresources":{"status":{}},"schema":{"openAPIV3Schema":{"type":"object","properties":{`+
		`"spec":{"type":"object","properties":{"size":{"type":"integer","minimum":0,"default":1},"mode":{"type":"string","enum":["a","b"]},`+
		`"items":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["name"],"items":{"type":"object","required":["name"],`+
		`"properties":{"name":{"type":"string"},"value":{"type":"string"}}}}},"x-kubernetes-validations":[{"rule":"self.size < 1000"}]},`+
		`"status":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}}}]}}`, s.group(), gauges)
}

// installDefinition creates the definition and waits until its resource is served.
func (s *session) installDefinition(ctx context.Context) error {
	c := s.clients[0]
	if err := c.do(ctx, http.MethodPost, definitionsPath, jsonMedia, s.definition()); err != nil {
		return err
	}
	for range 120 {
		err := c.do(ctx, http.MethodGet, "/apis/"+s.group()+"/v1/"+gauges, "", nil)
		isStarting := hasStatus(err, http.StatusNotFound) || hasStatus(err, http.StatusTooManyRequests) // its watch cache
		if !isStarting {
			return err
		}
		if !sleep(ctx, 250*time.Millisecond) {
			return ctx.Err()
		}
	}
	return errors.New("the server does not serve the custom resource")
}

// removeDefinition removes the definition, if the run may have created it.
func (s *session) removeDefinition(ctx context.Context) error {
	if !slices.Contains(s.config.Resources, customResource) {
		return nil
	}
	err := s.clients[0].do(ctx, http.MethodDelete, definitionsPath+"/"+gauges+"."+s.group(), "", nil)
	if err == nil || hasStatus(err, http.StatusNotFound) {
		return nil
	}
	return fmt.Errorf("CustomResourceDefinition %s.%s is not removed: %w", gauges, s.group(), err)
}
