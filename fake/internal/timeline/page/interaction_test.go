package page_test

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/fakeapi/fake/internal/timeline"
)

const focused = `document.activeElement.getAttribute("aria-label") ?? document.activeElement.textContent`

// The page in a real browser, operated by keys.
func TestPageInBrowser(t *testing.T) {
	tl := newOutageTimeline(t)
	b := openBrowser(t)
	t.Run("start", func(t *testing.T) { b.forTest(t).open(tl, "x", ""); testStart(t, b) })
	t.Run("keys", func(t *testing.T) { b.forTest(t).open(tl, "x", ""); testKeys(t, b) })
	t.Run("details", func(t *testing.T) { b.forTest(t).open(tl, "x", ""); testDetails(t, b) })
	t.Run("filter", func(t *testing.T) { b.forTest(t).open(tl, "x", ""); testFilter(t, b) })
	t.Run("table", func(t *testing.T) { b.forTest(t).open(tl, "x", ""); testTable(t, b) })
	t.Run("time", func(t *testing.T) { b.forTest(t).open(tl, "x", ""); testTime(t, b) })
	t.Run("mouse", func(t *testing.T) { b.forTest(t).open(tl, "x", ""); testMouse(t, b) })
	t.Run("light and dark", func(t *testing.T) { b.forTest(t).open(tl, "x", ""); testDark(t, b) })
	t.Run("anchor", func(t *testing.T) {
		b.forTest(t).open(tl, "x", "#e7")
		b.eventually(`document.querySelector("#detail h2")?.textContent.includes("409 Conflict")`)
	})
	t.Run("nothing", func(t *testing.T) {
		b.forTest(t).open(timeline.Timeline{Begin: start, End: start}, "x", "")
		b.press("n", "Enter", "ArrowLeft", "t", "b", "o", "/")
		require.Equal(t, "filter", b.text(`document.activeElement.id`))
	})
	t.Run("hostile bodies", func(t *testing.T) { testHostile(t, b) })
	b.forTest(t)
	require.Empty(t, b.errorMessages())
}

// The page opens with the details of the first fault. The split is moved by keys and by the mouse.
func testStart(t *testing.T, b *browser) {
	require.Contains(t, b.text(`document.querySelector("#detail h2").textContent`), "fault slow-start hit it")
	require.Equal(t, "BODY", b.text(`document.activeElement.tagName`), "the focus stays")
	size := `document.getElementById("detail").offsetWidth`
	before := b.value(size).(float64)
	b.value(`document.getElementById("split").focus()`)
	b.press("ArrowLeft")
	require.InDelta(t, before+40, b.value(size), 2)
	b.press("ArrowRight", "ArrowRight")
	require.InDelta(t, before-40, b.value(size), 2)
	mouse := func(kind string, x int) {
		b.call("Input.dispatchMouseEvent", map[string]any{"type": kind, "x": x, "y": 400, "button": "left", "buttons": 1, "clickCount": 1}, nil)
	}
	at := int(b.value(`document.getElementById("split").getBoundingClientRect().left + 3`).(float64))
	mouse("mousePressed", at)
	mouse("mouseMoved", 500)
	mouse("mouseReleased", 500)
	require.InDelta(t, 1280-500, b.value(size), 2)

	// On a narrow screen the details are below, and no label of a lane is cut off.
	b.size(700, 800)
	b.eventually(`document.getElementById("detail").getBoundingClientRect().left === 0`)
	require.EqualValues(t, 0, b.value(`[...document.querySelectorAll(".name")].filter((e) => e.scrollWidth > e.clientWidth || e.scrollHeight > e.clientHeight).length`))
	b.size(1280, 800)
}

