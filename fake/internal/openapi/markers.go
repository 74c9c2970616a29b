package openapi

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"reflect"
	"sync"
)

// marker is what the comments of a Go type tell openapi-gen and reflection cannot
// see.
type marker struct {
	// Enum are the values of a string type with +enum.
	Enum []string `json:"enum,omitempty"`
	// MapType is +structType or +mapType of a struct.
	MapType string `json:"mapType,omitempty"`
	// Union tells that at most one of the fields is set, beside a discriminator.
	Union bool `json:"union,omitempty"`
	// Fields are by their Go name; most have none.
	Fields map[string]fieldMarker `json:"fields,omitempty"`
}

// fieldMarker is what the comments of a field tell.
type fieldMarker struct {
	// Optional is +optional or +required, where omitempty says otherwise.
	Optional      *bool    `json:"optional,omitempty"`
	ListType      string   `json:"listType,omitempty"`
	ListMapKeys   []string `json:"listMapKeys,omitempty"`
	MapType       string   `json:"mapType,omitempty"`
	Default       any      `json:"default,omitempty"`
	Discriminator bool     `json:"discriminator,omitempty"`
}

// markersJSON is made from the sources of k8s.io/api and apimachinery: see
// TestMarkers, which also says when it is out of date.
//
//go:embed markers.json
var markersJSON []byte

// markers are by Go type, "k8s.io/api/core/v1.Pod". A type or field of a later release
// than that of the file has none: then omitempty alone decides what is required, and a
// list is atomic.
var markers = sync.OnceValue(func() map[string]marker {
	var all map[string]marker
	if err := json.Unmarshal(markersJSON, &all); err != nil {
		panic(fmt.Sprintf("openapi: markers.json: %v", err))
	}
	return all
})

func markerOf(t reflect.Type) marker { return markers()[t.PkgPath()+"."+t.Name()] }
