package fakeapi_test

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

// mortals are objects that end in different ways: at once, when a finalizer is gone, when a node has
// stopped it.
var mortals = []string{
	limitMaps + "/plain", limitMaps + "/held", "/api/v1/namespaces/default/pods/running", "/api/v1/namespaces/default/pods/pending",
	limitWidgets + "/w", "/api/v1/namespaces/other", limitMaps, "/api/v1/namespaces/default/pods",
}

// Whatever the options of a delete are, in the body or in the query, it is refused with a Status, or
// what it names is gone or marked, and everything else as it was. A dry run changes nothing, and
// preconditions are kept.
func FuzzDelete(f *testing.F) {
	for i, body := range []string{
		"", `{}`, `{"kind":"DeleteOptions","apiVersion":"v1","gracePeriodSeconds":0}`, `{"gracePeriodSeconds":-5}`, `{"gracePeriodSeconds":9223372036854775807}`,
		`{"preconditions":{"uid":"nobody"}}`, `{"preconditions":{"resourceVersion":"1"}}`, `{"preconditions":{}}`, `{"preconditions":{"uid":""}}`,
		`{"propagationPolicy":"Foreground"}`, `{"propagationPolicy":"Orphan","orphanDependents":true}`, `{"orphanDependents":true}`, `{"propagationPolicy":"x"}`,
		`{"dryRun":["All"]}`, `{"dryRun":["x"]}`, `{"dryRun":[]}`, `{"dryRun":null,"unknown":1}`, `{"kind":"DeleteOptions","apiVersion":"apps/v1"}`, `{"kind":"ConfigMap","apiVersion":"v1"}`,
		`{"ignoreStoreReadErrorWithClusterBreakingPotential":true}`, `{"ignoreStoreReadErrorWithClusterBreakingPotential":true,"gracePeriodSeconds":1}`, `[]`, `null`, `gracePeriodSeconds: 1`,
	} {
		for target := range mortals {
			f.Add(uint8(target), uint8(i%2), "", []byte(body))
		}
	}
	for i, query := range []string{"dryRun=All", "gracePeriodSeconds=0", "gracePeriodSeconds=x", "propagationPolicy=Background&dryRun=All", "orphanDependents=false", "labelSelector=a=b", "fieldSelector=metadata.name=plain", "limit=1"} {
		f.Add(uint8(i), uint8(0), query, []byte{})
		f.Add(uint8(6), uint8(0), query, []byte{})
		f.Add(uint8(6), uint8(3), query, []byte(item(f, map[string]any{"gracePeriodSeconds": int64(3)})))
	}
	base := baseOf(f,
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "other"}},
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "plain"}},
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "held", Finalizers: []string{"a/b"}}},
		podOf("running", func(p *corev1.Pod) { p.Spec.NodeName = "n" }), podOf("pending"))
	require.NoError(f, base.LoadManifests(fstest.MapFS{"w.yaml": {Data: []byte("apiVersion: shop.example.com/v1\nkind: Widget\nmetadata: {name: w, namespace: default}")}}))
	f.Fuzz(func(t *testing.T, target, media uint8, query string, body []byte) {
		path, sent := mortals[int(target)%len(mortals)], bodies[int(media)%len(bodies)]
		if _, err := http.NewRequest("DELETE", "http://server"+path+"?"+query, nil); err != nil {
			return
		}
		p := forkOf(t, base, fakeapi.WithoutControllers())
		there, before := p.everything(), p.revision()
		a := p.ask("DELETE", path+"?"+query, sent, inJSON, body)
		after := p.everything()
		opts, known := optionsOf(sent, query, body)
		if a.code >= http.StatusBadRequest {
			return // the probe has seen that nothing changed
		}
		dry := known && slices.Contains(opts.DryRun, metav1.DryRunAll)
		if dry || !known && before == p.revision() {
			require.Equal(t, before, p.revision())
			return
		}
		for self, object := range there {
			left := after[self]
			switch {
			case !(self == path || len(self) > len(path) && self[:len(path)+1] == path+"/"):
				require.Equal(t, object, left, "%s was not named", self)
			case left == nil || texts(left, "metadata")["deletionTimestamp"] != "":
				kept := known && opts.Preconditions != nil && opts.Preconditions.UID != nil && *opts.Preconditions.UID != types.UID(texts(object, "metadata")["uid"])
				require.False(t, kept, "%s has another uid", self)
			default: // a collection may have been selected of
				require.NotEqual(t, self, path, "it is still there")
				require.NotEmpty(t, query, "it is still there")
				require.Equal(t, object, left)
			}
		}
	})
}

// everything is what there is, by its path.
func (p probe) everything() map[string]map[string]any {
	p.t.Helper()
	all := map[string]map[string]any{}
	for _, collection := range []string{"/api/v1/namespaces", limitMaps, "/api/v1/namespaces/default/pods", limitWidgets} {
		for _, item := range itemsOf(p.ask("GET", collection, "", inJSON, nil).object) {
			all[collection+"/"+texts(item, "metadata")["name"]] = item
		}
	}
	return all
}

// optionsOf reads the options as apimachinery does; known is false for what only the server reads.
func optionsOf(media, query string, body []byte) (opts metav1.DeleteOptions, known bool) {
	if len(body) > 0 {
		return opts, (media == inJSON || media == inYAML) && yaml.Unmarshal(body, &opts) == nil
	}
	values, _ := url.ParseQuery(query)
	return opts, metainternal.ParameterCodec.DecodeParameters(values, metav1.SchemeGroupVersion, &opts) == nil
}
