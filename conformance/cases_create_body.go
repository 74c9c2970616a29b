package conformance

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// createBodyCases returns the cases about the kind, the syntax and the size of a body (CR-02 to
// CR-11, CR-18).
func createBodyCases() []Case {
	return slices.Concat(
		[]Case{
			onSecrets(Case{
				ID: "CR-02/typed", Level: Must, Title: "a body of another version than that of the URL is rejected",
				Why:    "it was written for another version",
				Source: docCreateHandler,
			}, func(ctx context.Context, s *session, c collection) error {
				return checkForeignKind(ctx, s, c, "v2", "Secret")
			}),
			{
				ID: "CR-02/served", Level: Must, Title: "a typed body of another served version is rejected",
				Why:    "the client learns that the URL is wrong",
				Source: docCreateHandler, check: func(ctx context.Context, s *session) error {
					const group = "autoscaling"
					if err := s.skipUnlessServed(ctx, group+"/v1", "horizontalpodautoscalers"); err != nil {
						return err
					}
					c, err := s.newCollection(ctx, collection{
						root: "/apis/" + group + "/v1", apiVersion: group + "/v1", group: group, kind: "HorizontalPodAutoscaler", resource: "horizontalpodautoscalers",
					}, nil)
					if err != nil {
						return err
					}
					return checkForeignVersion(ctx, s, c, group+"/v2")
				},
			},
			onSecrets(Case{
				ID: "CR-03/typed", Level: Must, Title: "a body of another group than that of the URL is rejected",
				Why:    "it was written for another resource",
				Source: docCreateHandler,
			}, func(ctx context.Context, s *session, c collection) error {
				return checkForeignKind(ctx, s, c, "wrong.example.com/v1", "Secret")
			}),
			onSecrets(Case{
				ID: "CR-04/typed", Level: Must, Title: "a body of another kind than that of the resource is rejected",
				Why:    "it was written for another resource",
				Source: docCreateHandler,
			}, func(ctx context.Context, s *session, c collection) error {
				if err := checkForeignKind(ctx, s, c, "v1", "Nonsense"); err != nil {
					return err
				}
				return expectBodyError(ctx, s, c, newObject("v1", "ConfigMap", "a"), "", failure{
					code: 400, reason: metav1.StatusReasonBadRequest, contains: `ConfigMap in version "v1" cannot be handled as a Secret: `,
				})
			}),
			onBasicCRs(Case{
				ID: "CR-02/custom", Level: Must, Title: "a body of another version than that of the URL is rejected, even if that version is served",
				Why:    "it was written for another version",
				Source: docCreateHandler,
			}, func(ctx context.Context, s *session, c collection) error {
				if err := checkForeignVersion(ctx, s, c, c.group+"/v2"); err != nil {
					return err
				}
				return checkForeignVersion(ctx, s, c, c.group+"/v1beta1")
			}),
			onBasicCRs(Case{
				ID: "CR-03/custom", Level: Must, Title: "a body of another group than that of the URL is rejected",
				Why:    "it was written for another resource",
				Source: docCreateHandler,
			}, func(ctx context.Context, s *session, c collection) error {
				return checkForeignVersion(ctx, s, c, "wrong.example.com/v1")
			}),
			onBasicCRs(Case{
				ID: "CR-04/custom", Level: Must, Title: "a body of another kind than that of the custom resource is invalid",
				Why:    "it was written for another resource",
				Source: "apiextensions-apiserver pkg/registry/customresource",
			}, func(ctx context.Context, s *session, c collection) error {
				return s.expect(ctx, post(c.path(), newObject(c.apiVersion, "Nonsense", "a")), failure{
					code: 422, reason: metav1.StatusReasonInvalid, details: &metav1.StatusDetails{Name: "a", Group: c.group, Kind: "Nonsense"},
					message: fmt.Sprintf("Nonsense.%s %q is invalid: kind: Invalid value: %q: must be Widget", c.group, "a", "Nonsense"),
					causes:  []metav1.StatusCause{{Type: metav1.CauseTypeFieldValueInvalid, Field: "kind", Message: "must be Widget"}},
				}.check)
			}),
			onSecrets(Case{
				ID: "CR-05/typed", Level: Must, Title: "a typed body may omit kind and apiVersion",
				Why:    "the URL determines both",
				Source: "API conventions, Types (Kinds)",
			}, func(ctx context.Context, s *session, c collection) error {
				for name, o := range sortedByKey(map[string]object{"both": {}, "version": {"kind": c.kind}, "kind": {"apiVersion": c.apiVersion}}) {
					o["metadata"] = object{"name": name}
					if err := s.expect(ctx, post(c.path(), o), code(201), kind(c.apiVersion, c.kind)); err != nil {
						return err
					}
				}
				return nil
			}),
			onBasicCRs(Case{
				ID: "CR-05/custom", Level: Must, Title: "a custom resource requires kind and apiVersion in the body",
				Why:    "kube-apiserver does not take them from the URL",
				Source: "apimachinery apis/meta/v1/unstructured",
			}, checkUntypedCR),
			onSecrets(Case{
				ID: "CR-11/typed", Level: Must, Title: "a value of another type than that of the field is rejected",
				Why:    "the client learns which field is wrong",
				Source: docCreateHandler,
			}, func(ctx context.Context, s *session, c collection) error {
				for _, o := range []object{c.object("a").with("type", 5), c.object("a").withLabel("a", "b").withMeta("labels", object{"a": 1})} {
					err := expectBodyError(ctx, s, c, o, "", failure{
						code: 400, reason: metav1.StatusReasonBadRequest,
						contains: `Secret in version "v1" cannot be handled as a Secret: json: cannot unmarshal number into Go struct field `,
					})
					if err != nil {
						return err
					}
				}
				return nil
			}),
			onBasicCRs(Case{
				ID: "CR-11/custom", Level: Must, Title: "a value of another type than that of the schema is invalid",
				Why:    "the client learns which field is wrong",
				Source: "apiextensions-apiserver pkg/apiserver/validation",
			}, func(ctx context.Context, s *session, c collection) error {
				o := c.object("a").with("spec", object{"color": 5})
				return s.expect(ctx, post(c.path(), o), c.invalid("a", metav1.CauseTypeTypeInvalid, "spec.color", "in body must be of type string: \"integer\""))
			}),
		},
		onBoth(Case{
			ID: "CR-06", Level: Must, Title: "an incomplete body is rejected, and quoted in the message",
			Why:    "the client sees what the server received",
			Source: docCreateHandler,
		}, checkMalformedBodies),
		onBoth(Case{
			ID: "CR-07", Level: Must, Title: "a body without a Content-Type is read as JSON",
			Why:    "simple clients do not set it",
			Source: "apiserver handlers/negotiation",
		}, func(ctx context.Context, s *session, c collection) error {
			withoutType := post(c.path(), c.object("a"))
			withoutType.contentType = noContentType
			return s.expect(ctx, withoutType, code(201), kind(c.apiVersion, c.kind))
		}),
		onBoth(Case{
			ID: "CR-08", Level: Must, Title: "a body of an unsupported media type is rejected, and the response lists the supported ones",
			Why:    "the client can choose another one",
			Source: "apiserver handlers/negotiation",
		}, func(ctx context.Context, s *session, c collection) error {
			for _, media := range []string{"text/plain", "application/xml", "application/jsonx", "nonsense"} {
				if err := expectBodyResponse(ctx, s, c, c.object("a"), media, s.isUnsupportedBody()); err != nil {
					return err
				}
			}
			return nil
		}),
		onBoth(Case{
			ID: "CR-09", Level: Must, Title: "a body of more than 3 MiB is rejected",
			Why:    "the server must not run out of memory",
			Source: "apiserver server options, MaxRequestBodyBytes",
		}, func(ctx context.Context, s *session, c collection) error {
			return expectBodyError(ctx, s, c, tooLargeBody(), "", entityTooLarge)
		}),
		onBoth(Case{
			ID: "CR-09/chunked", Level: Must, Title: "a body of more than 3 MiB is rejected even if its length is not declared",
			Why:    "the server must not run out of memory",
			Source: "apiserver server options, MaxRequestBodyBytes",
		}, func(ctx context.Context, s *session, c collection) error {
			text, err := json.Marshal(c.object("a"))
			if err != nil {
				return err
			}
			body := string(text) + strings.Repeat(" ", 3<<20) // the excess is white space
			if err := expectBodyError(ctx, s, c, chunkedBody(body), "", entityTooLarge); err != nil {
				return err
			}
			return s.expect(ctx, get(c.item("a")), code(404))
		}),
		[]Case{
			{
				ID: "CR-10/typed", Level: Must, Title: "an object that is too large for the storage is rejected, except in a dry run",
				Why:    "the client can distinguish it from an outage",
				Source: "etcd, --max-request-bytes", check: func(ctx context.Context, s *session) error {
					c, err := s.roles(ctx)
					if err != nil {
						return err
					}
					return checkTooLargeForStorage(ctx, s, c, func(size int) object {
						rule := object{"apiGroups": []string{""}, "resources": []string{"secrets"}, "resourceNames": []string{strings.Repeat("x", size)}, "verbs": []string{"get"}}
						return c.object("a").with("rules", []object{rule})
					})
				},
			},
			onBasicCRs(Case{
				ID: "CR-10/custom", Level: Must, Title: "a custom resource that is too large for the storage is rejected, except in a dry run",
				Why:    "the client can distinguish it from an outage",
				Source: "etcd, --max-request-bytes",
			}, func(ctx context.Context, s *session, c collection) error {
				return checkTooLargeForStorage(ctx, s, c, func(size int) object { return c.withColor("a", strings.Repeat("x", size)) })
			}),
		},
		onBoth(Case{
			ID: "CR-18", Level: Should, Title: "an object that only its managedFields make too large is stored without them",
			Why:    "the client does not control managedFields",
			Source: docCreateHandler,
		}, checkTooLargeManagedFields),
	)
}

