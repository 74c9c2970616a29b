package table

import (
	"fmt"

	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"k8s.io/kube-aggregator/pkg/apis/apiregistration/v1/helper"
)

func apiregistrationPrinters() []entry {
	return []entry{
		newEntry(apiregistrationv1.SchemeGroupVersion, func(s *apiregistrationv1.APIService) []any {
			service := "Local"
			if ref := s.Spec.Service; ref != nil {
				service = ref.Namespace + "/" + ref.Name
			}
			return []any{s.Name, service, availability(s), since(s.CreationTimestamp)}
		},
			named(),
			text("Service", "The reference to the service that hosts this API endpoint."),
			text("Available", "Whether this service is available."),
			age(),
		),
	}
}

// availability returns the status of the condition Available, with its reason unless it is True.
func availability(s *apiregistrationv1.APIService) string {
	c := helper.GetAPIServiceConditionByType(s, apiregistrationv1.Available)
	switch {
	case c == nil:
		return string(apiregistrationv1.ConditionUnknown)
	case c.Status == apiregistrationv1.ConditionTrue || c.Reason == "":
		return string(c.Status)
	}
	return fmt.Sprintf("%s (%s)", c.Status, c.Reason)
}
