// Package page writes a timeline as an HTML page: a lane of marks for each client and watch, the
// details of each request and event, and a table.
package page

import (
	"bufio"
	"crypto/sha256"
	_ "embed" // files of the page
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"slices"

	"example.com/fakeapi/fake/internal/timeline"
)

var (
	//go:embed page.html
	pageHTML string
	//go:embed page.css
	pageCSS string
	//go:embed page.js
	pageJS string
	//go:embed page_detail.js
	pageDetailJS string
)

var pageTemplate = template.Must(template.New("page").Parse(pageHTML))

// tableBodyRows is how many rows of the table a browser lays out at once when they scroll into
// view.
const tableBodyRows = 100

// page is the data of page.html. Everything from requests and responses is either a string, which
// html/template escapes for its context, or JSON in which encoding/json has escaped <, >, &, U+2028
// and U+2029. So no text of a client can end the element that contains it.
type page struct {
	Title           string
	Summary         []string
	Policy          string
	CSS             template.CSS
	Script, Details template.JS
	Data            template.JS
	Bodies          template.JS
	Rows            [][]row
	Faults          []faultRow
	Dropped         uint64
}

// Write writes t as one HTML page that needs neither network nor other files. It has a lane for
// each client and each watch, the bodies on demand, and a table of the exchanges that works without
// scripts. The same timeline results in the same bytes. Errors are those of w.
func Write(w io.Writer, t timeline.Timeline, title string) error {
	data := newPageData(t)
	data.Title = title
	encoded, err := json.Marshal(data)
	if err != nil {
		return fmt.Errorf("timeline: %w", err)
	}
	bodies, err := data.bodies.lines()
	if err != nil {
		return fmt.Errorf("timeline: %w", err)
	}
	out := bufio.NewWriter(w)
	err = pageTemplate.Execute(out, page{
		Title:   title,
		Summary: data.summary(),
		Policy:  contentSecurityPolicy(),
		CSS:     template.CSS(pageCSS),
		Script:  template.JS(pageJS),
		Details: template.JS(pageDetailJS),
		Data:    template.JS(encoded),
		Bodies:  bodies,
		Rows:    slices.Collect(slices.Chunk(data.rows(), tableBodyRows)),
		Faults:  data.faultRows(),
		Dropped: t.ExchangesDropped,
	})
	if err != nil {
		return fmt.Errorf("timeline: %w", err)
	}
	return out.Flush()
}

// contentSecurityPolicy returns the Content-Security-Policy of the page. It allows the page's
// scripts and style sheet by their hashes and nothing else. Trusted Types keep the scripts from
// parsing strings as HTML.
func contentSecurityPolicy() string {
	hash := func(text string) string {
		sum := sha256.Sum256([]byte(text))
		return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	return "default-src 'none'; script-src " + hash(pageDetailJS) + " " + hash(pageJS) + "; style-src " + hash(pageCSS) +
		"; img-src data:; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
}
