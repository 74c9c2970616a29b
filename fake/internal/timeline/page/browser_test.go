package page_test

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/fakeapi/fake/internal/timeline"
	"example.com/fakeapi/fake/internal/timeline/page"
)

// browser drives a Chromium over its debugging pipe: JSON messages that end with a zero byte,
// commands on its descriptor 3, answers on its descriptor 4.
type browser struct {
	t       *testing.T
	to      *os.File
	session string
	seq     int

	mu      sync.Mutex // guards the fields below
	arrived *sync.Cond
	answers map[int]message
	events  []message
	over    bool
}

type message struct {
	ID      int             `json:"id,omitempty"`
	Session string          `json:"sessionId,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   json.RawMessage `json:"error,omitempty"`
}

// openBrowser starts a Chromium with an empty page. Without a Chromium, the test is skipped.
func openBrowser(t *testing.T) *browser {
	var program string
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome-headless-shell"} {
		if found, err := exec.LookPath(name); err == nil {
			program = found
			break
		}
	}
	if program == "" {
		t.Skip("no Chromium is installed: what the page does in a browser is not tested")
	}
	theirsIn, to, err := os.Pipe()
	require.NoError(t, err)
	from, theirsOut, err := os.Pipe()
	require.NoError(t, err)
	command := exec.Command(program, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--remote-debugging-pipe",
		"--no-first-run", "--disable-background-networking", "--disable-component-update", "--user-data-dir="+t.TempDir(), "about:blank")
	command.ExtraFiles = []*os.File{theirsIn, theirsOut}
	command.WaitDelay = 5 * time.Second
	require.NoError(t, command.Start())
	_, _ = theirsIn.Close(), theirsOut.Close()

	b := &browser{t: t, to: to, answers: map[int]message{}}
	b.arrived = sync.NewCond(&b.mu)
	read := make(chan struct{})
	go func() {
		defer close(read)
		b.read(from)
	}()
	t.Cleanup(func() {
		_ = to.Close() // it exits when its pipe is closed
		ended := time.AfterFunc(time.Minute, func() { _ = command.Process.Kill() })
		_ = command.Wait()
		ended.Stop()
		<-read
		_ = from.Close()
	})
	var target struct{ TargetID, SessionID string }
	b.call("Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	b.call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &target)
	b.session = target.SessionID
	for _, domain := range []string{"Page", "Runtime", "Log", "Network"} {
		b.call(domain+".enable", nil, nil)
	}
	b.size(1280, 800)
	return b
}

// forTest makes t the test that fails if the browser fails.
func (b *browser) forTest(t *testing.T) *browser {
	b.t = t
	return b
}

func (b *browser) read(from *os.File) {
	for r := bufio.NewReader(from); ; {
		text, err := r.ReadBytes(0)
		b.mu.Lock()
		var m message
		switch {
		case err != nil:
			b.over = true
		case json.Unmarshal(bytes.TrimSuffix(text, []byte{0}), &m) != nil:
			b.over, err = true, fmt.Errorf("not a message")
		case m.Method != "":
			b.events = append(b.events, m)
		default:
			b.answers[m.ID] = m
		}
		b.arrived.Broadcast()
		b.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// call sends a command and waits for its answer.
func (b *browser) call(method string, params, into any) {
	b.t.Helper()
	b.seq++
	raw, err := json.Marshal(params)
	require.NoError(b.t, err)
	if params == nil {
		raw = []byte("{}")
	}
	text, err := json.Marshal(message{ID: b.seq, Session: b.session, Method: method, Params: raw})
	require.NoError(b.t, err)
	_, err = b.to.Write(append(text, 0))
	require.NoError(b.t, err)

	b.mu.Lock()
	defer b.mu.Unlock()
	for {
		if m, ok := b.answers[b.seq]; ok {
			require.Empty(b.t, string(m.Error), method)
			if into != nil {
				require.NoError(b.t, json.Unmarshal(m.Result, into))
			}
			return
		}
		require.False(b.t, b.over, "the browser has ended")
		b.arrived.Wait()
	}
}

// open writes the page to a file and opens it, at an anchor if that is not empty.
func (b *browser) open(t timeline.Timeline, title, anchor string) {
	b.t.Helper()
	name := filepath.Join(b.t.TempDir(), "timeline.html")
	file, err := os.Create(name)
	require.NoError(b.t, err)
	require.NoError(b.t, page.Write(file, t, title))
	require.NoError(b.t, file.Close())
	b.call("Page.navigate", map[string]any{"url": "file://" + name + anchor}, nil)
	b.eventually(`document.readyState === "complete" && location.protocol === "file:"`)
}

// value returns the value of a JavaScript expression.
func (b *browser) value(expression string) any {
	b.t.Helper()
	var got struct {
		Result           struct{ Value any }
		ExceptionDetails json.RawMessage
	}
	b.call("Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true, "awaitPromise": true}, &got)
	require.Empty(b.t, string(got.ExceptionDetails), expression)
	return got.Result.Value
}

func (b *browser) text(expression string) string {
	b.t.Helper()
	s, _ := b.value(expression).(string)
	return s
}

// eventually waits until an expression is true.
func (b *browser) eventually(expression string) {
	b.t.Helper()
	for begin := time.Now(); b.value(expression) != true; time.Sleep(5 * time.Millisecond) {
		require.Less(b.t, time.Since(begin), time.Minute, expression)
	}
}

// press sends key presses.
func (b *browser) press(keys ...string) {
	b.t.Helper()
	for _, key := range keys {
		down := map[string]any{"type": "keyDown", "key": key}
		switch {
		case key == "Enter":
			down["text"], down["windowsVirtualKeyCode"] = "\r", 13
		case key == "Tab":
			down["windowsVirtualKeyCode"] = 9
		case key == "Escape":
			down["windowsVirtualKeyCode"] = 27
		case len(key) == 1:
			down["text"] = key
		}
		b.call("Input.dispatchKeyEvent", down, nil)
		b.call("Input.dispatchKeyEvent", map[string]any{"type": "keyUp", "key": key}, nil)
	}
}

func (b *browser) size(width, height int) {
	b.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false}, nil)
}

// media emulates a media feature, such as prefers-color-scheme, or print.
func (b *browser) media(kind string, features ...map[string]string) {
	b.call("Emulation.setEmulatedMedia", map[string]any{"media": kind, "features": append([]map[string]string{}, features...)}, nil)
}

// picture returns a screenshot in PNG.
func (b *browser) picture() []byte {
	var got struct{ Data string }
	b.call("Page.captureScreenshot", map[string]any{"format": "png"}, &got)
	data, err := base64.StdEncoding.DecodeString(got.Data)
	require.NoError(b.t, err)
	return data
}

// errorMessages returns the errors of the page: on the console, exceptions, violations of its
// policy, and requests for anything but its file.
func (b *browser) errorMessages() (all []string) {
	b.value("0") // earlier messages have arrived when this call returns
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, e := range b.events {
		switch e.Method {
		case "Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded":
			all = append(all, string(e.Params))
		case "Network.requestWillBeSent":
			var sent struct{ Request struct{ URL string } }
			require.NoError(b.t, json.Unmarshal(e.Params, &sent))
			if u := sent.Request.URL; len(u) < 7 || u[:7] != "file://" {
				all = append(all, "a request for "+u)
			}
		}
	}
	return all
}
