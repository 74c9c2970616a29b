package storage

import (
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/fakeapi/fake/internal/resource/builtin/core"
	"example.com/fakeapi/fake/internal/resource/validate"
)

// validateCSINode validates the drivers of a node.
func validateCSINode(n *storagev1.CSINode) (errs field.ErrorList) {
	var root *validate.Path
	drivers := root.Child("spec").Child("drivers")
	seen := make(map[string]bool, len(n.Spec.Drivers))
	for i := range n.Spec.Drivers {
		d, p := &n.Spec.Drivers[i], drivers.Index(i)
		errs = append(errs, core.ValidateCSIDriverName(d.Name, p.Child("name"))...)
		errs = append(errs, validateNodeID(d.NodeID, p.Child("nodeID"))...)
		if d.Allocatable != nil && d.Allocatable.Count != nil {
			errs = append(errs, validate.NonNegative(int64(*d.Allocatable.Count), p.Child("allocatable").Child("count"))...)
		}
		if seen[d.Name] {
			errs = append(errs, p.Child("name").Duplicate(d.Name))
		}
		seen[d.Name] = true
		errs = append(errs, validateTopologyKeys(d.TopologyKeys, p)...)
	}
	return errs
}

// validateCSINodeUpdate validates a node that replaces old. Drivers can be added and removed. Of a
// driver only what it can allocate can be changed.
func validateCSINodeUpdate(n, old *storagev1.CSINode) field.ErrorList {
	var root *validate.Path
	errs := validateCSINode(n)
	drivers := make(map[string][]storagev1.CSINodeDriver, len(n.Spec.Drivers))
	for _, d := range n.Spec.Drivers {
		d.Allocatable = nil
		drivers[d.Name] = append(drivers[d.Name], d)
	}
	for _, was := range old.Spec.Drivers {
		was.Allocatable = nil
		for _, d := range drivers[was.Name] {
			errs = append(errs, validate.Immutable(d, was, root.Child("spec").Child("drivers"))...)
		}
		delete(drivers, was.Name)
	}
	return errs
}

// validateNodeID validates the name that a driver has for a node.
func validateNodeID(id string, p *validate.Path) field.ErrorList {
	switch {
	case id == "":
		return field.ErrorList{p.Required("")}
	case len(id) > 256:
		return field.ErrorList{p.Invalid(id, "must be 256 characters or less")}
	}
	return nil
}

// validateTopologyKeys validates the keys of labels. p is the path of the driver, where a server
// reports the errors.
func validateTopologyKeys(keys []string, p *validate.Path) (errs field.ErrorList) {
	seen := make(map[string]bool, len(keys))
	for _, key := range keys {
		if key == "" {
			errs = append(errs, p.Required(""))
		}
		if seen[key] {
			errs = append(errs, p.Duplicate(key))
		}
		seen[key] = true
		errs = append(errs, validate.Messages(key, validation.IsQualifiedName(key), p)...)
	}
	return errs
}
