package page_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/client-go/kubernetes/scheme"

	"example.com/fakeapi/fake/internal/timeline"
	"example.com/fakeapi/fake/internal/timeline/page"
	"example.com/fakeapi/internal/frames"
)

// renderedPage is a page, parsed as a browser parses it.
type renderedPage struct {
	t    *testing.T
	text string
	root *html.Node
}

func render(t *testing.T, tl timeline.Timeline, title string) renderedPage {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, page.Write(&b, tl, title))
	root, err := html.Parse(bytes.NewReader(b.Bytes()))
	require.NoError(t, err)
	return renderedPage{t, b.String(), root}
}

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

func content(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			b.WriteString(d.Data)
		}
	}
	return b.String()
}

// all returns the elements with a tag name.
func (s renderedPage) all(tag string) (found []*html.Node) {
	for n := range s.root.Descendants() {
		if n.Type == html.ElementNode && n.Data == tag {
			found = append(found, n)
		}
	}
	return found
}

func (s renderedPage) byID(id string) *html.Node {
	s.t.Helper()
	for n := range s.root.Descendants() {
		if n.Type == html.ElementNode && attribute(n, "id") == id {
			return n
		}
	}
	require.Fail(s.t, "no element", id)
	return nil
}

type decodedMark struct {
	Lane     int    `json:"l"`
	Column   int    `json:"c"`
	Shape    string `json:"s"`
	Text     string `json:"x"`
	Name     string `json:"m"`
	Group    string `json:"k"`
	Object   string `json:"o"`
	Exchange int    `json:"i"`
	Request  int    `json:"q"`
	Answer   int    `json:"a"`
	Hits     []int  `json:"f"`
	Expected bool   `json:"e"`
}

type decodedPage struct {
	Start int
	Open  bool
	Lanes []struct {
		Client, Watch, Label string
		Notes, Empty         bool
	} `json:"lanes"`
	Marks []decodedMark `json:"marks"`
	Spans []struct {
		Lane  int `json:"l"`
		From  int `json:"c"`
		Until int `json:"u"`
	} `json:"spans"`
	Hits []struct{ Name, Rule string } `json:"hits"`
}

// data returns the decoded data of the page's script.
func (s renderedPage) data() (decoded decodedPage) {
	s.t.Helper()
	require.NoError(s.t, json.Unmarshal([]byte(content(s.byID("data"))), &decoded))
	return decoded
}

// find returns the only mark whose text has all the words.
func (s decodedPage) find(t *testing.T, words ...string) decodedMark {
	t.Helper()
	var found []decodedMark
	for _, m := range s.Marks {
		has := true
		for _, w := range words {
			has = has && strings.Contains(m.Text, w)
		}
		if has {
			found = append(found, m)
		}
	}
	require.Len(t, found, 1, words)
	return found[0]
}

type decodedBody struct {
	Media, Text, Bytes string
	Size               int64
	Kept               int
	JSON               bool
}

func (s renderedPage) body(n int) (b decodedBody) {
	s.t.Helper()
	lines := strings.Split(content(s.byID("bodies")), "\n")
	require.Greater(s.t, len(lines), n-1)
	require.NoError(s.t, json.Unmarshal([]byte(lines[n-1]), &b))
	return b
}

var start = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// newTimeline returns a timeline of one request and its response.
func newTimeline(request, answer timeline.Body) timeline.Timeline {
	return timeline.Timeline{Begin: start, End: start.Add(time.Second), Exchanges: []timeline.Exchange{{
		Seq: 1, Begin: start, End: start.Add(time.Millisecond), UserAgent: "c", Method: "POST", Verb: "create",
		Path: "/api/v1/namespaces/default/configmaps", StatusCode: 201, ResourceVersion: "7", Request: request, Response: answer,
	}}}
}

func newBody(media, data string) timeline.Body {
	return timeline.Body{ContentType: media, Data: []byte(data), Size: int64(len(data))}
}

func TestPageStructure(t *testing.T) {
	tl := newOutageTimeline(t)
	page := render(t, tl, "TestOutage/informer")
	require.True(t, strings.HasPrefix(page.text, "<!doctype html>\n"))
	require.Equal(t, "TestOutage/informer", content(page.all("title")[0]))
	require.Equal(t, "TestOutage/informer", content(page.all("h1")[0]))
	require.Equal(t, "en", attribute(page.all("html")[0], "lang"))

	// The page has no external references.
	for n := range page.root.Descendants() {
		for _, a := range n.Attr {
			switch a.Key {
			case "src", "srcset", "action", "style", "data":
				require.Fail(t, "attribute", "%s of <%s>", a.Key, n.Data)
			case "href":
				require.True(t, strings.HasPrefix(a.Val, "#") || a.Val == "data:,", a.Val)
			}
			require.False(t, strings.HasPrefix(a.Key, "on"), a.Key)
		}
	}

	// The table has a row for each request, without a script.
	rows := 0
	for n := range page.byID("rows").Descendants() {
		if n.Type == html.ElementNode && n.Data == "tr" && attribute(n, "id") != "" {
			e := tl.Exchanges[rows]
			require.Equal(t, fmt.Sprintf("e%d", e.Seq), attribute(n, "id"))
			require.Contains(t, content(n), e.Path)
			rows++
		}
	}
	require.Equal(t, len(tl.Exchanges), rows)
	for _, h := range tl.Hits {
		require.Contains(t, content(page.byID("table")), h.Rule.String())
	}
}

