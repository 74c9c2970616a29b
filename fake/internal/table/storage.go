package table

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
)

func storagePrinters() []entry {
	gv := storagev1.SchemeGroupVersion
	attacher := named()
	attacher.Name, attacher.Description = "Attacher", describes(storagev1.VolumeAttachmentSpec{}, "attacher")
	classes := newEntry(gv, storageClassCells,
		named(),
		text("Provisioner", describes(storagev1.StorageClass{}, "provisioner")),
		text("ReclaimPolicy", describes(storagev1.StorageClass{}, "reclaimPolicy")),
		text("VolumeBindingMode", describes(storagev1.StorageClass{}, "volumeBindingMode")),
		text("AllowVolumeExpansion", describes(storagev1.StorageClass{}, "allowVolumeExpansion")),
		age(),
	)
	classes.printer.isDefault = func(obj runtime.Object) bool {
		c, ok := obj.(*storagev1.StorageClass)
		return ok && isDefaultClass(c)
	}
	return []entry{
		classes,
		newEntry(gv, func(c *storagev1.VolumeAttributesClass) []any {
			return []any{c.Name, c.DriverName, since(c.CreationTimestamp)}
		}, named(), text("DriverName", describes(storagev1.VolumeAttributesClass{}, "driverName")), age()),
		newEntry(gv, func(a *storagev1.VolumeAttachment) []any {
			volume := ptr.Deref(a.Spec.Source.PersistentVolumeName, "")
			return []any{a.Name, a.Spec.Attacher, volume, a.Spec.NodeName, a.Status.Attached, since(a.CreationTimestamp)}
		},
			named(), attacher,
			text("PV", describes(storagev1.VolumeAttachmentSource{}, "persistentVolumeName")),
			text("Node", describes(storagev1.VolumeAttachmentSpec{}, "nodeName")),
			flag("Attached", describes(storagev1.VolumeAttachmentStatus{}, "attached")),
			age(),
		),
		newEntry(gv, func(n *storagev1.CSINode) []any {
			return []any{n.Name, len(n.Spec.Drivers), since(n.CreationTimestamp)}
		}, named(), number("Drivers", "Drivers indicates the number of CSI drivers registered on the node"), age()),
		newEntry(gv, driverCells, driverColumns()...),
		newEntry(gv, func(c *storagev1.CSIStorageCapacity) []any {
			capacity := unset
			if c.Capacity != nil {
				capacity = c.Capacity.String()
			}
			return []any{c.Name, c.StorageClassName, capacity}
		},
			named(),
			text("StorageClassName", describes(storagev1.CSIStorageCapacity{}, "storageClassName")),
			text("Capacity", describes(storagev1.CSIStorageCapacity{}, "capacity")),
		),
	}
}

func storageClassCells(c *storagev1.StorageClass) []any {
	return []any{
		c.Name, c.Provisioner,
		string(ptr.Deref(c.ReclaimPolicy, corev1.PersistentVolumeReclaimDelete)),
		string(ptr.Deref(c.VolumeBindingMode, storagev1.VolumeBindingImmediate)),
		ptr.Deref(c.AllowVolumeExpansion, false), since(c.CreationTimestamp),
	}
}

func isDefaultClass(c *storagev1.StorageClass) bool {
	return c.Annotations["storageclass.kubernetes.io/is-default-class"] == "true" ||
		c.Annotations["storageclass.beta.kubernetes.io/is-default-class"] == "true"
}

func driverColumns() []metav1.TableColumnDefinition {
	spec := storagev1.CSIDriverSpec{}
	return []metav1.TableColumnDefinition{
		named(),
		flag("AttachRequired", describes(spec, "attachRequired")),
		flag("PodInfoOnMount", describes(spec, "podInfoOnMount")),
		flag("StorageCapacity", describes(spec, "storageCapacity")),
		text("TokenRequests", describes(spec, "tokenRequests")),
		flag("RequiresRepublish", describes(spec, "requiresRepublish")),
		text("Modes", describes(spec, "volumeLifecycleModes")),
		age(),
	}
}

func driverCells(d *storagev1.CSIDriver) []any {
	modes := []string{}
	for _, m := range d.Spec.VolumeLifecycleModes {
		modes = append(modes, string(m))
	}
	if len(modes) == 0 {
		modes = []string{string(storagev1.VolumeLifecyclePersistent)}
	}
	tokens := unset
	if requests := d.Spec.TokenRequests; requests != nil {
		audiences := []string{}
		for _, r := range requests {
			audiences = append(audiences, r.Audience)
		}
		tokens = strings.Join(audiences, ",")
	}
	return []any{
		d.Name, ptr.Deref(d.Spec.AttachRequired, true), ptr.Deref(d.Spec.PodInfoOnMount, false), ptr.Deref(d.Spec.StorageCapacity, false),
		tokens, ptr.Deref(d.Spec.RequiresRepublish, false), strings.Join(modes, ","), since(d.CreationTimestamp),
	}
}
