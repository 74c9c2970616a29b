package fakeapi

import (
	"fmt"
	"html"
	"net/http"
	"strings"
)

// indexJSON is the JSON form of the index of the control API.
type indexJSON struct {
	// URL is that of the control API, without a slash at the end.
	URL string `json:"url"`
	// Server is the URL of the API server. Version is the Kubernetes version that it reports.
	Server  string `json:"server"`
	Version string `json:"version"`
	// Next is the number for the parameter since.
	Next     uint64             `json:"next"`
	Requests []indexRequestJSON `json:"requests"`
}

// indexRequestJSON is the JSON form of a request that the index describes.
type indexRequestJSON struct {
	Method     string             `json:"method"`
	Path       string             `json:"path"`
	Doc        string             `json:"description"`
	Parameters []controlParameter `json:"parameters"`
	Body       string             `json:"body,omitempty"`
	// Example is a command with curl.
	Example string `json:"example"`
}

// curl returns the example as a command for the control API at a URL.
func (route controlRoute) curl(url string) string {
	command := "curl "
	if route.method != http.MethodGet {
		command += "-X " + route.method + " "
	}
	path := route.example
	if path == "" {
		path = route.path
	}
	target := url + "/" + path
	if strings.ContainsAny(path, "?&") {
		target = `"` + target + `"`
	}
	command += target
	if route.exampleBody != "" {
		command += " --data-binary '" + route.exampleBody + "'"
	}
	return command
}

// getIndex responds with all requests of the control API: as text, or as JSON or HTML for clients
// that accept it.
func (c *controlAPI) getIndex(w http.ResponseWriter, r *http.Request) error {
	scheme := "http://"
	if r.TLS != nil {
		scheme = "https://"
	}
	url := scheme + r.Host + strings.TrimSuffix(controlPrefix, "/")
	switch {
	case strings.Contains(r.Header.Get("Accept"), "text/html"):
		return sendText(w, http.StatusOK, "text/html; charset=utf-8", indexPage(url))
	case !acceptsJSON(r):
		return sendText(w, http.StatusOK, "text/plain; charset=utf-8", indexText(url))
	}
	index := indexJSON{URL: url, Server: c.server.URL(), Version: gitVersion, Next: c.server.recorder.Order()}
	for _, route := range controlRoutes() {
		parameters := route.parameters
		if parameters == nil {
			parameters = []controlParameter{}
		}
		index.Requests = append(index.Requests, indexRequestJSON{
			Method: route.method, Path: controlPrefix + route.path, Doc: route.doc, Parameters: parameters,
			Body: route.body, Example: route.curl(url),
		})
	}
	return sendJSON(w, http.StatusOK, index)
}

// indexIntroduction is what the index says about all requests.
const indexIntroduction = `The control API of a fakeapi server.

Lists are text, with a line for each item, or JSON for clients that accept application/json.
Errors are a Status of Kubernetes, in JSON. Unknown parameters are an error. Where the requests of
the server need credentials, so do these, except at the address of WithControlAddress. A request
without a result has the status 204.
`

// indexText returns the index as text, for the control API at a URL.
func indexText(url string) string {
	var b strings.Builder
	b.WriteString(indexIntroduction + "\n    A=" + url + "\n")
	for _, route := range controlRoutes() {
		fmt.Fprintf(&b, "\n%s %s%s\n    %s\n", route.method, controlPrefix, route.path, route.doc)
		for _, p := range route.parameters {
			fmt.Fprintf(&b, "    ?%s= %s\n", p.Name, p.Doc)
		}
		if route.body != "" {
			fmt.Fprintf(&b, "    body: %s\n", route.body)
		}
		fmt.Fprintf(&b, "    %s\n", route.curl("$A"))
	}
	return b.String()
}

// indexPage returns the index as HTML, for the control API at a URL. What can be read without a
// name is a link.
func indexPage(url string) string {
	var b strings.Builder
	b.WriteString("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>The control API</title></head><body>\n")
	b.WriteString("<h1>The control API</h1>\n<p>" + html.EscapeString(strings.TrimSpace(indexIntroduction)) + "</p>\n<dl>\n")
	for _, route := range controlRoutes() {
		path := html.EscapeString(controlPrefix + route.path)
		if route.method == http.MethodGet && !strings.Contains(route.path, "{") {
			path = `<a href="` + path + `">` + path + "</a>"
		}
		fmt.Fprintf(&b, "<dt><code>%s %s</code></dt>\n<dd>%s", route.method, path, html.EscapeString(route.doc))
		for _, p := range route.parameters {
			fmt.Fprintf(&b, "<br><code>%s</code>: %s", p.Name, html.EscapeString(p.Doc))
		}
		if route.body != "" {
			b.WriteString("<br>body: " + html.EscapeString(route.body))
		}
		fmt.Fprintf(&b, "<pre>%s</pre></dd>\n", html.EscapeString(route.curl(url)))
	}
	b.WriteString("</dl>\n</body></html>\n")
	return b.String()
}
