package fuzz_test

import (
	"net/http"
	"net/url"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metainternal "k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	fakeapi "example.com/fakeapi/fake"
)

// deletable are paths of objects that are deleted immediately, once they have no finalizers, or
// after a grace period, and of collections.
var deletable = []string{
	configMapsPath + "/plain", configMapsPath + "/held", "/api/v1/namespaces/default/pods/running", "/api/v1/namespaces/default/pods/pending",
	widgetsPath + "/w", "/api/v1/namespaces/other", configMapsPath, "/api/v1/namespaces/default/pods",
}

// A delete with any options, in the body or in the query, fails with a Status, or the objects of
// its path are removed or marked, and no others change. A dry run changes nothing, and
// preconditions are checked.
func FuzzDelete(f *testing.F) {
	for i, body := range []string{
		"", `{}`, `{"kind":"DeleteOptions","apiVersion":"v1","gracePeriodSeconds":0}`, `{"gracePeriodSeconds":-5}`, `{"gracePeriodSeconds":9223372036854775807}`,
		`{"preconditions":{"uid":"other"}}`, `{"preconditions":{"resourceVersion":"1"}}`, `{"preconditions":{}}`, `{"preconditions":{"uid":""}}`,
		`{"propagationPolicy":"Foreground"}`, `{"propagationPolicy":"Orphan","orphanDependents":true}`, `{"orphanDependents":true}`, `{"propagationPolicy":"x"}`,
		`{"dryRun":["All"]}`, `{"dryRun":["x"]}`, `{"dryRun":[]}`, `{"dryRun":null,"unknown":1}`, `{"kind":"DeleteOptions","apiVersion":"apps/v1"}`, `{"kind":"ConfigMap","apiVersion":"v1"}`,
		`{"ignoreStoreReadErrorWithClusterBreakingPotential":true}`, `{"ignoreStoreReadErrorWithClusterBreakingPotential":true,"gracePeriodSeconds":1}`, `[]`, `null`, `gracePeriodSeconds: 1`,
	} {
		for target := range deletable {
			f.Add(uint8(target), uint8(i%2), "", []byte(body))
		}
	}
	for i, query := range []string{"dryRun=All", "gracePeriodSeconds=0", "gracePeriodSeconds=x", "propagationPolicy=Background&dryRun=All", "orphanDependents=false", "labelSelector=a=b", "fieldSelector=metadata.name=plain", "limit=1"} {
		f.Add(uint8(i), uint8(0), query, []byte{})
		f.Add(uint8(6), uint8(0), query, []byte{})
		f.Add(uint8(6), uint8(3), query, encodeCBOR(f, map[string]any{"gracePeriodSeconds": int64(3)}))
	}
	base := newFuzzServer(f,
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "other"}},
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "plain"}},
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "held", Finalizers: []string{"a/b"}}},
		newPod("running", func(p *corev1.Pod) { p.Spec.NodeName = "n" }), newPod("pending"))
	require.NoError(f, base.LoadManifests(fstest.MapFS{"w.yaml": {Data: []byte("apiVersion: shop.example.com/v1\nkind: Widget\nmetadata: {name: w, namespace: default}")}}))
	f.Fuzz(func(t *testing.T, target, media uint8, query string, body []byte) {
		path, sent := deletable[int(target)%len(deletable)], bodies[int(media)%len(bodies)]
		if _, err := http.NewRequest("DELETE", "http://server"+path+"?"+query, nil); err != nil {
			return
		}
		p := newProbe(t, base, fakeapi.WithoutControllers())
		existing, before := p.listEverything(), p.revision()
		a := p.do("DELETE", path+"?"+query, sent, mediaJSON, body)
		after := p.listEverything()
		opts, known := decodeDeleteOptions(sent, query, body)
		if a.code >= http.StatusBadRequest {
			return // the probe has checked that nothing changed
		}
		dry := known && slices.Contains(opts.DryRun, metav1.DryRunAll)
		if dry || !known && before == p.revision() {
			require.Equal(t, before, p.revision())
			return
		}
		for self, object := range existing {
			left := after[self]
			switch {
			case !(self == path || len(self) > len(path) && self[:len(path)+1] == path+"/"):
				require.Equal(t, object, left, "%s is not at the path", self)
			case left == nil || stringsAt(left, "metadata")["deletionTimestamp"] != "":
				kept := known && opts.Preconditions != nil && opts.Preconditions.UID != nil && *opts.Preconditions.UID != types.UID(stringsAt(object, "metadata")["uid"])
				require.False(t, kept, "%s has another uid", self)
			default: // a selector may have excluded it
				require.NotEqual(t, self, path, "it was not deleted")
				require.NotEmpty(t, query, "it was not deleted")
				require.Equal(t, object, left)
			}
		}
	})
}

// listEverything returns all objects by path.
func (p probe) listEverything() map[string]map[string]any {
	p.t.Helper()
	all := map[string]map[string]any{}
	for _, collection := range []string{"/api/v1/namespaces", configMapsPath, "/api/v1/namespaces/default/pods", widgetsPath} {
		for _, item := range listItems(p.do("GET", collection, "", mediaJSON, nil).object) {
			all[collection+"/"+stringsAt(item, "metadata")["name"]] = item
		}
	}
	return all
}

// decodeDeleteOptions decodes the options as apimachinery does. known is false if only the server
// can.
func decodeDeleteOptions(media, query string, body []byte) (opts metav1.DeleteOptions, known bool) {
	if len(body) > 0 {
		return opts, (media == mediaJSON || media == mediaYAML) && yaml.Unmarshal(body, &opts) == nil
	}
	values, _ := url.ParseQuery(query)
	return opts, metainternal.ParameterCodec.DecodeParameters(values, metav1.SchemeGroupVersion, &opts) == nil
}
