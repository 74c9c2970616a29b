package negotiate

import (
	"mime"
	"net/http"
	"strconv"
	"strings"

	"github.com/munnerz/goautoneg"
	"k8s.io/apimachinery/pkg/runtime"

	"example.com/fakeapi/fake/internal/status"
)

// Media is an encoding.
type Media uint8

// The encodings that a server supports.
const (
	JSON Media = iota
	YAML
	Protobuf
	// CBOR is supported for requests marked by WithCBOR.
	CBOR
)

var mediaTypes = [...]string{JSON: runtime.ContentTypeJSON, YAML: runtime.ContentTypeYAML, Protobuf: runtime.ContentTypeProtobuf, CBOR: runtime.ContentTypeCBOR}

// String returns the media type without parameters.
func (m Media) String() string { return mediaTypes[m] }

// Form is the transformation that a client requests with as=.
type Form uint8

// The forms of responses.
const (
	Full Form = iota
	Partial
	PartialList
	// Table is a table of columns and rows, as kubectl get prints it. It is supported in JSON and
	// YAML only (TB-11).
	Table
	// Aggregated is the discovery document APIGroupDiscoveryList of apidiscovery.k8s.io/v2 (DI-06).
	Aggregated
)

// Output is the negotiated representation of a response.
type Output struct {
	Media Media
	// Form is the transformation. Its group version is meta.k8s.io/v1, or v1beta1 if Beta is set.
	Form Form
	Beta bool
	// Pretty selects indented JSON.
	Pretty bool
}

// Endpoint is a kind of endpoint. Kinds differ in the representations that they support.
type Endpoint uint8

// The kinds of endpoints.
const (
	// Object returns one object, Collection a list or a watch; both can be transformed.
	// NotTransformable returns an object that cannot be shown as a Table, as most subresources.
	Object Endpoint = iota
	Collection
	NotTransformable
	// Log is NotTransformable. It is plain text, and its errors have the other media types: the
	// router accepts both, and the negotiation that follows only those of errors.
	Log
	// Document has one form only. Unrouted is a Document that is served before the router, which
	// checks the Accept header otherwise.
	Document
	Unrouted
	// Custom returns one or many custom resources. They are not routed, and have no protobuf
	// encoding except for the metadata that they can be transformed to.
	Custom
)

// ResponseOutput returns the representation of the response to r. The error is a 406 Status.
func ResponseOutput(r *http.Request, e Endpoint) (Output, error) {
	out, err := negotiateOutput(r, e)
	if err == nil && !out.Pretty {
		out.Pretty = isPretty(r)
	}
	return out, err
}

// DiscoveryOutput returns the representation of /api and /apis, or of a document served in their
// place. A client that accepts the aggregated form gets it, whatever its order of preference
// (DI-06). For all others it is ResponseOutput for the endpoint fallback.
func DiscoveryOutput(r *http.Request, fallback Endpoint) (Output, error) {
	header, supported := r.Header.Get("Accept"), supportedBy(r)
	if strings.Contains(header, "APIGroupDiscoveryList") && (fallback == Unrouted || supported.isRoutable(header, fallback)) {
		for _, clause := range goautoneg.ParseAccept(header) {
			for media := JSON; media <= supported.last; media++ {
				if matchesMedia(clause, media) && acceptsAggregated(clause.Params, media) {
					return Output{Media: media, Form: Aggregated, Pretty: clause.Params["pretty"] == "1" || isPretty(r)}, nil
				}
			}
		}
	}
	return ResponseOutput(r, fallback)
}

// acceptsAggregated reports whether a clause requests the aggregated form in version v2. v2beta1 is
// not served any more (DI-08).
func acceptsAggregated(params map[string]string, media Media) bool {
	return params["as"] == "APIGroupDiscoveryList" && params["v"] == "v2" && params["g"] == "apidiscovery.k8s.io" &&
		params["sv"] == "" && allowsStream(params, media)
}

// allowsStream reports whether the parameter stream of a clause can be met.
func allowsStream(params map[string]string, media Media) bool {
	stream := params["stream"]
	return stream == "" || stream == "watch" && media != YAML
}

// ErrorOutput is ResponseOutput for an error. It returns no error and no transformation (CN-08,
// TB-10). If nothing is acceptable it returns indented JSON, as a real server does.
func ErrorOutput(r *http.Request) Output {
	out, err := negotiateOutput(r, Unrouted)
	if err != nil {
		return Output{Pretty: true}
	}
	out.Pretty = out.Pretty || isPretty(r)
	return out
}

// IsErrorAcceptable reports whether the client accepts a form that errors have. If not, ErrorOutput
// is used nevertheless.
func IsErrorAcceptable(r *http.Request) bool {
	_, err := negotiateOutput(r, Unrouted)
	return err == nil
}

