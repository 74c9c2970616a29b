package core

import (
	"testing"

	"example.com/fakeapi/fake/internal/resource/validate/validatetest"
)

func TestValidateProjectedVolumes(t *testing.T) {
	const at = "spec.volumes[0].projected"
	requireErrors(t, `spec: {serviceAccountName: s, containers: [{name: a, image: i}], volumes: [{name: v, projected: {%s}}]}`, []validationCase{
		{`sources: [{}, {secret: {name: Any}}, {configMap: {name: Any, items: [{key: k, path: a}]}}, {serviceAccountToken: {path: a, expirationSeconds: 4294967296}}]`, nil},
		{`defaultMode: 512, sources: [{secret: {items: [{}]}, configMap: {}}]`, []string{
			at + ".defaultMode: Invalid value: 512: must be a number between 0 and 0777 (octal), both inclusive",
			at + ".sources[0].secret.name: Required value",
			at + ".sources[0].secret.items[0].key: Required value",
			at + ".sources[0].secret.items[0].path: Required value",
			at + ".sources[0].configMap.name: Required value",
			at + ".sources[0]: Forbidden: may not specify more than 1 volume type per source",
		}},
		{`sources: [{secret: {name: s}, downwardAPI: {}}, {configMap: {name: c}, serviceAccountToken: {path: a}}, {downwardAPI: {}, clusterTrustBundle: {path: b, name: b}}, {serviceAccountToken: {path: c}, podCertificate: {signerName: a.b/c, keyType: RSA3072, credentialBundlePath: d}}]`, []string{
			at + ".sources[0]: Forbidden: may not specify more than 1 volume type per source",
			at + ".sources[1]: Forbidden: may not specify more than 1 volume type per source",
			at + ".sources[2]: Forbidden: may not specify more than 1 volume type per source",
			at + ".sources[3]: Forbidden: may not specify more than 1 volume type per source",
		}},
		{`sources: [{secret: {name: s, items: [{key: k, path: a}, {key: l, path: a}]}}, {configMap: {name: c, items: [{key: k, path: a}]}}, {downwardAPI: {items: [{path: a, fieldRef: {fieldPath: metadata.uid}}, {path: b}]}}]`, []string{
			at + `: Invalid value: "s": conflicting duplicate paths`,
			at + `: Invalid value: "c": conflicting duplicate paths`,
			at + `: Invalid value: "a": conflicting duplicate paths`,
			at + ".sources[2].downwardAPI: Required value: one of fieldRef and resourceFieldRef is required",
		}},
		{`sources: [{serviceAccountToken: {path: "", expirationSeconds: 599}}, {serviceAccountToken: {path: /a, expirationSeconds: 4294967297}}]`, []string{
			at + ".sources[0].serviceAccountToken.expirationSeconds: Invalid value: 599: may not specify a duration less than 10 minutes",
			at + ".path: Required value",
			at + ".sources[1].serviceAccountToken.expirationSeconds: Invalid value: 4294967297: may not specify a duration larger than 2^32 seconds",
			at + `.path: Invalid value: "/a": must be a relative path`,
		}},
	})
	requireErrors(t, `spec: {containers: [{name: a, image: i}], volumes: [{name: v}, {name: w, projected: {%s}}]}`, []validationCase{
		{`sources: [{secret: {name: s}}, {serviceAccountToken: {path: t}}]`, []string{
			"spec.volumes[1].projected.sources[1].serviceAccountToken: Forbidden: must not be specified when serviceAccountName is not set",
		}},
	})
}