// The first key goes to the page: n selects the first failure.
func testKeys(t *testing.T, b *browser) {
	require.Equal(t, "grid", b.text(`document.getElementById("board").getAttribute("role")`))
	require.EqualValues(t, 1, b.value(`document.querySelectorAll(".mark[tabindex='0']").length`), "one stop for the Tab key")
	b.press("n")
	require.Contains(t, b.text(focused), "fault lost-reply hit it")
	b.press("p")
	require.Contains(t, b.text(focused), "504 Gateway Timeout")
	require.Equal(t, "gridcell", b.text(`document.activeElement.getAttribute("role")`))
	b.press("ArrowRight")
	require.Contains(t, b.text(focused), "watch configmaps, 200 OK")
	b.press("ArrowLeft", "ArrowLeft")
	require.Contains(t, b.text(focused), "504", "there is nothing before the first")
	b.press("ArrowDown")
	require.Contains(t, b.text(focused), "BOOKMARK, configmaps")
	b.press("ArrowDown", "Home")
	require.Contains(t, b.text(focused), "editor/v2.0.1 (linux/amd64) kubernetes/7d7e31b: create configmaps default/web, 201 Created, resourceVersion 1005, at +10s")
	b.press("ArrowUp")
	require.Contains(t, b.text(focused), "ADDED, configmaps default/web", "what stands in the same column")
	b.press("ArrowDown", "e")
	require.Contains(t, b.text(focused), "ADDED, configmaps default/web", "the event of the write")
	require.GreaterOrEqual(t, b.value(`document.querySelectorAll(".mark.kin").length`), 2.0)
	require.GreaterOrEqual(t, b.value(`document.querySelectorAll(".wire").length`), 1.0)
	b.press("ArrowDown", "End")
	require.Contains(t, b.text(focused), "default/late")
	require.Equal(t, true, b.value(`(() => { const r = document.activeElement.getBoundingClientRect(); return r.left > 230 && r.right <= innerWidth })()`), "it was scrolled to")
	require.NotEqual(t, "none", b.text(`getComputedStyle(document.activeElement).outlineStyle`), "the focus can be seen")
	b.press("?")
	require.Equal(t, true, b.value(`document.getElementById("help").open`))
	b.press("Escape")
	b.eventually(`!document.getElementById("help").open`)
}

func testDetails(t *testing.T, b *browser) {
	b.press("n", "n", "n", "n", "Enter")
	detail := `document.getElementById("detail").innerText`
	require.Contains(t, b.text(detail), "lost-event: when event(MODIFIED) && name(db) && first(1) do drop")
	require.Equal(t, "H2", b.text(`document.activeElement.tagName`))
	b.press("Escape")
	require.Equal(t, true, b.value(`document.getElementById("detail").hidden`))
	require.Contains(t, b.text(focused), "fault lost-event hit")

	b.press("e", "Enter") // a later event of the same write
	require.Contains(t, b.text(detail), "ADDED, configmaps default/db, resourceVersion 1010")
	require.Contains(t, b.text(`[...document.querySelectorAll(".minus")].map((e) => e.textContent).join()`), `"replicas": "1"`)
	require.Contains(t, b.text(`[...document.querySelectorAll(".plus")].map((e) => e.textContent).join()`), `"replicas": "3"`)
	require.Contains(t, b.text(detail), "Changed since resourceVersion 1007")
	require.Contains(t, b.text(detail), "managedFields, ")
	b.value(`[...document.querySelectorAll(".kinlist button")].find((b) => b.textContent.includes("update")).click()`)
	require.Contains(t, b.text(detail), "scaler/v0.9.0", "the details follow")
	require.Contains(t, b.text(detail), `"kind": "ConfigMap"`)

	// Protobuf is decoded.
	b.press("Escape", "ArrowUp", "ArrowUp", "ArrowDown", "Home", "Enter")
	require.Contains(t, b.text(detail), "bytes of application/vnd.kubernetes.protobuf, decoded")
	require.Contains(t, b.text(`[...document.querySelectorAll("#detail pre")].map((e) => e.textContent).join()`), "6b 38 73 00")
}

func testFilter(t *testing.T, b *browser) {
	b.press("/")
	require.Equal(t, "filter", b.text(`document.activeElement.id`))
	all := b.value(`document.querySelectorAll(".mark[data-mark]").length`)
	b.press("4", "0", "9", " ", "w", "e", "b")
	require.Contains(t, b.text(`document.getElementById("live").textContent`), "1 of ")
	require.EqualValues(t, 1, b.value(`document.querySelectorAll(".mark[data-mark]").length`))
	require.EqualValues(t, 1, b.value(`[...document.querySelectorAll(".lane")].filter((l) => !l.hidden).length`))
	b.press("Enter")
	require.Contains(t, b.text(focused), "editor/v2.0.1 (linux/amd64) kubernetes/7d7e31b: update configmaps default/web, 409 Conflict")
	set := func(text string) {
		b.value(fmt.Sprintf(`(() => { const f = document.getElementById("filter"); f.value = %q; f.dispatchEvent(new Event("input")) })()`, text))
	}
	set("-configmaps")
	require.Contains(t, b.text(`document.getElementById("live").textContent`), "0 of ")
	require.EqualValues(t, 0, b.value(`document.querySelectorAll(".mark[data-mark]").length`))
	b.press("ArrowLeft", "Enter", "n", "/", "Escape")
	require.Contains(t, b.text(focused), "+", "back at a mark")
	require.Equal(t, all, b.value(`document.querySelectorAll(".mark[data-mark]").length`))
}

