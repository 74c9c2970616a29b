//lint:file-ignore SA1019 Endpoints are served

package systemobjects

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	networkingv1 "k8s.io/api/networking/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"example.com/fakeapi/fake/internal/resource"
)

// The field managers of the requests with which a kube-apiserver creates objects and applies
// conditions.
const (
	serverManager       = "kube-apiserver"
	flowControlManager  = "api-priority-and-fairness-config-producer-v1"
	flowSchemaCondition = "api-priority-and-fairness-config-consumer-v1"
	cidrCondition       = "kubernetes-service-cidr-controller"
)

// setServerManagedFields sets the managedFields of objects other than those of the bootstrap
// policy. A status is applied after the create.
func setServerManagedFields(objects []runtime.Object) error {
	for _, obj := range objects {
		kind, err := kindOf(obj)
		if err != nil {
			return err
		}
		fields, err := ownedFields(obj)
		if err != nil {
			return err
		}
		m, version, manager := resource.Accessor(obj), kind.GroupVersion().String(), serverManager
		if kind.Group == flowcontrolv1.GroupName {
			manager = flowControlManager
		}
		if len(m.GetLabels())+len(m.GetAnnotations()) > 0 {
			fields = append(fields, ownedMetadata(m))
		}
		slices.Sort(fields)
		entries := []metav1.ManagedFieldsEntry{newEntry(version, manager, metav1.ManagedFieldsOperationUpdate, strings.Join(fields, ","))}
		switch obj.(type) {
		case *networkingv1.ServiceCIDR:
			entries = slices.Insert(entries, 0, newConditionEntry(version, cidrCondition, networkingv1.ServiceCIDRConditionReady,
				"lastTransitionTime", "message", "status", "type"))
		case *flowcontrolv1.FlowSchema:
			entries = slices.Insert(entries, 0, newConditionEntry(version, flowSchemaCondition, string(flowcontrolv1.FlowSchemaConditionDangling),
				"lastTransitionTime", "message", "reason", "status", "type"))
		}
		m.SetManagedFields(entries)
	}
	return nil
}

// ownedFields returns the members of FieldsV1 of an object without those of its metadata.
func ownedFields(obj runtime.Object) ([]string, error) {
	switch o := obj.(type) {
	case *networkingv1.ServiceCIDR:
		return []string{`"f:spec":{"f:cidrs":{}}`}, nil
	case *networkingv1.IPAddress:
		return []string{`"f:spec":{"f:parentRef":{".":{},"f:name":{},"f:namespace":{},"f:resource":{}}}`}, nil
	case *corev1.Service:
		return []string{`"f:spec":{"f:clusterIP":{},"f:internalTrafficPolicy":{},"f:ipFamilyPolicy":{},` +
			`"f:ports":{".":{},"k:{\"port\":443,\"protocol\":\"TCP\"}":{".":{},"f:name":{},"f:port":{},"f:protocol":{},"f:targetPort":{}}},` +
			`"f:sessionAffinity":{},"f:type":{}}`}, nil
	case *corev1.Endpoints:
		return []string{`"f:subsets":{}`}, nil
	case *discoveryv1.EndpointSlice:
		return []string{`"f:addressType":{}`, `"f:endpoints":{}`, `"f:ports":{}`}, nil
	case *corev1.ConfigMap:
		return []string{`"f:data":` + ownedKeys(o.Data)}, nil
	case *coordinationv1.Lease:
		return []string{`"f:spec":{"f:holderIdentity":{},"f:leaseDurationSeconds":{},"f:renewTime":{}}`}, nil
	case *schedulingv1.PriorityClass:
		return []string{`"f:description":{}`, `"f:preemptionPolicy":{}`, `"f:value":{}`}, nil
	case *apiregistrationv1.APIService:
		return []string{`"f:spec":{"f:group":{},"f:groupPriorityMinimum":{},"f:version":{},"f:versionPriority":{}}`}, nil
	case *flowcontrolv1.FlowSchema:
		const fields = `"f:matchingPrecedence":{},"f:priorityLevelConfiguration":{"f:name":{}},"f:rules":{}}`
		if o.Spec.DistinguisherMethod == nil {
			return []string{`"f:spec":{` + fields}, nil
		}
		return []string{`"f:spec":{"f:distinguisherMethod":{".":{},"f:type":{}},` + fields}, nil
	case *flowcontrolv1.PriorityLevelConfiguration:
		return []string{`"f:spec":{` + ownedLevel(&o.Spec) + `,"f:type":{}}`}, nil
	}
	return nil, fmt.Errorf("%T has no known managed fields", obj)
}

// ownedLevel returns the member of FieldsV1 of a priority level that is exempt or limited.
func ownedLevel(spec *flowcontrolv1.PriorityLevelConfigurationSpec) string {
	const shares = `"f:nominalConcurrencyShares":{}}`
	switch {
	case spec.Exempt != nil:
		return `"f:exempt":{".":{},"f:lendablePercent":{},` + shares
	case spec.Limited.LimitResponse.Queuing != nil:
		return `"f:limited":{".":{},"f:lendablePercent":{},"f:limitResponse":{".":{},` +
			`"f:queuing":{".":{},"f:handSize":{},"f:queueLengthLimit":{},"f:queues":{}},"f:type":{}},` + shares
	}
	return `"f:limited":{".":{},"f:lendablePercent":{},"f:limitResponse":{".":{},"f:type":{}},` + shares
}

// newConditionEntry returns the entry of a field manager that has applied some fields of a
// condition.
func newConditionEntry(apiVersion, manager, condition string, fields ...string) metav1.ManagedFieldsEntry {
	members := `".":{}`
	for _, field := range fields {
		members += `,"f:` + field + `":{}`
	}
	entry := newEntry(apiVersion, manager, metav1.ManagedFieldsOperationApply,
		`"f:status":{"f:conditions":{"k:{\"type\":\"`+condition+`\"}":{`+members+`}}}`)
	entry.Subresource = "status"
	return entry
}

// setManagedFields replaces the managedFields of an object.
func setManagedFields(o metav1.Object, entries ...metav1.ManagedFieldsEntry) {
	o.SetManagedFields(entries)
}

// newEntry returns the entry of a field manager with some members of FieldsV1.
func newEntry(apiVersion, manager string, operation metav1.ManagedFieldsOperationType, members string) metav1.ManagedFieldsEntry {
	at := placeholderTime
	return metav1.ManagedFieldsEntry{
		Manager: manager, Operation: operation, APIVersion: apiVersion, Time: &at,
		FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1("{" + members + "}"),
	}
}

// ownedMetadata returns the member of FieldsV1 of the labels and annotations of an object.
func ownedMetadata(o metav1.Object) string {
	var members []string
	if annotations := o.GetAnnotations(); len(annotations) > 0 {
		members = append(members, `"f:annotations":`+ownedKeys(annotations))
	}
	if labels := o.GetLabels(); len(labels) > 0 {
		members = append(members, `"f:labels":`+ownedKeys(labels))
	}
	return `"f:metadata":{` + strings.Join(members, ",") + `}`
}

// ownedKeys returns the FieldsV1 of a map.
func ownedKeys(m map[string]string) string {
	var b strings.Builder
	b.WriteString(`{".":{}`)
	for _, key := range slices.Sorted(maps.Keys(m)) {
		b.WriteString(`,"f:` + key + `":{}`)
	}
	return b.String() + "}"
}
