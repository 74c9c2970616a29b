package timeline_test

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
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/client-go/kubernetes/scheme"

	"example.com/fakeapi/fake/internal/timeline"
)

// shown is a page, parsed as a browser would.
type shown struct {
	t    *testing.T
	text string
	root *html.Node
}

func show(t *testing.T, told timeline.Timeline, title string) shown {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, told.WriteHTML(&b, title))
	root, err := html.Parse(bytes.NewReader(b.Bytes()))
	require.NoError(t, err)
	return shown{t, b.String(), root}
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

// all gives the elements of a name.
func (s shown) all(tag string) (found []*html.Node) {
	for n := range s.root.Descendants() {
		if n.Type == html.ElementNode && n.Data == tag {
			found = append(found, n)
		}
	}
	return found
}

func (s shown) byID(id string) *html.Node {
	s.t.Helper()
	for n := range s.root.Descendants() {
		if n.Type == html.ElementNode && attribute(n, "id") == id {
			return n
		}
	}
	require.Fail(s.t, "no element", id)
	return nil
}

type markOf struct {
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
}

type storyOf struct {
	Lanes []struct{ Client, Watch, Label string } `json:"lanes"`
	Marks []markOf                                `json:"marks"`
	Spans []struct {
		Lane  int `json:"l"`
		From  int `json:"c"`
		Until int `json:"u"`
	} `json:"spans"`
	Hits []struct{ Name, Rule string } `json:"hits"`
}

// story is what the page's script is given.
func (s shown) story() (told storyOf) {
	s.t.Helper()
	require.NoError(s.t, json.Unmarshal([]byte(content(s.byID("story"))), &told))
	return told
}