// entityTooLarge is the failure of a body above the limit of the server.
var entityTooLarge = failure{code: 413, reason: metav1.StatusReasonRequestEntityTooLarge, message: "Request entity too large: limit is 3145728"}

// checkTooLargeForStorage creates objects of a size that etcd refuses, and of one that its client
// does not send. A dry run does not reach the storage.
func checkTooLargeForStorage(ctx context.Context, s *session, c collection, ofSize func(int) object) error {
	const refused, unsent = 2_000_000, 2_300_000
	tooLarge := regexp.MustCompile(`^rpc error: code = ResourceExhausted desc = trying to send message larger than max \(\d+ vs\. 2097152\)$`)
	return s.expectAll(ctx,
		send(post(c.path(), ofSize(refused)), failure{code: 500, message: "etcdserver: request is too large"}.check),
		send(post(c.path(), ofSize(unsent)), failure{code: 500}.check, matchesPattern(tooLarge, "message")),
		send(post(c.path()+"?dryRun=All", ofSize(refused)), code(201)),
		send(post(c.path()+"?dryRun=All", ofSize(unsent)), code(201)),
		send(get(c.item("a")), code(404)),
	)
}

// unsupportedMediaType is the failure of a body of another media type than these.
func unsupportedMediaType(known ...string) failure {
	return failure{
		code: 415, reason: metav1.StatusReasonUnsupportedMediaType,
		message: "the body of the request was in an unknown format - accepted media types include: " + strings.Join(known, ", "),
	}
}