func negotiateOutput(r *http.Request, e Endpoint) (Output, error) {
	header := r.Header.Get("Accept")
	switch header {
	case "", "*/*", runtime.ContentTypeJSON, runtime.ContentTypeJSON + ", */*":
		return Output{Media: JSON}, nil
	}
	supported := supportedBy(r)
	if e != Unrouted && e != Custom && !supported.isRoutable(header, e) {
		switch e {
		case Collection:
			return Output{}, status.NoAcceptableMediaType(supported.objectTypes + ", " + supported.streamTypes)
		case Log:
			return Output{}, status.NoAcceptableMediaType(plainText + ", " + supported.objectTypes)
		}
		return Output{}, status.NoAcceptableMediaType(supported.objectTypes)
	}
	for _, clause := range goautoneg.ParseAccept(header) {
		for media := JSON; media <= supported.last; media++ {
			if !matchesMedia(clause, media) {
				continue
			}
			if out, ok := applyParameters(clause.Params, media, e); ok {
				return out, nil
			}
		}
	}
	return Output{}, status.NotAcceptable(supported.objectTypes)
}

// Accepts is the router's check for a document that is available in one media type only.
func Accepts(r *http.Request, media string) bool {
	header := r.Header.Get("Accept")
	if header == "" {
		return true
	}
	for item := range strings.SplitSeq(header, ",") {
		item, _, _ = strings.Cut(item, ";")
		if item = strings.Trim(item, " "); item == "*/*" || item == media {
			return true
		}
	}
	return false
}

func matchesMedia(clause goautoneg.Accept, media Media) bool {
	if clause.Type == "*" && clause.SubType == "*" {
		return true
	}
	name, subtype, _ := strings.Cut(media.String(), "/")
	return clause.Type == name && (clause.SubType == subtype || clause.SubType == "*")
}

// applyParameters returns the Output for the parameters of one clause. It reports false if the
// clause does not apply.
func applyParameters(params map[string]string, media Media, e Endpoint) (Output, bool) {
	out := Output{Media: media}
	as, version, group := params["as"], params["v"], params["g"]
	if !allowsStream(params, media) {
		return out, false
	}
	if sv := params["sv"]; sv != "" && (sv != "v1" || e == Document || e == Unrouted) {
		return out, false
	}
	out.Pretty = params["pretty"] == "1"
	if as == "" && version == "" && group == "" {
		return out, e != Custom || media != Protobuf
	}
	switch {
	case e == Document || e == Unrouted:
		return out, false
	case group != "meta.k8s.io" || (version != "v1" && version != "v1beta1"):
		return out, false
	}
	out.Beta = version == "v1beta1"
	switch as {
	case "PartialObjectMetadata":
		out.Form = Partial
	case "PartialObjectMetadataList":
		out.Form = PartialList
	case "Table":
		out.Form = Table
		return out, e != NotTransformable && e != Log && media != Protobuf && media != CBOR
	default:
		return out, false
	}
	return out, true
}

// isPretty reports whether the query or else the user agent requests indented JSON (CN-05).
func isPretty(r *http.Request) bool {
	if strings.Contains(r.URL.RawQuery, "pretty") {
		if v := r.URL.Query().Get("pretty"); v != "" {
			b, _ := strconv.ParseBool(v)
			return b
		}
	}
	agent := r.UserAgent()
	return strings.HasPrefix(agent, "curl") || strings.HasPrefix(agent, "Wget") || strings.HasPrefix(agent, "Mozilla/5.0")
}

// CheckStream returns a 406 if out cannot be a watch, which is the case for YAML (WA-30).
func CheckStream(r *http.Request, out Output) error {
	if out.Media == YAML {
		return status.NotAcceptable(supportedBy(r).streamTypes)
	}
	return nil
}

// ContentType returns the Content-Type of a response. A watch in JSON is plain application/json
// (WA-31), and one in CBOR is a CBOR sequence (CB-02).
func ContentType(m Media, stream bool) string {
	switch {
	case !stream || m == JSON:
		return m.String()
	case m == CBOR:
		return runtime.ContentTypeCBORSequence
	}
	return m.String() + ";stream=watch"
}

// RequestMediaType returns the encoding of a request's body. Without a Content-Type it is JSON
// (CR-07). The error is a 415 Status.
func RequestMediaType(r *http.Request) (Media, error) {
	contentType := r.Header.Get("Content-Type")
	switch contentType {
	case "", runtime.ContentTypeJSON:
		return JSON, nil
	case runtime.ContentTypeProtobuf:
		return Protobuf, nil
	}
	supported := supportedBy(r)
	if name, _, err := mime.ParseMediaType(contentType); err == nil {
		for media := JSON; media <= supported.last; media++ {
			if media.String() == name {
				return media, nil
			}
		}
	}
	return JSON, status.UnsupportedMediaType(supported.objectTypes)
}
