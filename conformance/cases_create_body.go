package conformance

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// createBodyCases are about the body of a create: its kind, its syntax and its size (CR-02 to CR-11, CR-18).
func createBodyCases() []Case {
	return slices.Concat(
		[]Case{
			onSecrets(Case{
				ID: "CR-02/typed", Level: Must, Title: "a body of another version than the URL's is refused",
				Why:    "it was not written for this version",
				Source: docCreateHandler,
			}, func(ctx context.Context, s *session, c collection) error {
				return foreignKind(ctx, s, c, "v2", "Secret")
			}),
			{
				ID: "CR-02/served", Level: Must, Title: "a typed body of another version that is served is refused as such",
				Why:    "the client learns that only the URL is wrong",
				Source: docCreateHandler, check: func(ctx context.Context, s *session) error {
					const group = "autoscaling"
					if err := s.needs(ctx, group+"/v1", "horizontalpodautoscalers"); err != nil {
						return err
					}
					c, err := s.fill(ctx, collection{
						root: "/apis/" + group + "/v1", apiVersion: group + "/v1", group: group, kind: "HorizontalPodAutoscaler", resource: "horizontalpodautoscalers",
					}, nil)
					if err != nil {
						return err
					}
					return foreignVersion(ctx, s, c, group+"/v2")
				},
			},
			onSecrets(Case{
				ID: "CR-03/typed", Level: Must, Title: "a body of another group than the URL's is refused",
				Why:    "it was meant for another resource",
				Source: docCreateHandler,
			}, func(ctx context.Context, s *session, c collection) error {
				return foreignKind(ctx, s, c, "wrong.example.com/v1", "Secret")
			}),
			onSecrets(Case{
				ID: "CR-04/typed", Level: Must, Title: "a body of another kind than the resource's is refused",
				Why:    "it was meant for another resource",
				Source: docCreateHandler,
			}, func(ctx context.Context, s *session, c collection) error {
				if err := foreignKind(ctx, s, c, "v1", "Nonsense"); err != nil {
					return err
				}
				return refusedBody(ctx, s, c, newObject("v1", "ConfigMap", "a"), "", refusal{
					code: 400, reason: metav1.StatusReasonBadRequest, says: `ConfigMap in version "v1" cannot be handled as a Secret: `,
				})
			}),
			onWidgets(Case{
				ID: "CR-02/custom", Level: Must, Title: "a body of another version than the URL's is refused, also of one that is served",
				Why:    "it was not written for this version",
				Source: docCreateHandler,
			}, func(ctx context.Context, s *session, c collection) error {
				if err := foreignVersion(ctx, s, c, c.group+"/v2"); err != nil {
					return err
				}
				return foreignVersion(ctx, s, c, c.group+"/v1beta1")
			}),
			onWidgets(Case{
				ID: "CR-03/custom", Level: Must, Title: "a body of another group than the URL's is refused",
				Why:    "it was meant for another resource",
				Source: docCreateHandler,
			}, func(ctx context.Context, s *session, c collection) error {
				return foreignVersion(ctx, s, c, "wrong.example.com/v1")
			}),
			onWidgets(Case{
				ID: "CR-04/custom", Level: Must, Title: "a body of another kind than the custom resource's is invalid",
				Why:    "it was meant for another resource",
				Source: "apiextensions-apiserver pkg/registry/customresource",
			}, func(ctx context.Context, s *session, c collection) error {
				return s.try(ctx, post(c.path(), newObject(c.apiVersion, "Nonsense", "a")), refusal{
					code: 422, reason: metav1.StatusReasonInvalid, details: &metav1.StatusDetails{Name: "a", Group: c.group, Kind: "Nonsense"},
					message: fmt.Sprintf("Nonsense.%s %q is invalid: kind: Invalid value: %q: must be Widget", c.group, "a", "Nonsense"),
					causes:  []metav1.StatusCause{{Type: metav1.CauseTypeFieldValueInvalid, Field: "kind", Message: "must be Widget"}},
				}.check)
			}),
			onSecrets(Case{
				ID: "CR-05/typed", Level: Must, Title: "a typed body may leave kind and apiVersion out",
				Why:    "the URL says both",
				Source: "API conventions, Types (Kinds)",
			}, func(ctx context.Context, s *session, c collection) error {
				for name, o := range inOrder(map[string]object{"both": {}, "version": {"kind": c.kind}, "kind": {"apiVersion": c.apiVersion}}) {
					o["metadata"] = object{"name": name}
					if err := s.try(ctx, post(c.path(), o), code(201), kind(c.apiVersion, c.kind)); err != nil {
						return err
					}
				}
				return nil
			}),
			onWidgets(Case{
				ID: "CR-05/custom", Level: Must, Title: "a custom resource needs kind and apiVersion in the body",
				Why:    "kube-apiserver looks nowhere else",
				Source: "apimachinery apis/meta/v1/unstructured",
			}, untypedWidgets),
			onSecrets(Case{
				ID: "CR-11/typed", Level: Must, Title: "a value of another type than the field's is refused",
				Why:    "the client learns which field",
				Source: docCreateHandler,
			}, func(ctx context.Context, s *session, c collection) error {
				for _, o := range []object{c.object("a").top("type", 5), c.object("a").label("a", "b").meta("labels", object{"a": 1})} {
					err := refusedBody(ctx, s, c, o, "", refusal{
						code: 400, reason: metav1.StatusReasonBadRequest,
						says: `Secret in version "v1" cannot be handled as a Secret: json: cannot unmarshal number into Go struct field `,
					})
					if err != nil {
						return err
					}
				}
				return nil
			}),
			onWidgets(Case{
				ID: "CR-11/custom", Level: Must, Title: "a value of another type than the schema's is invalid",
				Why:    "the client learns which field",
				Source: "apiextensions-apiserver pkg/apiserver/validation",
			}, func(ctx context.Context, s *session, c collection) error {
				o := c.object("a").top("spec", object{"color": 5})
				return s.try(ctx, post(c.path(), o), c.invalid("a", metav1.CauseTypeTypeInvalid, "spec.color", "in body must be of type string: \"integer\""))
			}),
		},
		both(Case{
			ID: "CR-06", Level: Must, Title: "a body that is not whole is refused, and shown",
			Why:    "the client sees what arrived",
			Source: docCreateHandler,
		}, brokenBodies),
		both(Case{
			ID: "CR-07", Level: Must, Title: "a body without a Content-Type is read as JSON",
			Why:    "simple clients do not send one",
			Source: "apiserver handlers/negotiation",
		}, func(ctx context.Context, s *session, c collection) error {
			untold := post(c.path(), c.object("a"))
			untold.contentType = noContentType
			return s.try(ctx, untold, code(201), kind(c.apiVersion, c.kind))
		}),
		both(Case{
			ID: "CR-08", Level: Must, Title: "a body of a media type that the server cannot read is refused, and the answer lists those it can",
			Why:    "the client can choose another",
			Source: "apiserver handlers/negotiation",
		}, func(ctx context.Context, s *session, c collection) error {
			for _, media := range []string{"text/plain", "application/xml", "application/jsonx", "nonsense"} {
				if err := refusedWith(ctx, s, c, c.object("a"), media, s.unsupported()); err != nil {
					return err
				}
			}
			return nil
		}),
		both(Case{
			ID: "CR-09", Level: Must, Title: "a body of more than 3 MiB is refused",
			Why:    "the server must not run out of memory",
			Source: "apiserver server options, MaxRequestBodyBytes",
		}, func(ctx context.Context, s *session, c collection) error {
			return refusedBody(ctx, s, c, tooLarge(), "", entityTooLarge)
		}),
		both(Case{
			ID: "CR-09/chunked", Level: Must, Title: "a body of more than 3 MiB is refused, too, if it does not say how long it is",
			Why:    "the server must not run out of memory",
			Source: "apiserver server options, MaxRequestBodyBytes",
		}, func(ctx context.Context, s *session, c collection) error {
			text, err := json.Marshal(c.object("a"))
			if err != nil {
				return err
			}
			body := string(text) + strings.Repeat(" ", 3<<20) // what is too much means nothing
			if err := refusedBody(ctx, s, c, endless(body), "", entityTooLarge); err != nil {
				return err
			}
			return s.try(ctx, get(c.item("a")), code(404))
		}),
		[]Case{
			{
				ID: "CR-10/typed", Level: Must, Title: "an object that is too large for the storage is refused",
				Why:    "the client can tell it from an outage",
				Source: "etcd, --max-request-bytes", check: func(ctx context.Context, s *session) error {
					c, err := s.roles(ctx)
					if err != nil {
						return err
					}
					rule := object{"apiGroups": []string{""}, "resources": []string{"secrets"}, "resourceNames": []string{strings.Repeat("x", 2_000_000)}, "verbs": []string{"get"}}
					return s.try(ctx, post(c.path(), c.object("a").top("rules", []object{rule})), storageFull.check)
				},
			},
			onWidgets(Case{
				ID: "CR-10/custom", Level: Must, Title: "a custom resource that is too large for the storage is refused",
				Why:    "the client can tell it from an outage",
				Source: "etcd, --max-request-bytes",
			}, func(ctx context.Context, s *session, c collection) error {
				return s.try(ctx, post(c.path(), c.colored("a", strings.Repeat("x", 2_000_000))), storageFull.check)
			}),
		},
		both(Case{
			ID: "CR-18", Level: Should, Title: "an object that is too large only for its managedFields is stored without them",
			Why:    "the client knows nothing of them",
			Source: docCreateHandler,
		}, unmanaged),
	)
}

