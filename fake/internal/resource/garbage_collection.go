package resource

// GarbageCollectionPolicy is what a delete does with the dependents of an object unless its options
// or the finalizers of the object say otherwise.
type GarbageCollectionPolicy int

const (
	// DeleteDependents lets the garbage collector delete the dependents after the object.
	DeleteDependents GarbageCollectionPolicy = iota
	// OrphanDependents keeps the dependents. Types that were deleted so before there was a garbage
	// collector still are.
	OrphanDependents
	// GarbageCollectionUnsupported ignores the propagation policy of the delete options and the
	// finalizers of the garbage collector. The type has no dependents.
	GarbageCollectionUnsupported
)
