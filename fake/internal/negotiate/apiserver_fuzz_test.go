package negotiate

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor"
	"k8s.io/apiserver/pkg/endpoints/handlers/negotiation"
)

// endpointRestrictions implements negotiation.EndpointRestrictions of k8s.io/apiserver for an
// Endpoint.
type endpointRestrictions struct{ endpoint Endpoint }

func (a endpointRestrictions) AllowsServerVersion(version string) bool {
	return version == "v1" && a.endpoint != Document && a.endpoint != Unrouted
}

func (a endpointRestrictions) AllowsStreamSchema(s string) bool { return s == "watch" }

func (a endpointRestrictions) AllowsMediaTypeTransform(mimeType, subtype string, target *schema.GroupVersionKind) bool {
	if target == nil {
		return a.endpoint != Custom || mimeType+"/"+subtype != runtime.ContentTypeProtobuf
	}
	if a.endpoint == Document || a.endpoint == Unrouted || target.Group != metav1.GroupName || target.Version != "v1" && target.Version != "v1beta1" {
		return false
	}
	switch target.Kind {
	case "Table":
		return a.endpoint != NotTransformable && a.endpoint != Log && (subtype == "json" || subtype == "yaml")
	case "PartialObjectMetadata", "PartialObjectMetadataList":
		return true
	}
	return false
}

// newNegotiatedSerializer returns the serializers of a real server.
func newNegotiatedSerializer(withCBOR bool) runtime.NegotiatedSerializer {
	var options []serializer.CodecFactoryOptionsMutator
	if withCBOR {
		options = append(options, serializer.WithSerializer(cbor.NewSerializerInfo))
	}
	return serializer.NewCodecFactory(runtime.NewScheme(), options...)
}

// FuzzResponseOutput compares the negotiated output with that of k8s.io/apiserver, after the check
// of the router where there is one.
func FuzzResponseOutput(f *testing.F) {
	const as = ";as=Table;v=v1;g=meta.k8s.io"
	for _, accept := range []string{
		"application/json" + as + ", */*;q=0", "application/json" + as + ",application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json",
		"application/vnd.kubernetes.protobuf" + as + ",application/yaml", "application/cbor" + as, "application/*;q=0.5,application/yaml;q=0.4",
		"application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io;pretty=1", "application/yaml;stream=watch,*/*;sv=v1", "application/json;sv=v2",
		"application/cbor-seq, application/cbor;q=.1", ";,=;q=x", "*/json, text/*;q=0.1, APPLICATION/JSON", "text/plain", "application/json;as=APIGroupDiscoveryList;v=v2;g=apidiscovery.k8s.io",
		"application/json;export=1;q=1.1", "application/json;stream=;as=;v=v1", "*/*;as=PartialObjectMetadataList;v=v1beta1;g=meta.k8s.io",
	} {
		f.Add(accept)
	}
	serializers := map[bool]runtime.NegotiatedSerializer{false: newNegotiatedSerializer(false), true: newNegotiatedSerializer(true)}
	f.Fuzz(func(t *testing.T, accept string) {
		for _, e := range []Endpoint{Object, Collection, NotTransformable, Log, Document, Unrouted, Custom} {
			for cborEnabled, serializer := range serializers {
				r := newAcceptRequest(accept)
				if cborEnabled {
					r = WithCBOR(r)
				}
				got, err := ResponseOutput(r, e)
				_ = ErrorOutput(r)
				want, _, wantErr := negotiation.NegotiateOutputMediaType(r, serializer, endpointRestrictions{e})
				if e != Unrouted && e != Custom && !supportedBy(r).isRoutable(accept, e) && accept != "" {
					wantErr = apierrors.NewBadRequest("not accepted by the router")
				}
				if wantErr != nil {
					require.True(t, apierrors.IsNotAcceptable(err), "%s: %v", accept, err)
					continue
				}
				require.NoError(t, err, accept)
				require.Equal(t, want.Accepted.MediaType, got.Media.String(), accept)
				require.Equal(t, want.Pretty, got.Pretty, accept)
				requireForm(t, want.Convert, got)
			}
		}
	})
}

// requireForm compares the transformation.
func requireForm(t *testing.T, want *schema.GroupVersionKind, got Output) {
	t.Helper()
	if want == nil {
		require.Equal(t, Full, got.Form)
		return
	}
	forms := map[string]Form{"Table": Table, "PartialObjectMetadata": Partial, "PartialObjectMetadataList": PartialList}
	require.Equal(t, forms[want.Kind], got.Form)
	require.Equal(t, want.Version == "v1beta1", got.Beta)
}

// FuzzRequestMediaType compares the media type of a request body with that of k8s.io/apiserver.
func FuzzRequestMediaType(f *testing.F) {
	for _, contentType := range []string{
		"", runtime.ContentTypeJSON, runtime.ContentTypeYAML, runtime.ContentTypeProtobuf, runtime.ContentTypeCBOR, runtime.ContentTypeCBORSequence, "application/json; charset=utf-8", "APPLICATION/JSON", "application/json;",
		"application/json;a=1;a=2", "text/plain", "application/json, application/yaml", `application/yaml; x="`, "/", " application/json", "application/apply-patch+yaml",
	} {
		f.Add(contentType)
	}
	serializers := map[bool]runtime.NegotiatedSerializer{false: newNegotiatedSerializer(false), true: newNegotiatedSerializer(true)}
	f.Fuzz(func(t *testing.T, contentType string) {
		for cborEnabled, serializer := range serializers {
			r := newContentTypeRequest(contentType)
			if cborEnabled {
				r = WithCBOR(r)
			}
			got, err := RequestMediaType(r)
			want, wantErr := negotiation.NegotiateInputSerializer(r, false, serializer)
			if wantErr != nil {
				require.True(t, apierrors.IsUnsupportedMediaType(err), "%s: %v", contentType, err)
				require.Equal(t, int32(http.StatusUnsupportedMediaType), apierrors.APIStatus(err.(*apierrors.StatusError)).Status().Code)
				continue
			}
			require.NoError(t, err, contentType)
			require.Equal(t, want.MediaType, got.String())
			require.False(t, strings.Contains(contentType, runtime.ContentTypeCBOR) && !cborEnabled)
		}
	})
}
