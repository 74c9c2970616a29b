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

	"example.com/fakeapi/fake/internal/webhookclient"
)

// servicePort is the default of spec.conversion.webhook.clientConfig.service.port.
const servicePort = 443

// Converter converts the objects of one CustomResourceDefinition. It is safe for concurrent use.
type Converter struct {
	group     string
	library   runtime.ObjectConvertor
	transport *webhookclient.Transport
}

// New returns the converter of a CustomResourceDefinition, which it does not change or retain. The
// strategy None, which is the default, changes only the apiVersion; Webhook calls the webhook over
// network. An unknown strategy, a webhook without an address and an invalid caBundle are errors.
func New(crd *apiextensionsv1.CustomResourceDefinition, network webhookclient.Network) (*Converter, error) {
	complete, err := withDefaults(crd)
	if err != nil {
		return nil, err
	}
	n := webhookclient.New(network, complete.Name)
	factory, err := conversion.NewCRConverterFactory(n, n.AuthenticationInfoResolver)
	if err != nil {
		return nil, fmt.Errorf("conversion of %s: %w", crd.Name, err)
	}
	library, _, err := factory.NewConverter(complete)
	if err != nil {
		return nil, fmt.Errorf("conversion of %s: %w", crd.Name, err)
	}
	return &Converter{group: crd.Spec.Group, library: library, transport: n}, nil
}

// withDefaults returns a copy of crd with the defaults that the library relies on.
func withDefaults(crd *apiextensionsv1.CustomResourceDefinition) (*apiextensionsv1.CustomResourceDefinition, error) {
	if crd == nil {
		return nil, errors.New("conversion: the CustomResourceDefinition is nil")
	}
	out := *crd
	out.Spec.Conversion = crd.Spec.Conversion.DeepCopy()
	if out.Spec.Conversion == nil {
		out.Spec.Conversion = &apiextensionsv1.CustomResourceConversion{Strategy: apiextensionsv1.NoneConverter}
	}
	if out.Spec.Conversion.Strategy != apiextensionsv1.WebhookConverter {
		return &out, nil
	}
	webhook := out.Spec.Conversion.Webhook
	if webhook == nil || webhook.ClientConfig == nil {
		return nil, fmt.Errorf("conversion of %s: the strategy is Webhook, and spec.conversion.webhook.clientConfig is missing", crd.Name)
	}
	if service := webhook.ClientConfig.Service; service != nil && service.Port == nil {
		service.Port = new(int32(servicePort))
	}
	return &out, nil
}

// Convert returns objects in another version, which is a name such as v2. Objects that have that
// version already are returned as they are. Others are new and share no memory with the arguments,
// which are not changed. The webhook is called once for each object, as a real server does. The
// first error ends the conversion. If ctx is done, no further call is made; a call in progress
// continues, as on a real server, until the response, for at most 30 seconds, or until Close.
func (c *Converter) Convert(ctx context.Context, objects []*unstructured.Unstructured, to string) ([]*unstructured.Unstructured, error) {
	defer c.transport.BeginCall()()
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

// Drain is called when crd was replaced. Conversions that have started continue, and may call the
// webhook. All connections are closed after the last call in progress.
func (c *Converter) Drain() { c.transport.Drain() }

// Close cancels calls in progress and closes the connections. Later conversions fail if they need a
// connection.
func (c *Converter) Close() { c.transport.Close() }