func testTable(t *testing.T, b *browser) {
	b.press("b")
	require.Equal(t, true, b.value(`document.getElementById("lanes").hidden`))
	rows := `[...document.querySelectorAll("#rows tbody tr")].filter((r) => !r.hidden).length`
	require.Greater(t, b.value(rows), 15.0)
	b.press("/", "s", "c", "a", "l", "e", "r")
	require.EqualValues(t, 5, b.value(rows))
	b.value(`[...document.querySelectorAll("#rows tbody tr")].find((r) => !r.hidden).querySelector("a").click()`)
	b.eventually(`document.querySelector("#detail h2")?.textContent.startsWith("scaler")`)
	require.Equal(t, false, b.value(`document.getElementById("lanes").hidden`))

	b.media("print")
	require.NotEqual(t, "none", b.text(`getComputedStyle(document.getElementById("table")).display`), "the table is what is printed")
	require.Equal(t, "none", b.text(`getComputedStyle(document.getElementById("lanes")).display`))
	b.media("")
}

func testTime(t *testing.T, b *browser) {
	gap := `[...document.querySelectorAll("#axis .gap")].map((e) => e.textContent).join()`
	require.Contains(t, b.text(gap), "8s", "silence is marked")
	b.press("t")
	require.Empty(t, b.text(gap))
	require.Contains(t, b.text(`[...document.querySelectorAll("#axis .at")].map((e) => e.textContent).join()`), "+10m")
	require.GreaterOrEqual(t, b.value(`document.querySelectorAll(".more").length`), 2.0, "what stands on one spot is counted")
	b.press("n")
	require.Contains(t, b.text(focused), "fault lost-reply hit it", "the keys still reach each mark")
	wide := b.value(`document.getElementById("sheet").offsetWidth`).(float64)
	b.value(`document.getElementById("in").click()`)
	require.Greater(t, b.value(`document.getElementById("sheet").offsetWidth`), wide)
	b.press("o")
	require.Contains(t, b.text(`[...document.querySelectorAll("#axis .rv")].map((e) => e.textContent).join()`), "1005")
}

func testMouse(t *testing.T, b *browser) {
	b.value(`document.querySelector("#chips .fault:nth-child(3)").click()`)
	require.Contains(t, b.text(focused), "fault lost-event hit")
	b.value(`[...document.querySelectorAll("#chips .bad4")].find((c) => c.textContent.includes("409")).click()`)
	require.Contains(t, b.text(focused), "409 Conflict")
	b.value(`document.activeElement.click()`)
	require.Contains(t, b.text(`document.getElementById("detail").innerText`), "409 Conflict")
	b.value(`[...document.querySelectorAll("#detail button")].find((c) => c.textContent === "Close").click()`)
	require.Equal(t, true, b.value(`document.getElementById("detail").hidden`))
}

// brightness returns the mean of all pixels, from 0 to 65535.
func brightness(t *testing.T, picture []byte) int {
	img, err := png.Decode(bytes.NewReader(picture))
	require.NoError(t, err)
	sum, n := 0, 0
	for y := img.Bounds().Min.Y; y < img.Bounds().Max.Y; y += 4 {
		for x := img.Bounds().Min.X; x < img.Bounds().Max.X; x += 4 {
			r, g, b, _ := img.At(x, y).RGBA()
			sum += int(r+g+b) / 3
			n++
		}
	}
	require.Equal(t, image.Pt(1280, 800), img.Bounds().Size())
	return sum / n
}

func testDark(t *testing.T, b *browser) {
	b.media("", map[string]string{"name": "prefers-color-scheme", "value": "light"})
	require.Greater(t, brightness(t, b.picture()), 50000)
	b.media("", map[string]string{"name": "prefers-color-scheme", "value": "dark"}, map[string]string{"name": "prefers-reduced-motion", "value": "reduce"})
	require.Less(t, brightness(t, b.picture()), 15000)
	require.Equal(t, "0s", b.text(`getComputedStyle(document.querySelector(".mark")).transitionDuration`), "nothing moves for those who do not want it")
	b.media("")
}

