package conversion

import (
	"context"
	"errors"
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/conversion"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// servicePort is where the webhook of a service listens if nothing else is said:
// the default of spec.conversion.webhook.clientConfig.service.port.
const servicePort = 443

// Converter converts the objects of one definition. Many goroutines may use it.
type Converter struct {
	group     string
	library   runtime.ObjectConvertor
	transport *transport
}

// New makes the converter of a definition, which is not changed and not kept. The
// strategy None, also meant by no strategy at all, changes only the apiVersion;
// Webhook asks. A nil dial means the network, a nil services that no service is
// known. An unknown strategy, a webhook without an address and a caBundle that
// cannot be read are errors.
func New(crd *apiextensionsv1.CustomResourceDefinition, dial Dialer, services ServiceResolver) (*Converter, error) {
	complete, err := withDefaults(crd)
	if err != nil {
		return nil, err
	}
	n := newTransport(dial, services)
	factory, err := conversion.NewCRConverterFactory(n, n.authenticationInfoResolver)
	if err != nil {
		return nil, fmt.Errorf("conversion of %s: %w", crd.Name, err)
	}
	library, _, err := factory.NewConverter(complete)
	if err != nil {
		return nil, fmt.Errorf("conversion of %s: %w", crd.Name, err)
	}
	return &Converter{group: crd.Spec.Group, library: library, transport: n}, nil
}

// withDefaults is the definition with the defaults that the library relies on. The
// definition itself stays as it is.
func withDefaults(crd *apiextensionsv1.CustomResourceDefinition) (*apiextensionsv1.CustomResourceDefinition, error) {
	if crd == nil {
		return nil, errors.New("conversion: there is no definition")
	}
	own := *crd
	own.Spec.Conversion = crd.Spec.Conversion.DeepCopy()
	if own.Spec.Conversion == nil {
		own.Spec.Conversion = &apiextensionsv1.CustomResourceConversion{Strategy: apiextensionsv1.NoneConverter}
	}
	if own.Spec.Conversion.Strategy != apiextensionsv1.WebhookConverter {
		return &own, nil
	}
	webhook := own.Spec.Conversion.Webhook
	if webhook == nil || webhook.ClientConfig == nil {
		return nil, fmt.Errorf("conversion of %s: the strategy is Webhook, and spec.conversion.webhook.clientConfig is missing", crd.Name)
	}
	if service := webhook.ClientConfig.Service; service != nil && service.Port == nil {
		service.Port = new(int32(servicePort))
	}
	return &own, nil
}

// Convert gives objects in a version of their definition, which is named alone,
// like v1. Objects that are there already are given as they are, and are the same
// pointers; others are new, and share nothing with the input, which is not
// changed. The webhook is called once for each object, as a real server does. The
// first failure ends it, and nothing is given then. A context that has ended stops
// it before the next call; the call under way goes on, as on a real server, until
// it is answered, has lasted 30 seconds or Close ends it.
func (c *Converter) Convert(ctx context.Context, objects []*unstructured.Unstructured, to string) ([]*unstructured.Unstructured, error) {
	defer c.transport.beginCall()()
	target := schema.GroupVersion{Group: c.group, Version: to}
	converted := make([]*unstructured.Unstructured, len(objects))
	for i, object := range objects {
		if object == nil {
			return nil, fmt.Errorf("conversion to %s: object %d is nil", target, i)
		}
		if object.GetAPIVersion() == target.String() {
			converted[i] = object
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		result, err := c.library.ConvertToVersion(object, target)
		if err != nil {
			return nil, err
		}
		fresh, ok := result.(*unstructured.Unstructured)
		if !ok {
			return nil, fmt.Errorf("conversion to %s: the result is a %T", target, result)
		}
		converted[i] = fresh
	}
	return converted, nil
}

// Drain is for a definition that another has replaced: what began under it may go on and
// call the webhook, and no connection outlives the last call under way.
func (c *Converter) Drain() { c.transport.drain() }

// Close ends the calls that are under way and the connections to the webhook.
// Later conversions fail where they would need a connection.
func (c *Converter) Close() { c.transport.close() }