// find is the one mark of which the sentence has all the words.
func (s storyOf) find(t *testing.T, words ...string) markOf {
	t.Helper()
	var found []markOf
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

type bodyOfPage struct {
	Media, Text, Bytes string
	Size               int64
	Kept               int
	JSON               bool
}

func (s shown) body(n int) (b bodyOfPage) {
	s.t.Helper()
	lines := strings.Split(content(s.byID("bodies")), "\n")
	require.Greater(s.t, len(lines), n-1)
	require.NoError(s.t, json.Unmarshal([]byte(lines[n-1]), &b))
	return b
}

var start = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// one is a timeline of a single request with its answer.
func one(request, answer timeline.Body) timeline.Timeline {
	return timeline.Timeline{Begin: start, End: start.Add(time.Second), Exchanges: []timeline.Exchange{{
		Seq: 1, Begin: start, End: start.Add(time.Millisecond), UserAgent: "c", Method: "POST", Verb: "create",
		Path: "/api/v1/namespaces/default/configmaps", StatusCode: 201, ResourceVersion: "7", Request: request, Response: answer,
	}}}
}

func sent(media, data string) timeline.Body {
	return timeline.Body{ContentType: media, Data: []byte(data), Size: int64(len(data))}
}

func TestPageStructure(t *testing.T) {
	told := outage(t)
	page := show(t, told, "TestOutage/informer")
	require.True(t, strings.HasPrefix(page.text, "<!doctype html>\n"))
	require.Equal(t, "TestOutage/informer", content(page.all("title")[0]))
	require.Equal(t, "TestOutage/informer", content(page.all("h1")[0]))
	require.Equal(t, "en", attribute(page.all("html")[0], "lang"))

	// Nothing is fetched: there is no address but those within the page.
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

	// The table has each request, and needs no script.
	rows := 0
	for n := range page.byID("rows").Descendants() {
		if n.Type == html.ElementNode && n.Data == "tr" && attribute(n, "id") != "" {
			e := told.Exchanges[rows]
			require.Equal(t, fmt.Sprintf("e%d", e.Seq), attribute(n, "id"))
			require.Contains(t, content(n), e.Path)
			rows++
		}
	}
	require.Equal(t, len(told.Exchanges), rows)
	for _, h := range told.Hits {
		require.Contains(t, content(page.byID("table")), h.Rule.String())
	}
}

func TestPageIsTheSameEachTime(t *testing.T) {
	told := outage(t)
	require.Equal(t, show(t, told, "x").text, show(t, told, "x").text)
	require.NotEqual(t, show(t, told, "x").text, show(t, told, "y").text)
}

func TestPageOfNothing(t *testing.T) {
	page := show(t, timeline.Timeline{Begin: start, End: start}, "")
	require.Empty(t, page.story().Marks)
	require.NotContains(t, content(page.byID("story")), "null")
}

// The policy names the scripts and the style sheet by their hashes, as they stand
// in the page.
func TestPagePolicy(t *testing.T) {
	page := show(t, outage(t), "x")
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

// hostile is what a client may send to get out of the page's data.
var hostile = []string{
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

func TestPageHoldsHostileTexts(t *testing.T) {
	want := len(show(t, one(sent("a", "b"), sent("a", "b")), "x").all("script"))
	for _, text := range hostile {
		told := one(sent(text, text), sent("text/plain", text))
		e := &told.Exchanges[0]
		e.UserAgent, e.Path, e.ResourceVersion, e.Method, e.Verb = text, "/api/v1/pods/"+text+"?labelSelector="+text, text, text, text
		e.Frames = []timeline.Frame{{Time: start, Type: text, Namespace: text, Name: text, ResourceVersion: text, Body: sent(text, text+" ")}}
		page := show(t, told, text)
		require.Len(t, page.all("script"), want, text)
		require.Empty(t, page.all("img"), text)
		story := page.story()
		require.Equal(t, text, page.body(story.Marks[0].Request).Text, "it is what was sent")
		require.Contains(t, story.Marks[0].Text, text)
		for _, data := range []string{content(page.byID("story")), content(page.byID("bodies"))} {
			require.NotContains(t, data, "<")
			require.NotContains(t, data, "\u2028")
		}
	}
}

func TestPageHoldsAnyBytes(t *testing.T) {
	every := make([]byte, 256)
	for i := range every {
		every[i] = byte(i)
	}
	for _, data := range []string{string(every), "\xff\xfe</script>", "valid\x00zero", "k8s\x00broken", "\xed\xa0\x80"} {
		page := show(t, one(sent("application/vnd.kubernetes.protobuf", data), timeline.Body{}), "x")
		b := page.body(page.story().Marks[0].Request)
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
	body := sent(runtime.ContentTypeProtobuf, whole.String())
	page := show(t, one(body, timeline.Body{ContentType: body.ContentType, Data: body.Data[:20], Size: body.Size}), "x")
	m := page.story().Marks[0]
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
	told := one(body, timeline.Body{})
	e := &told.Exchanges[0]
	e.Method, e.Verb, e.Path, e.StatusCode = "GET", "watch", "/api/v1/configmaps?watch=1", 200
	e.Frames = []timeline.Frame{{Time: start, Type: "ADDED", Name: "a", ResourceVersion: "3", Body: sent(runtime.ContentTypeProtobuf, string(framed))}}
	page = show(t, told, "x")
	inFrame := page.body(page.story().find(t, "ADDED").Answer)
	require.Equal(t, b.Text, inFrame.Text, "the object, without its envelope")
	require.EqualValues(t, whole.Len(), inFrame.Size)

	e.Frames[0].Body.Data = framed[:len(framed)-5]
	page = show(t, told, "x")
	torn := page.body(page.story().find(t, "ADDED").Answer)
	require.Empty(t, torn.Text)
	require.EqualValues(t, len(framed), torn.Size)
}

// What differs is kept; what is the same is kept once.
func TestPageKeepsABodyOnce(t *testing.T) {
	told := one(sent("application/json", `{"a":1}`), sent("application/json", `{"a":1}`))
	m := show(t, told, "x").story().Marks[0]
	require.Equal(t, m.Request, m.Answer)
	told = one(sent("application/json", `{"a":1}`), sent("application/yaml", `{"a":1}`))
	m = show(t, told, "x").story().Marks[0]
	require.NotEqual(t, m.Request, m.Answer)
	m = show(t, one(timeline.Body{}, sent("text/plain", "x")), "x").story().Marks[0]
	require.Zero(t, m.Request)
}

type failingWriter struct{}

func (failingWriter) Write([]byte) (int, error) { return 0, fmt.Errorf("the disk is full") }

func TestPageTellsOfAFailedWrite(t *testing.T) {
	require.ErrorContains(t, timeline.Timeline{}.WriteHTML(failingWriter{}, "x"), "the disk is full")
}
