package quota

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apiresource "k8s.io/apimachinery/pkg/api/resource"
)

// names returns the names of a list, sorted.
func names(list corev1.ResourceList) []corev1.ResourceName { return slices.Sorted(maps.Keys(list)) }

// add adds the quantities of more to sum. Those of sum must not be shared.
func add(sum, more corev1.ResourceList) {
	for name, quantity := range more {
		total := sum[name].DeepCopy()
		total.Add(quantity)
		sum[name] = total
	}
}

// only returns the quantities of list that have one of the names.
func only(list corev1.ResourceList, names []corev1.ResourceName) corev1.ResourceList {
	result := corev1.ResourceList{}
	for _, name := range names {
		if quantity, ok := list[name]; ok {
			result[name] = quantity
		}
	}
	return result
}

// increase returns by how much a exceeds b, without the quantities that do not.
func increase(a, b corev1.ResourceList) corev1.ResourceList {
	result := corev1.ResourceList{}
	for name, quantity := range a {
		quantity = quantity.DeepCopy()
		quantity.Sub(b[name])
		if quantity.Sign() > 0 {
			result[name] = quantity
		}
	}
	return result
}

// format formats a list as a real server does.
func format(list corev1.ResourceList) string {
	texts := make([]string, 0, len(list))
	for _, name := range names(list) {
		quantity := list[name]
		texts = append(texts, string(name)+"="+quantity.String())
	}
	return strings.Join(texts, ",")
}

// times returns a list with the quantity of n objects for each of names.
func times(n int, names []corev1.ResourceName) corev1.ResourceList {
	list := corev1.ResourceList{}
	for _, name := range names {
		list[name] = *apiresource.NewQuantity(int64(n), apiresource.DecimalSI)
	}
	return list
}

// one returns the quantity of a single object.
func one() apiresource.Quantity { return *apiresource.NewQuantity(1, apiresource.DecimalSI) }

// Equal reports whether two lists have the same names and values.
func Equal(a, b corev1.ResourceList) bool {
	return maps.EqualFunc(a, b, func(x, y apiresource.Quantity) bool { return x.Cmp(y) == 0 })
}
