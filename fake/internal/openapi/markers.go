package openapi

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"reflect"
	"sync"
)

// marker has the markers in the comments of a Go type, which openapi-gen reads and reflection does
// not see.
type marker struct {
	// Enum has the values of a string type with +enum.
	Enum []string `json:"enum,omitempty"`
	// MapType is the +structType or +mapType of a struct.
	MapType string `json:"mapType,omitempty"`
	// Union reports whether at most one of the fields is set, beside a discriminator.
	Union bool `json:"union,omitempty"`
	// Fields has the markers of fields by Go name. Most fields have none.
	Fields map[string]fieldMarker `json:"fields,omitempty"`
}

// fieldMarker has the markers of a field.
type fieldMarker struct {
	// Optional is set by +optional or +required where omitempty implies the opposite.
	Optional      *bool    `json:"optional,omitempty"`
	ListType      string   `json:"listType,omitempty"`
	ListMapKeys   []string `json:"listMapKeys,omitempty"`
	MapType       string   `json:"mapType,omitempty"`
	Default       any      `json:"default,omitempty"`
	Discriminator bool     `json:"discriminator,omitempty"`
}

// markersJSON is generated from the sources of k8s.io/api and k8s.io/apimachinery by TestMarkers,
// which fails if it is out of date.
//
//go:embed markers.json
var markersJSON []byte

// markers returns the markers by Go type, such as "k8s.io/api/core/v1.Pod". Types and fields of a
// later release have none: omitempty alone determines whether they are optional, and lists are
// atomic.
var markers = sync.OnceValue(func() map[string]marker {
	var all map[string]marker
	if err := json.Unmarshal(markersJSON, &all); err != nil {
		panic(fmt.Sprintf("openapi: markers.json: %v", err))
	}
	return all
})

func markerOf(t reflect.Type) marker { return markers()[t.PkgPath()+"."+t.Name()] }
