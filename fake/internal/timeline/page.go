package timeline

import (
	"bufio"
	"crypto/sha256"
	_ "embed" // the parts of the page
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"slices"
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

// tableBodyRows is how many rows of the table a browser lays out together, when they
// come into view.
const tableBodyRows = 100

// page is what page.html shows. Everything that came over the wire is either a
// plain string, which html/template escapes for its place, or JSON that
// encoding/json has freed of <, >, &, U+2028 and U+2029: nothing that a client
// sends can end the element that it stands in.
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

// WriteHTML writes t as one page that needs nothing else: no network and no
// files. It has a lane for each client and each watch, the bodies on demand, and
// a plain table of the exchanges, which also works without scripts. The same
// timeline gives the same bytes. The errors are those of w.
func (t Timeline) WriteHTML(w io.Writer, title string) error {
	pageBytes := newPageData(t)
	pageBytes.Title = title
	data, err := json.Marshal(pageBytes)
	if err != nil {
		return fmt.Errorf("timeline: %w", err)
	}
	bodies, err := pageBytes.bodies.lines()
	if err != nil {
		return fmt.Errorf("timeline: %w", err)
	}
	out := bufio.NewWriter(w)
	err = pageTemplate.Execute(out, page{
		Title:   title,
		Summary: pageBytes.summary(),
		Policy:  contentSecurityPolicy(),
		CSS:     template.CSS(pageCSS),
		Script:  template.JS(pageJS),
		Details: template.JS(pageDetailJS),
		Data:    template.JS(data),
		Bodies:  bodies,
		Rows:    slices.Collect(slices.Chunk(pageBytes.rows(), tableBodyRows)),
		Faults:  pageBytes.faultRows(),
		Dropped: t.ExchangesDropped,
	})
	if err != nil {
		return fmt.Errorf("timeline: %w", err)
	}
	return out.Flush()
}

// contentSecurityPolicy is the Content-Security-Policy: the one script and the one style sheet
// of the page, by their hashes, and nothing from anywhere. With Trusted Types
// the script cannot even try to make markup out of a string.
func contentSecurityPolicy() string {
	hash := func(text string) string {
		sum := sha256.Sum256([]byte(text))
		return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	return "default-src 'none'; script-src " + hash(pageDetailJS) + " " + hash(pageJS) + "; style-src " + hash(pageCSS) +
		"; img-src data:; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
}