func TestPageIsDeterministic(t *testing.T) {
	tl := newOutageTimeline(t)
	require.Equal(t, render(t, tl, "x").text, render(t, tl, "x").text)
	require.NotEqual(t, render(t, tl, "x").text, render(t, tl, "y").text)
}

func TestEmptyPage(t *testing.T) {
	page := render(t, timeline.Timeline{Begin: start, End: start}, "")
	require.Empty(t, page.data().Marks)
	require.NotContains(t, content(page.byID("data")), "null")
}

// The policy has the hashes of the page's scripts and style sheet.
func TestPagePolicy(t *testing.T) {
	page := render(t, newOutageTimeline(t), "x")
	var policy string
	for _, n := range page.all("meta") {
		if attribute(n, "http-equiv") == "Content-Security-Policy" {
			policy = attribute(n, "content")
		}
	}
	require.Contains(t, policy, "default-src 'none'; ")
	require.NotContains(t, policy, "unsafe")
	hash := func(n *html.Node) string {
		sum := sha256.Sum256([]byte(content(n)))
		return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	scripts := 0
	for _, n := range page.all("script") {
		if attribute(n, "type") == "" {
			scripts++
			require.Contains(t, policy, hash(n))
			require.True(t, strings.HasPrefix(content(n), `"use strict";`))
		}
	}
	require.Equal(t, 2, scripts)
	require.Len(t, page.all("style"), 1)
	require.Contains(t, policy, "style-src "+hash(page.all("style")[0]))
}

// hostileTexts has texts that a client may send to break out of the page's data.
var hostileTexts = []string{
	`</script><script>alert(1)</script>`,
	`<!--<script>`,
	`--></script>`,
	`]]></style><img src=x onerror=alert(1)>`,
	"line\u2028separator\u2029",
	`{{.Title}}${alert(1)}` + "`",
	`"'&lt;\u003c/script>`,
	`{"a":"</script>","b":["<!--"]}`,
	"\r\n\t\x01\x7f",
}

func TestPageEscapesTexts(t *testing.T) {
	want := len(render(t, newTimeline(newBody("a", "b"), newBody("a", "b")), "x").all("script"))
	for _, text := range hostileTexts {
		tl := newTimeline(newBody(text, text), newBody("text/plain", text))
		e := &tl.Exchanges[0]
		e.UserAgent, e.Path, e.ResourceVersion, e.Method, e.Verb = text, "/api/v1/pods/"+text+"?labelSelector="+text, text, text, text
		e.Frames = []timeline.Frame{{Time: start, Type: text, Namespace: text, Name: text, ResourceVersion: text, Body: newBody(text, text+" ")}}
		e.Admission = []timeline.AdmissionDecision{{
			Plugin: text, Configuration: text, Name: text, Operation: text, Object: text, Outcome: text, Message: text, Warnings: []string{text},
			Changes: []timeline.AdmissionChange{{Op: text, Path: text, Value: text}}, AuditAnnotations: map[string]string{text: text},
		}}
		page := render(t, tl, text)
		require.Len(t, page.all("script"), want, text)
		require.Empty(t, page.all("img"), text)
		data := page.data()
		require.Equal(t, text, page.body(data.Marks[0].Request).Text, "it is what was sent")
		require.Contains(t, data.Marks[0].Text, text)
		for _, data := range []string{content(page.byID("data")), content(page.byID("bodies"))} {
			require.NotContains(t, data, "<")
			require.NotContains(t, data, "\u2028")
		}
	}
}

func TestPageShowsBinaryBodies(t *testing.T) {
	every := make([]byte, 256)
	for i := range every {
		every[i] = byte(i)
	}
	for _, data := range []string{string(every), "\xff\xfe</script>", "valid\x00zero", "k8s\x00broken", "\xed\xa0\x80"} {
		page := render(t, newTimeline(newBody("application/vnd.kubernetes.protobuf", data), timeline.Body{}), "x")
		b := page.body(page.data().Marks[0].Request)
		got, err := base64.StdEncoding.DecodeString(b.Bytes)
		require.NoError(t, err)
		require.Equal(t, data, string(got))
		require.Empty(t, b.Text)
		require.EqualValues(t, len(data), b.Size)
	}
}

func TestPageDecodesProtobuf(t *testing.T) {
	var whole bytes.Buffer
	object := &corev1.ConfigMap{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}, ObjectMeta: metav1.ObjectMeta{Name: "a"}, Data: map[string]string{"k": "</script>"}}
	require.NoError(t, protobuf.NewSerializer(scheme.Scheme, scheme.Scheme).Encode(object, &whole))
	body := newBody(runtime.ContentTypeProtobuf, whole.String())
	page := render(t, newTimeline(body, timeline.Body{ContentType: body.ContentType, Data: body.Data[:20], Size: body.Size}), "x")
	m := page.data().Marks[0]
	require.Equal(t, "a", m.Name, "the name of what is created stands in the body")

	b := page.body(m.Request)
	require.True(t, b.JSON)
	require.Contains(t, b.Text, `"kind":"ConfigMap"`)
	require.NotEmpty(t, b.Bytes, "what was sent is shown too")

	cut := page.body(m.Answer)
	require.Empty(t, cut.Text, "what was cut off cannot be decoded")
	require.Equal(t, 20, cut.Kept)
	require.Equal(t, body.Size, cut.Size)

	event := metav1.WatchEvent{Type: "ADDED", Object: runtime.RawExtension{Raw: whole.Bytes()}}
	raw, err := event.Marshal()
	require.NoError(t, err)
	framed := append([]byte{0, 0, byte(len(raw) >> 8), byte(len(raw))}, raw...)
	tl := newTimeline(body, timeline.Body{})
	e := &tl.Exchanges[0]
	e.Method, e.Verb, e.Path, e.StatusCode = "GET", "watch", "/api/v1/configmaps?watch=1", 200
	e.Frames = []timeline.Frame{{Time: start, Type: "ADDED", Name: "a", ResourceVersion: "3", Body: newBody(runtime.ContentTypeProtobuf, string(framed))}}
	page = render(t, tl, "x")
	inFrame := page.body(page.data().find(t, "ADDED").Answer)
	require.Equal(t, b.Text, inFrame.Text, "the object, without its envelope")
	require.EqualValues(t, whole.Len(), inFrame.Size)

	e.Frames[0].Body.Data = framed[:len(framed)-5]
	page = render(t, tl, "x")
	torn := page.body(page.data().find(t, "ADDED").Answer)
	require.Empty(t, torn.Text)
	require.EqualValues(t, len(framed), torn.Size)
}

