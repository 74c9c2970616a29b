package resource

import "k8s.io/apimachinery/pkg/util/validation/field"

// MetadataChecks is how the validation of an update of a type checks the metadata. A real server
// checks the metadata of all types, and most types check it again, so that it lists a cause several
// times. The zero value is right for most types, and agrees with a recorded exchange for
// ConfigMaps.
type MetadataChecks struct {
	// AsNew is how often the type checks the metadata as that of a new object.
	AsNew int
	// NotAsUpdated reports whether the type does not compare the metadata with that of the stored
	// object.
	NotAsUpdated bool
}

// MetadataErrors are the errors of the metadata of an updated object.
type MetadataErrors struct {
	// All are those of all checks, in the order of most types.
	All field.ErrorList
	// ForAllTypes are those of the checks that all types have, AsNew and AsUpdated those of the type's
	// own check as that of a new object, and of its comparison with the stored object.
	ForAllTypes, AsNew, AsUpdated field.ErrorList
}
