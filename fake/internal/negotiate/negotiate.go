// Package negotiate reads Accept and Content-Type the way a Kubernetes API
// server does: first the router's plain match of media types, then the full
// negotiation with parameters (as=, v=, g=, pretty=, stream=), falling back
// along the client's list.
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

// The encodings that are served.
const (
	JSON Media = iota
	YAML
	Protobuf
	// CBOR is served where WithCBOR says so.
	CBOR
)

var mediaTypes = [...]string{JSON: runtime.ContentTypeJSON, YAML: runtime.ContentTypeYAML, Protobuf: runtime.ContentTypeProtobuf, CBOR: runtime.ContentTypeCBOR}

// String is the media type without parameters.
func (m Media) String() string { return mediaTypes[m] }

// Form is the transformation asked for with as=.
type Form uint8

// The forms in which objects are served.
const (
	Full Form = iota
	Partial
	PartialList
	// Table is what kubectl get prints; in JSON and YAML only (TB-11).
	Table
	// Aggregated is the discovery document APIGroupDiscoveryList of
	// apidiscovery.k8s.io/v2 (DI-06).
	Aggregated
)

// Output is what a client accepted.
type Output struct {
	Media Media
	// Form is the transformation; its group version is meta.k8s.io/v1, or
	// v1beta1 if Beta.
	Form Form
	Beta bool
	// Pretty asks for indented JSON.
	Pretty bool
}

// Endpoint tells which kinds of answer an endpoint has.
type Endpoint uint8

// The kinds of endpoint, which differ in what they offer.
const (
	// Object answers one object, Collection a list or a watch; both can be
	// transformed. Part is an object that has no Table, as most subresources.
	Object Endpoint = iota
	Collection
	NotTransformable
	// Document has one form only. Unrouted is a Document that stands in front of
	// the router, which takes part in no negotiation there.
	Document
	Unrouted
	// Custom answers custom resources, one or many: they are not routed, and have no
	// protobuf of their own but for what they can be transformed to.
	Custom
)

// ResponseOutput chooses the representation of the answer to r. The error is a 406
// Status.
func ResponseOutput(r *http.Request, e Endpoint) (Output, error) {
	out, err := negotiateOutput(r, e)
	if err == nil && !out.Pretty {
		out.Pretty = isPretty(r)
	}
	return out, err
}

// DiscoveryOutput chooses the representation of /api and /apis, or of a document that
// stands in their place: a client that names the aggregated form anywhere gets it,
// also behind others that it would rather have (DI-06). plain is for all else.
func DiscoveryOutput(r *http.Request, fallback Endpoint) (Output, error) {
	header, supported := r.Header.Get("Accept"), supportedBy(r)
	if strings.Contains(header, "APIGroupDiscoveryList") && supported.isRoutable(header, fallback) {
		for _, clause := range goautoneg.ParseAccept(header) {
			for media := JSON; media <= supported.last; media++ {
				if matchesMedia(clause, media) && acceptsAggregated(clause.Params) {
					return Output{Media: media, Form: Aggregated, Pretty: clause.Params["pretty"] == "1" || isPretty(r)}, nil
				}
			}
		}
	}
	return ResponseOutput(r, fallback)
}

// acceptsAggregated reports whether a clause asks for the aggregated form. Of the versions
// v2 is left; v2beta1 is not served any more (DI-08).
func acceptsAggregated(params map[string]string) bool {
	return params["as"] == "APIGroupDiscoveryList" && params["v"] == "v2" && params["g"] == "apidiscovery.k8s.io"
}

// ErrorOutput is Response for an error: never one itself, and no transformation
// (CN-08, TB-10). Where nothing offered is acceptable it is JSON, which a real server
// indents then.
func ErrorOutput(r *http.Request) Output {
	out, err := negotiateOutput(r, Unrouted)
	if err != nil {
		return Output{Pretty: true}
	}
	out.Pretty = out.Pretty || isPretty(r)
	return out
}

func negotiateOutput(r *http.Request, e Endpoint) (Output, error) {
	header := r.Header.Get("Accept")
	switch header {
	case "", "*/*", runtime.ContentTypeJSON, runtime.ContentTypeJSON + ", */*":
		return Output{Media: JSON}, nil
	}
	supported := supportedBy(r)
	if e != Unrouted && e != Custom && !supported.isRoutable(header, e) {
		if e == Collection {
			return Output{}, status.NoAcceptableMediaType(supported.objectTypes + ", " + supported.streamTypes)
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

// AcceptsJSON is the router's check for a document that there is in JSON only.
func AcceptsJSON(r *http.Request) bool {
	header := r.Header.Get("Accept")
	if header == "" {
		return true
	}
	for item := range strings.SplitSeq(header, ",") {
		item, _, _ = strings.Cut(item, ";")
		if item = strings.TrimSpace(item); item == "*/*" || item == runtime.ContentTypeJSON {
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

// applyParameters reads the parameters of one clause; false skips the clause.
func applyParameters(params map[string]string, media Media, e Endpoint) (Output, bool) {
	out := Output{Media: media}
	as, version, group := params["as"], params["v"], params["g"]
	if stream := params["stream"]; stream != "" && (stream != "watch" || media == YAML) {
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
		return out, e != NotTransformable && media != Protobuf && media != CBOR
	default:
		return out, false
	}
	return out, true
}

// isPretty asks the query, then the user agents that people read (CN-05).
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

// CheckStream checks that an Output can be a watch: YAML cannot (WA-30).
func CheckStream(r *http.Request, out Output) error {
	if out.Media == YAML {
		return status.NotAcceptable(supportedBy(r).streamTypes)
	}
	return nil
}

// ContentType is the answer's Content-Type. A JSON watch is plain
// application/json (WA-31), and one in CBOR a sequence of items (CB-02).
func ContentType(m Media, stream bool) string {
	switch {
	case !stream || m == JSON:
		return m.String()
	case m == CBOR:
		return runtime.ContentTypeCBORSequence
	}
	return m.String() + ";stream=watch"
}

// RequestMediaType tells the encoding of a request's body. A missing Content-Type is JSON
// (CR-07); the error is a 415 Status.
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
