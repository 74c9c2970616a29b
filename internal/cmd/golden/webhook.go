package golden

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"time"
)

// webhookAddress is the address of a webhook in memory, which its certificate is valid for.
const webhookAddress = "127.0.0.1:19443"

// Webhook is the admission webhook of recorded cases. A case tells it how to respond, and reads the
// reviews that it got. It is an HTTPS server:
//
//	POST /LOG/NAME...        the webhook: it records the AdmissionReview, and responds as the script
//	                         NAME or, if there is none, as the behavior with that name
//	PUT /LOG/script/NAME     sets a script
//	GET /LOG/log             returns {"calls": [...]}, the reviews with the path and the timeout of
//	                         each call. ?only=FIELD,... selects fields of the request, ?hook=PATH the
//	                         calls of a path, ?sort=1 sorts, and userInfo=1 includes the user
//	DELETE /LOG/log          forgets the calls
//
// LOG is the namespace of the case, so that cases do not see each other's calls.
type Webhook struct {
	// URL is the URL of the webhook, CABundle its certificate in PEM.
	URL      string
	CABundle []byte
	// Client sends the requests of the cases.
	Client *http.Client

	server *httptest.Server
	mu     sync.Mutex // guards the fields below
	logs   map[string]*webhookLog
}

// webhookLog has the calls and the scripts of a case.
type webhookLog struct {
	calls   []map[string]any
	scripts map[string]*webhookScript
}

// StartWebhook serves a webhook on a listener, which dial connects to. With a nil listener it
// serves on a loopback address. The caller must call Close.
func StartWebhook(listener net.Listener, dial func(ctx context.Context, network, address string) (net.Conn, error)) *Webhook {
	w := &Webhook{logs: map[string]*webhookLog{}}
	w.server = httptest.NewUnstartedServer(w)
	if listener != nil {
		_ = w.server.Listener.Close() // it has no connections
		w.server.Listener = listener
	}
	w.server.StartTLS()
	w.URL, w.Client = w.server.URL, w.server.Client()
	if dial != nil {
		w.URL = "https://" + webhookAddress
		w.Client.Transport.(*http.Transport).DialContext = dial
	}
	w.CABundle = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: w.server.Certificate().Raw})
	return w
}

// Close stops the webhook.
func (w *Webhook) Close() { w.server.Close() }

// placeholders returns the values of the placeholders that stand for the webhook.
func (w *Webhook) placeholders() map[string]string {
	return map[string]string{
		"$hooksURL": w.URL, "$hooksHost": strings.TrimPrefix(w.URL, "https://"),
		"$hooksCA": base64.StdEncoding.EncodeToString(w.CABundle),
	}
}

// ServeHTTP implements http.Handler.
func (w *Webhook) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	name, path, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	script, isScript := strings.CutPrefix(path, "script/")
	switch {
	case path == "log" && r.Method == http.MethodDelete:
		w.forget(name)
		respond(out, http.StatusOK, map[string]any{"calls": []any{}})
	case path == "log":
		respond(out, http.StatusOK, map[string]any{"calls": w.selectCalls(name, r)})
	case isScript:
		w.setScript(out, r, name, script)
	case r.Method == http.MethodPost:
		w.review(out, r, name, path)
	default:
		respond(out, http.StatusNotFound, map[string]any{"error": "there is no " + r.Method + " " + r.URL.Path})
	}
}

// log returns the log with a name. The caller holds mu.
func (w *Webhook) log(name string) *webhookLog {
	if w.logs[name] == nil {
		w.logs[name] = &webhookLog{scripts: map[string]*webhookScript{}}
	}
	return w.logs[name]
}

func (w *Webhook) forget(name string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.log(name).calls = nil
}

func (w *Webhook) setScript(out http.ResponseWriter, r *http.Request, name, script string) {
	s := &webhookScript{}
	if err := json.NewDecoder(r.Body).Decode(s); err != nil {
		respond(out, http.StatusBadRequest, map[string]any{"error": err.Error()})
		return
	}
	w.mu.Lock()
	w.log(name).scripts[script] = s
	w.mu.Unlock()
	respond(out, http.StatusOK, map[string]any{"script": script})
}

// review records a review and responds to it.
func (w *Webhook) review(out http.ResponseWriter, r *http.Request, name, path string) {
	decoder := json.NewDecoder(r.Body)
	decoder.UseNumber()
	review := map[string]any{}
	_ = decoder.Decode(&review) // the log shows what was not a review
	call := map[string]any{"hook": "/" + path, "timeout": r.URL.Query().Get("timeout")}
	maps.Copy(call, review)
	w.mu.Lock()
	log := w.log(name)
	log.calls = append(log.calls, call)
	first, _, _ := strings.Cut(path, "/")
	script := log.scripts[first].next()
	w.mu.Unlock()
	if script == nil {
		if script = webhookBehavior(path); script == nil {
			respond(out, http.StatusNotFound, map[string]any{"error": "there is no script or behavior " + first})
			return
		}
	}
	select {
	case <-time.After(time.Duration(script.DelayMs) * time.Millisecond):
	case <-r.Context().Done():
		return
	}
	script.respond(out, review)
}

// selectCalls returns the calls that the query of r selects.
func (w *Webhook) selectCalls(name string, r *http.Request) []any {
	w.mu.Lock()
	defer w.mu.Unlock()
	query := r.URL.Query()
	selected := []any{}
	for _, recorded := range w.log(name).calls {
		if hook := query.Get("hook"); hook != "" && recorded["hook"] != hook {
			continue
		}
		request, _ := recorded["request"].(map[string]any)
		request = maps.Clone(request)
		if only := query.Get("only"); only != "" {
			all := request
			request = map[string]any{}
			for field := range strings.SplitSeq(only, ",") {
				copyField(request, all, strings.Split(field, "."))
			}
		} else if query.Get("userInfo") == "" {
			delete(request, "userInfo")
		}
		call := maps.Clone(recorded)
		call["request"] = request
		selected = append(selected, call)
	}
	if query.Get("sort") != "" { // validating webhooks are called at the same time
		text := func(call any) string { b, _ := json.Marshal(call); return string(b) }
		slices.SortStableFunc(selected, func(a, b any) int { return cmp.Compare(text(a), text(b)) })
	}
	return selected
}

// copyField copies the field at a path, if there is one.
func copyField(to, from map[string]any, path []string) {
	value, ok := from[path[0]]
	if !ok {
		return
	}
	object, isObject := value.(map[string]any)
	if len(path) == 1 || !isObject {
		to[path[0]] = value
		return
	}
	part, ok := to[path[0]].(map[string]any)
	if !ok {
		part = map[string]any{}
		to[path[0]] = part
	}
	copyField(part, object, path[1:])
}

func respond(out http.ResponseWriter, code int, body map[string]any) {
	out.Header().Set("Content-Type", "application/json")
	out.WriteHeader(code)
	_ = json.NewEncoder(out).Encode(body) // the client sees an incomplete response
}

// respond responds as the script says.
func (s *webhookScript) respond(out http.ResponseWriter, review map[string]any) {
	if s.Close {
		panic(http.ErrAbortHandler)
	}
	out.Header().Set("Content-Type", cmp.Or(s.ContentType, "application/json"))
	if s.Location != "" {
		out.Header().Set("Location", s.Location)
	}
	if s.Status != 0 {
		out.WriteHeader(s.Status)
	}
	if s.Text != nil {
		_, _ = io.WriteString(out, *s.Text)
		return
	}
	_ = json.NewEncoder(out).Encode(s.answer(review))
}