// The refusals of bodies, whatever the resource.
var (
	entityTooLarge = refusal{code: 413, reason: metav1.StatusReasonRequestEntityTooLarge, message: "Request entity too large: limit is 3145728"}
	storageFull    = refusal{code: 500, message: "etcdserver: request is too large"}
)

// unknownFormat is the refusal of a body of a media type that is not among these.
func unknownFormat(known ...string) refusal {
	return refusal{
		code: 415, reason: metav1.StatusReasonUnsupportedMediaType,
		message: "the body of the request was in an unknown format - accepted media types include: " + strings.Join(known, ", "),
	}
}

// unsupported is the refusal of the body of a create or an update. A server with CBOR reads that as well.
func (s *session) unsupported() expectation {
	known := []string{"application/json", inYAML, inProtobuf}
	return s.gated(CBORServingAndStorage, unknownFormat(known...), unknownFormat(append(known, inCBOR)...))
}

// tooLarge is a body of one byte more than a server reads. It is nothing but space, so that no client has to encode it.
func tooLarge() string { return strings.Repeat(" ", 3<<20+1) }

// refusedBody expects the body to be refused, in a create and in an update, which look at it before they look for the object.
func refusedBody(ctx context.Context, s *session, c collection, body any, contentType string, want refusal) error {
	return refusedWith(ctx, s, c, body, contentType, want.check)
}