func TestPageDecodesCBOR(t *testing.T) {
	item, err := direct.Marshal(map[string]any{"kind": "ConfigMap", "metadata": map[string]any{"name": "a"}})
	require.NoError(t, err)
	data := frames.CBORSelfDescribedTag + string(item)
	for _, media := range []string{runtime.ContentTypeCBOR, runtime.ContentTypeCBORSequence, "application/apply-patch+cbor"} {
		page := render(t, newTimeline(newBody(media, data), timeline.Body{}), "x")
		b := page.body(page.data().Marks[0].Request)
		require.True(t, b.JSON, media)
		require.JSONEq(t, `{"kind":"ConfigMap","metadata":{"name":"a"}}`, b.Text)
		require.NotEmpty(t, b.Bytes)
	}

	event, err := direct.Marshal(&metav1.WatchEvent{Type: "ADDED", Object: runtime.RawExtension{Raw: []byte(data)}})
	require.NoError(t, err)
	tl := newTimeline(timeline.Body{}, timeline.Body{})
	e := &tl.Exchanges[0]
	e.Method, e.Verb, e.Path, e.StatusCode = "GET", "watch", "/api/v1/configmaps?watch=1", 200
	e.Frames = []timeline.Frame{{Time: start, Type: "ADDED", Name: "a", Body: newBody(runtime.ContentTypeCBORSequence, frames.CBORSelfDescribedTag+string(event))}}
	page := render(t, tl, "x")
	inFrame := page.body(page.data().find(t, "ADDED").Answer)
	require.JSONEq(t, `{"kind":"ConfigMap","metadata":{"name":"a"}}`, inFrame.Text, "the object, without its event")
}

// Distinct bodies are stored once each.
func TestPageStoresEachBodyOnce(t *testing.T) {
	tl := newTimeline(newBody("application/json", `{"a":1}`), newBody("application/json", `{"a":1}`))
	m := render(t, tl, "x").data().Marks[0]
	require.Equal(t, m.Request, m.Answer)
	tl = newTimeline(newBody("application/json", `{"a":1}`), newBody("application/yaml", `{"a":1}`))
	m = render(t, tl, "x").data().Marks[0]
	require.NotEqual(t, m.Request, m.Answer)
	m = render(t, newTimeline(timeline.Body{}, newBody("text/plain", "x")), "x").data().Marks[0]
	require.Zero(t, m.Request)
}

type failingWriter struct{}

func (failingWriter) Write([]byte) (int, error) { return 0, fmt.Errorf("the disk is full") }

func TestPageReportsFailedWrite(t *testing.T) {
	require.ErrorContains(t, page.Write(failingWriter{}, timeline.Timeline{}, "x"), "the disk is full")
}