// Bodies are shown as text, and never run.
func testHostile(t *testing.T, b *browser) {
	for _, text := range append([]string{"\xff\xfe\x00</script>readable", `{"a":[{"b":{}},[],1e400,12345678901234567890,"x`}, hostileTexts...) {
		tl := newTimeline(newBody("application/json", text), timeline.Body{ContentType: "text/html", Data: []byte(text), Size: 1 << 20})
		tl.Exchanges[0].UserAgent = text
		b.forTest(t).open(tl, text, "#e1")
		b.eventually(`document.querySelector("#detail h2") !== null`)
		require.Contains(t, b.text(`document.getElementById("detail").innerText`), "cut off: only the first")
		require.EqualValues(t, 0, b.value(`document.images.length`))
		require.EqualValues(t, 4, b.value(`document.scripts.length`))
	}
}

// newLargeTimeline returns a timeline of the maximum size.
func newLargeTimeline(exchanges, frames int) timeline.Timeline {
	t := timeline.Timeline{Begin: start}
	at := start
	object := func(name string, n int) string {
		return fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":%q,"namespace":"default","resourceVersion":"%d"},"data":{"k":"%0400d"}}`, name, n, n)
	}
	const watches = 4
	for w := range watches {
		t.Exchanges = append(t.Exchanges, watching(uint64(w+1), fmt.Sprintf("client-%d/v1", w%2), start, time.Time{}, fmt.Sprintf("/api/v1/configmaps?watch=1&labelSelector=w%%3D%d", w)))
	}
	for n := watches; n < exchanges; n++ {
		at = at.Add(7 * time.Millisecond)
		name, version := fmt.Sprint("o", n%50), fmt.Sprint(n)
		e := timeline.Exchange{
			Seq: uint64(n + 1), Begin: at, End: at.Add(time.Millisecond), UserAgent: fmt.Sprintf("client-%d/v1", n%9), Method: "PUT", Verb: "update",
			Path: "/api/v1/namespaces/default/configmaps/" + name, StatusCode: 200, ResourceVersion: version,
			Request: newBody("application/json", object(name, n)), Response: newBody("application/json", object(name, n)),
		}
		if n%40 == 0 {
			e.StatusCode, e.ResourceVersion = 409, ""
		}
		t.Exchanges = append(t.Exchanges, e)
		for w := 0; w < watches && len(t.Exchanges[w].Frames) < frames/watches; w++ {
			f := frame(at.Add(time.Millisecond), "MODIFIED", name, version)
			f.Body = newBody("application/json", `{"type":"MODIFIED","object":`+object(name, n)+"}\n")
			t.Exchanges[w].Frames = append(t.Exchanges[w].Frames, f)
		}
	}
	t.End = at
	return t
}

// A page of 5,000 requests and 20,000 events opens in about a second on an idle machine. The limit
// here is longer. Only visible marks are drawn.
func TestPageOfManyInBrowser(t *testing.T) {
	tl := newLargeTimeline(5000, 20000)
	b := openBrowser(t)
	b.open(tl, "many", "")
	b.eventually(`document.querySelectorAll(".mark[data-mark]").length > 0`)
	took := b.value(`performance.getEntriesByType("navigation")[0].domContentLoadedEventEnd`).(float64)
	t.Logf("open after %.0f ms", took)
	require.Less(t, took, 15000.0)
	require.Less(t, b.value(`document.querySelectorAll(".mark[data-mark]").length`), 1000.0)
	step := func(keys ...string) {
		begin := time.Now()
		b.press(keys...)
		t.Logf("%v: %s", keys, time.Since(begin).Round(time.Millisecond))
	}
	step("n")
	step("End")
	require.Contains(t, b.text(focused), "o")
	require.Less(t, b.value(`document.querySelectorAll(".mark[data-mark]").length`), 1000.0)
	step("t")
	require.Less(t, b.value(`document.querySelectorAll(".mark[data-mark]").length`), 3000.0)
	step("b")
	step("o")
	step("/", "4", "0", "9", "Enter", "Enter")
	require.Contains(t, b.text(focused), "409 Conflict")
	require.Empty(t, b.errorMessages())
}
