package fakeapi_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	fakeapi "example.com/fakeapi/fake"
)

// The address that the Service of a webhook resolves to, with different options.
func TestWebhookServiceResolver(t *testing.T) {
	const at = `conversion webhook for example.com/v2, Kind=Gadget failed: Post "https://conv.default.svc:443/?timeout=30s": `
	dialer := fakeapi.WithWebhookDialer(func(_ context.Context, network, address string) (net.Conn, error) {
		return nil, fmt.Errorf("dialed %s %s", network, address)
	})
	for name, test := range map[string]struct {
		options []fakeapi.Option
		service string
		want    string
	}{
		"no service":             {nil, "", at + `service "conv" not found`},
		"dialer without service": {[]fakeapi.Option{dialer}, "", at + `service "conv" not found`},
		"no dialer":              {nil, `{"ports":[{"port":443}]}`, at + "dial tcp: lookup conv.default.svc: no such host"},
		"dialer":                 {[]fakeapi.Option{dialer}, `{"ports":[{"port":443}]}`, at + "dialed tcp conv.default.svc:443"},
		"no such port":           {[]fakeapi.Option{dialer}, `{"ports":[{"port":80}]}`, at + `no service port 443 found for service "conv"`},
		"headless":               {[]fakeapi.Option{dialer}, `{"clusterIP":"None","ports":[{"port":443}]}`, at + `cannot route to service with ClusterIP "None"`},
		"external name":          {[]fakeapi.Option{dialer}, `{"type":"ExternalName","externalName":"x.example.com"}`, at + "dialed tcp x.example.com:443"},
		"resolver":               {[]fakeapi.Option{dialer, fakeapi.WithServiceResolver(func(string, string, int32) (string, error) { return "10.0.0.1:9443", nil })}, "", at + "dialed tcp 10.0.0.1:9443"},
		"resolver error":         {[]fakeapi.Option{fakeapi.WithServiceResolver(func(string, string, int32) (string, error) { return "", errors.New("unknown service") })}, "", at + "unknown service"},
		"invalid address":        {[]fakeapi.Option{fakeapi.WithServiceResolver(func(string, string, int32) (string, error) { return "nowhere", nil })}, "", at + "service default/conv: address nowhere: missing port in address"},
	} {
		t.Run(name, func(t *testing.T) {
			srv := fakeapi.Start(t, test.options...)
			requireCode(t, srv, 201, "POST", crdsPath, gadgetCRD("v1", webhookConversion(`{"service":{"namespace":"default","name":"conv"}}`)))
			if test.service != "" {
				requireCode(t, srv, 201, "POST", "/api/v1/namespaces/default/services", `{"metadata":{"name":"conv"},"spec":`+test.service+`}`)
			}
			require.Equal(t, test.want, requireStatus(t, srv, 500, "POST", gadgetsV2, gadgetJSON("v2", "a", 1)).Message)
		})
	}
}

func TestNilWebhookOptions(t *testing.T) {
	_, err := fakeapi.New(fakeapi.WithWebhookDialer(nil))
	require.EqualError(t, err, "fakeapi: WithWebhookDialer needs a function")
	_, err = fakeapi.New(fakeapi.WithServiceResolver(nil))
	require.EqualError(t, err, "fakeapi: WithServiceResolver needs a function")
}

// A webhook whose certificate is not of the caBundle is not called.
func TestWebhookCertificateIsVerified(t *testing.T) {
	srv := fakeapi.Start(t)
	otherHook := startLoopbackWebhook(t, &gadgetWebhook{})
	bundle := otherHook[strings.Index(otherHook, `"caBundle"`):]
	hook := startLoopbackWebhook(t, &gadgetWebhook{})
	requireCode(t, srv, 201, "POST", crdsPath, gadgetCRD("v1", webhookConversion(hook[:strings.Index(hook, `"caBundle"`)]+bundle)))
	require.Contains(t, requireStatus(t, srv, 500, "POST", gadgetsV2, gadgetJSON("v2", "a", 1)).Message, "tls: failed to verify certificate: x509: certificate signed by unknown authority")
}

// A webhook that is not on this machine is not called without WithRemoteWebhooks. It fails as if it
// were unreachable.
func TestRemoteWebhooksAreNotCalled(t *testing.T) {
	const refused = `dial tcp: address 192.0.2.1:443: network is unreachable: only loopback addresses are called without WithRemoteWebhooks (fakeapi serve --allow-remote-webhooks)`
	srv := fakeapi.Start(t)
	requireCode(t, srv, 201, "POST", crdsPath, gadgetCRD("v1", webhookConversion(`{"url":"https://192.0.2.1:443/convert"}`)))
	require.Equal(t, `conversion webhook for example.com/v2, Kind=Gadget failed: Post "https://192.0.2.1:443/convert?timeout=30s": `+refused,
		requireStatus(t, srv, 500, "POST", gadgetsV2, gadgetJSON("v2", "a", 1)).Message)

	for _, policy := range []string{"Ignore", "Fail"} {
		fields := `"clientConfig":{"url":"https://192.0.2.1:443/admit"},"failurePolicy":"` + policy + `"`
		created := requireCode(t, srv, 201, "POST", validatingPath, configuration("v", (&webhookServer{caBundle: `""`}).webhook(t, "allow", fields)))
		code, _, response := send(t, srv, "POST", configMapsPath, "application/json", []byte(`{"metadata":{"name":"a"}}`))
		if policy == "Ignore" {
			require.Equal(t, 201, code, "%s", response)
		} else {
			require.Equal(t, `Internal error occurred: failed calling webhook "allow.example.com": failed to call webhook: Post "https://192.0.2.1:443/admit?timeout=10s": `+refused,
				decodeStatus(t, string(response)).Message)
		}
		requireCode(t, srv, 200, "DELETE", validatingPath+"/"+created.GetName(), "")
	}
}