// isUnsupportedBody expects that the media type of a create or an update is not supported. A server
// with CBOR supports CBOR, too.
func (s *session) isUnsupportedBody() expectation {
	known := []string{"application/json", mediaTypeYAML, mediaTypeProtobuf}
	return s.forFeature(CBORServingAndStorage, unsupportedMediaType(known...), unsupportedMediaType(append(known, mediaTypeCBOR)...))
}

// tooLargeBody returns a body of one byte more than the limit. It is white space, so that it needs
// no encoding.
func tooLargeBody() string { return strings.Repeat(" ", 3<<20+1) }

// expectBodyError expects that the body fails in a create and in an update, which decode it before
// they read the object.
func expectBodyError(ctx context.Context, s *session, c collection, body any, contentType string, want failure) error {
	return expectBodyResponse(ctx, s, c, body, contentType, want.check)
}

// expectBodyResponse is like expectBodyError, for any expectation.
func expectBodyResponse(ctx context.Context, s *session, c collection, body any, contentType string, want expectation) error {
	for _, one := range []call{post(c.path(), body), put(c.item("a"), body)} {
		one.contentType = contentType
		if err := s.expect(ctx, one, want); err != nil {
			return err
		}
	}
	return nil
}

// checkForeignKind expects that a typed resource rejects an unknown kind.
func checkForeignKind(ctx context.Context, s *session, c collection, apiVersion, kind string) error {
	version := apiVersion[strings.LastIndex(apiVersion, "/")+1:]
	return expectBodyError(ctx, s, c, newObject(apiVersion, kind, "a"), "", failure{
		code: 400, reason: metav1.StatusReasonBadRequest,
		contains: fmt.Sprintf("%s in version %q cannot be handled as a %s: no kind %q is registered for version %q in scheme ", kind, version, c.kind, kind, apiVersion),
	})
}

