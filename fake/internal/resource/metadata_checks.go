package resource

// MetadataChecks is how the validation of an update of a type checks the metadata. A real server
// checks the metadata of all types, and most types check it again, so that it lists a cause several
// times. The zero value is right for most types, and agrees with a recorded exchange for ConfigMaps.
type MetadataChecks struct {
	// AsNew is how often the type checks the metadata as that of a new object.
	AsNew int
	// NotAsUpdated reports whether the type does not compare the metadata with that of the stored
	// object.
	NotAsUpdated bool
}