func TestValidateProjectedTrustBundles(t *testing.T) {
	const at = "spec.volumes[0].projected.sources[0].clusterTrustBundle"
	requireErrors(t, `spec: {containers: [{name: a, image: i}], volumes: [{name: v, projected: {sources: [{clusterTrustBundle: {%s}}]}}]}`, []validationCase{
		{`path: a, name: "example.com:a:b.c"`, nil},
		{`path: a, signerName: example.com/a, labelSelector: {matchLabels: {a: b}}`, nil},
		{`path: ""`, []string{at + ": Required value: either name or signerName must be specified", at + ".path: Required value"}},
		{`path: ../a, name: b, signerName: c.d/e`, []string{
			at + `: Invalid value: {"Name":"b","SignerName":"c.d/e","LabelSelector":null,"Optional":null,"Path":"../a","User":null}: only one of name and signerName may be used`,
			at + `.path: Invalid value: "../a": must not contain '..'`,
		}},
		{`path: a, name: "", labelSelector: {}`, []string{
			at + ".name: Required value: must be a valid object name",
			at + `.name: Invalid value: "": not a valid clustertrustbundlename: ` + validatetest.BadSubdomain,
			at + `.labelSelector: Invalid value: {}: labelSelector must be unset if name is specified`,
		}},
		{`path: a, name: ":b"`, []string{at + `.name: Invalid value: ":b": not a valid clustertrustbundlename: ClusterTrustBundle without signer name must not have ":" in its name`}},
		{`path: a, name: "a/b:c"`, []string{at + `.name: Invalid value: "a/b:c": not a valid clustertrustbundlename: ClusterTrustBundle for signerName a/b must be named with prefix a:b:`}},
		{`path: a, signerName: "", labelSelector: {matchLabels: {"": b}}`, []string{
			at + ".signerName: Required value: must be a valid signer name",
			at + ".signerName: Required value",
			at + ".labelSelector.matchLabels: Invalid value: \"\": name part must be non-empty",
			at + ".labelSelector.matchLabels: Invalid value: \"\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
		}},
		{`path: a, signerName: a.b/c}}, {clusterTrustBundle: {path: a, name: a`, []string{
			`spec.volumes[0].projected: Invalid value: "a": conflicting duplicate paths`,
		}},
	})
}

func TestValidateProjectedCertificates(t *testing.T) {
	const at = "spec.volumes[0].projected.sources[0].podCertificate"
	requireErrors(t, `spec: {containers: [{name: a, image: i}], volumes: [{name: v, projected: {sources: [{podCertificate: {%s}}]}}]}`, []validationCase{
		{`signerName: a.b/c, keyType: ED25519, credentialBundlePath: a, userAnnotations: {A.b/C: any}, maxExpirationSeconds: 7862400`, nil},
		{`signerName: kubernetes.io/c, keyType: RSA3072, keyPath: a, certificateChainPath: b, maxExpirationSeconds: 86400`, nil},
		{`signerName: a, keyType: RSA, maxExpirationSeconds: 3599`, []string{
			at + `.signerName: Invalid value: "a": must be a fully qualified domain and path of the form 'example.com/signer-name'`,
			at + `.keyType: Unsupported value: "RSA": supported values: "RSA3072", "RSA4096", "ECDSAP256", "ECDSAP384", "ECDSAP521", "ED25519"`,
			at + ".maxExpirationSeconds: Invalid value: 3599: if provided, maxExpirationSeconds must be >= 3600",
			at + ": Required value: specify at least one of credentialBundlePath, keyPath, and certificateChainPath",
		}},
		{`signerName: a.kubernetes.io/b, keyType: RSA4096, maxExpirationSeconds: 86401, credentialBundlePath: /a, keyPath: ..b, certificateChainPath: /a`, []string{
			at + ".maxExpirationSeconds: Invalid value: 86401: if provided, maxExpirationSeconds must be <= 86400",
			at + `.credentialBundlePath: Invalid value: "/a": must be a relative path`,
			at + `.keyPath: Invalid value: "..b": must not start with '..'`,
			at + `.certificateChainPath: Invalid value: "/a": must be a relative path`,
			`spec.volumes[0].projected: Invalid value: "/a": conflicting duplicate paths`,
		}},
		{`signerName: a.b/c, keyType: RSA4096, maxExpirationSeconds: 7862401, keyPath: a`, []string{
			at + ".maxExpirationSeconds: Invalid value: 7862401: if provided, maxExpirationSeconds must be <= 7862400",
		}},
	})
}