// refusedWith is refusedBody for any expectation.
func refusedWith(ctx context.Context, s *session, c collection, body any, contentType string, want expectation) error {
	for _, one := range []call{post(c.path(), body), put(c.item("a"), body)} {
		one.contentType = contentType
		if err := s.try(ctx, one, want); err != nil {
			return err
		}
	}
	return nil
}

// foreignKind expects a typed resource to refuse this kind, which nobody knows.
func foreignKind(ctx context.Context, s *session, c collection, apiVersion, kind string) error {
	version := apiVersion[strings.LastIndex(apiVersion, "/")+1:]
	return refusedBody(ctx, s, c, newObject(apiVersion, kind, "a"), "", refusal{
		code: 400, reason: metav1.StatusReasonBadRequest,
		says: fmt.Sprintf("%s in version %q cannot be handled as a %s: no kind %q is registered for version %q in scheme ", kind, version, c.kind, kind, apiVersion),
	})
}

// foreignVersion expects a custom resource to refuse its kind in this version.
func foreignVersion(ctx context.Context, s *session, c collection, apiVersion string) error {
	return refusedBody(ctx, s, c, newObject(apiVersion, c.kind, "a"), "", refusal{
		code: 400, reason: metav1.StatusReasonBadRequest,
		message: fmt.Sprintf("the API version in the data (%s) does not match the expected API version (%s)", apiVersion, c.apiVersion),
	})
}

func untypedWidgets(ctx context.Context, s *session, c collection) error {
	for _, body := range []string{`{}`, `{"metadata":{"name":"a"}}`, `{"apiVersion":"` + c.apiVersion + `","metadata":{"name":"a"}}`} {
		err := refusedBody(ctx, s, c, body, "", refusal{
			code: 400, reason: metav1.StatusReasonBadRequest,
			says: "the object provided is unrecognized (must be of type Widget): Object 'Kind' is missing in '" + body + "'",
		})
		if err != nil {
			return err
		}
	}
	return foreignVersion(ctx, s, c, "")
}

func brokenBodies(ctx context.Context, s *session, c collection) error {
	whole := fmt.Sprintf(`{"apiVersion":%q,"kind":%q,"metadata":{"name":"a"}}`, c.apiVersion, c.kind)
	for _, one := range []struct{ body, says, shown string }{
		{"", "unexpected end of JSON input", "<empty>"},
		{" ", "unexpected end of JSON input", "20"},
		{`{"kind":`, "unexpected end of JSON input", `{"kind":`},
		{whole + " trailing", "invalid character 't' after top-level value", whole[:30] + " ..."},
		{`[]`, `json: cannot unmarshal array into Go value of type struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" }`, "5b5d"},
	} {
		err := refusedBody(ctx, s, c, one.body, "", refusal{
			code: 400, reason: metav1.StatusReasonBadRequest,
			message: fmt.Sprintf("the object provided is unrecognized (must be of type %s): couldn't get version/kind; json parse error: %s (%s)", c.kind, one.says, one.shown),
		})
		if err != nil {
			return err
		}
	}
	return s.try(ctx, get(c.item("a")), code(http.StatusNotFound))
}

// unmanaged creates an object that is mostly names of fields: a server that tracks who manages them has each of them twice.
func unmanaged(ctx context.Context, s *session, c collection) error {
	names, values := strings.Repeat("n", 240), object{}
	for i := range 3700 {
		values[fmt.Sprintf("%s%d", names, i)] = ""
	}
	field := "data"
	if c.resource == "widgets" {
		field = "spec"
	}
	slim := absent("metadata", "managedFields")
	o, err := s.object(ctx, post(c.path(), c.object("a").top(field, values)), code(201), slim)
	if err != nil {
		return err
	}
	for _, write := range []call{
		put(c.item("a"), c.object("a").meta("resourceVersion", o.ResourceVersion).label("put", "yes").top(field, values)),
		mergePatch(c.item("a"), object{"metadata": object{"labels": object{"patch": "yes"}}, field: object{names + "one-more": ""}}),
		get(c.item("a")),
	} {
		if err := s.try(ctx, write, code(200), slim); err != nil {
			return err
		}
	}
	return nil
}