// checkForeignVersion expects that a custom resource rejects its kind in this version.
func checkForeignVersion(ctx context.Context, s *session, c collection, apiVersion string) error {
	return expectBodyError(ctx, s, c, newObject(apiVersion, c.kind, "a"), "", failure{
		code: 400, reason: metav1.StatusReasonBadRequest,
		message: fmt.Sprintf("the API version in the data (%s) does not match the expected API version (%s)", apiVersion, c.apiVersion),
	})
}

func checkUntypedCR(ctx context.Context, s *session, c collection) error {
	for _, body := range []string{`{}`, `{"metadata":{"name":"a"}}`, `{"apiVersion":"` + c.apiVersion + `","metadata":{"name":"a"}}`} {
		err := expectBodyError(ctx, s, c, body, "", failure{
			code: 400, reason: metav1.StatusReasonBadRequest,
			contains: "the object provided is unrecognized (must be of type Widget): Object 'Kind' is missing in '" + body + "'",
		})
		if err != nil {
			return err
		}
		// Without validation the decoder sets the kind of the resource before it reads the object.
		one := post(c.path(), body).withQuery("fieldValidation=Ignore")
		err = s.expect(ctx, one, failure{
			code: 400, reason: metav1.StatusReasonBadRequest,
			message: "Widget in version \"" + c.version() + "\" cannot be handled as a Widget: Object 'Kind' is missing in '" + body + "'",
		}.check)
		if err != nil {
			return err
		}
	}
	return checkForeignVersion(ctx, s, c, "")
}

func checkMalformedBodies(ctx context.Context, s *session, c collection) error {
	complete := fmt.Sprintf(`{"apiVersion":%q,"kind":%q,"metadata":{"name":"a"}}`, c.apiVersion, c.kind)
	for _, one := range []struct{ body, says, shown string }{
		{"", "unexpected end of JSON input", "<empty>"},
		{" ", "unexpected end of JSON input", "20"},
		{`{"kind":`, "unexpected end of JSON input", `{"kind":`},
		{complete + " trailing", "invalid character 't' after top-level value", complete[:30] + " ..."},
		{`[]`, `json: cannot unmarshal array into Go value of type struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" }`, "5b5d"},
	} {
		err := expectBodyError(ctx, s, c, one.body, "", failure{
			code: 400, reason: metav1.StatusReasonBadRequest,
			message: fmt.Sprintf("the object provided is unrecognized (must be of type %s): couldn't get version/kind; json parse error: %s (%s)", c.kind, one.says, one.shown),
		})
		if err != nil {
			return err
		}
	}
	return s.expect(ctx, get(c.item("a")), code(http.StatusNotFound))
}

// checkTooLargeManagedFields creates an object that consists mostly of field names, which
// managedFields repeat.
func checkTooLargeManagedFields(ctx context.Context, s *session, c collection) error {
	names, values := strings.Repeat("n", 240), object{}
	for i := range 3700 {
		values[fmt.Sprintf("%s%d", names, i)] = ""
	}
	field := "data"
	if c.resource == "widgets" {
		field = "spec"
	}
	slim := noField("metadata", "managedFields")
	o, err := s.doObject(ctx, post(c.path(), c.object("a").with(field, values)), code(201), slim)
	if err != nil {
		return err
	}
	for _, write := range []call{
		put(c.item("a"), c.object("a").withMeta("resourceVersion", o.ResourceVersion).withLabel("put", "yes").with(field, values)),
		mergePatch(c.item("a"), object{"metadata": object{"labels": object{"patch": "yes"}}, field: object{names + "one-more": ""}}),
		get(c.item("a")),
	} {
		if err := s.expect(ctx, write, code(200), slim); err != nil {
			return err
		}
	}
	return nil
}
