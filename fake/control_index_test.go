package fakeapi_test

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	fakeapi "example.com/fakeapi/fake"
)

// controlIndex is the index of the control API as JSON.
type controlIndex struct {
	URL, Server, Version string
	Requests             []struct {
		Method, Path, Description, Body, Example string
		Parameters                               []struct{ Name, Description string }
	}
}

// The index is text, JSON or HTML, with and without a slash at the end of its path.
func TestControlIndex(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithControlAddress("127.0.0.1:0"))
	url := srv.ControlURL()
	_, header, text := sendPlain(t, "GET", url, "")
	require.Equal(t, "text/plain; charset=utf-8", header.Get("Content-Type"))
	require.Contains(t, text, "A="+url+"\n")
	require.Contains(t, text, "\nGET /fakeapi/v1/faults\n    the active fault rules\n    curl $A/faults\n")
	_, _, same := sendPlain(t, "GET", url+"/", "")
	require.Equal(t, text, same)

	_, _, body := sendPlain(t, "GET", url, "", "Accept", "application/json")
	var index controlIndex
	require.NoError(t, json.Unmarshal([]byte(body), &index))
	require.Equal(t, []string{url, srv.URL()}, []string{index.URL, index.Server})
	require.Regexp(t, `^v1\.37\.`, index.Version)
	for _, r := range index.Requests {
		require.Contains(t, text, "\n"+r.Method+" "+r.Path+"\n    "+r.Description+"\n")
	}
	_, header, body = sendPlain(t, "GET", url, "", "Accept", "text/html,*/*")
	require.Equal(t, "text/html; charset=utf-8", header.Get("Content-Type"))
	require.Contains(t, body, `<a href="/fakeapi/v1/timeline">`)
	require.Contains(t, body, "USER,GROUP,...")
	for _, method := range []string{"POST", "DELETE"} {
		code, _, _ := sendPlain(t, method, url, "")
		require.Equal(t, 405, code)
	}
	code, _, _ := sendPlain(t, "DELETE", url+"/faults/ready-made", "")
	require.Equal(t, 404, code, "a rule of that name")
	code, _, _ = sendPlain(t, "GET", url+"/faults/other", "")
	require.Equal(t, 405, code)
}

// curlCommand matches the example of a request: method, URL and body.
var curlCommand = regexp.MustCompile(`^curl (?:-X ([A-Z]+) )?"?(http[^ "]+)"?(?: --data-binary '([^']*)')?$`)

// The examples of the index work, in their order, on a server with users.
func TestControlIndexExamples(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithControlAddress("127.0.0.1:0"), fakeapi.WithTokens(fakeapi.Token{Value: "first", User: "ann"}), fakeapi.WithClientCA())
	_, _, body := sendPlain(t, "GET", srv.ControlURL(), "", "Accept", "application/json")
	var index controlIndex
	require.NoError(t, json.Unmarshal([]byte(body), &index))
	require.GreaterOrEqual(t, len(index.Requests), 30)
	for _, r := range index.Requests {
		part := curlCommand.FindStringSubmatch(r.Example)
		require.NotNil(t, part, r.Example)
		method := part[1]
		if method == "" {
			method = "GET"
		}
		require.Equal(t, r.Method, method)
		require.Equal(t, r.Body != "", part[3] != "", "an example of the body: %s", r.Example)
		code, _, response := sendPlain(t, method, strings.ReplaceAll(part[2], "wait=10s", "wait=10ms"), part[3])
		require.Less(t, code, 300, "%s: %s", r.Example, response)
	}
}

// The requests that the package documentation describes are in the index, with their parameters.
func TestDocumentedControlRequestsAreInIndex(t *testing.T) {
	c := newControlClient(t)
	var index controlIndex
	c.getJSON("", &index)
	lines := curlLine.FindAllStringSubmatch(readFile(t, "doc.go"), -1)
	require.NotEmpty(t, lines)
	documented := map[string]bool{}
	for _, line := range lines {
		method := line[1]
		if method == "" {
			method = http.MethodGet
		}
		path, query, _ := strings.Cut("/fakeapi/v1"+line[2], "?")
		found := false
		for _, r := range index.Requests {
			if r.Method == method && regexp.MustCompile("^"+strings.ReplaceAll(strings.TrimSuffix(r.Path, "/"), "{name}", "[^/]+")+"$").MatchString(path) {
				found, documented[method+" "+r.Path] = true, true
				for parameter := range strings.SplitSeq(query, "&") {
					name, _, _ := strings.Cut(parameter, "=")
					require.Contains(t, append(namesOf(r.Parameters), ""), name, line[0])
				}
			}
		}
		require.True(t, found, line[0])
	}
	require.Greater(t, len(documented), 15)
}

func namesOf(parameters []struct{ Name, Description string }) (names []string) {
	for _, p := range parameters {
		names = append(names, p.Name)
	}
	return names
}

// The ready-made faults are listed with the rules that they stand for, which can be added by name.
func TestControlReadyMadeFaults(t *testing.T) {
	c := newControlClient(t)
	var got struct {
		Faults []struct {
			Name, Usage, Description, Example string
			Rules                             []struct{ Rule string }
		}
	}
	c.getJSON("faults/ready-made", &got)
	require.Len(t, got.Faults, 8)
	text := c.call(200, "GET", "faults/ready-made", "")
	for _, f := range got.Faults {
		require.Contains(t, text, f.Usage+"\n    "+f.Description+"\n    example: "+f.Example+"\n")
		response := c.call(201, "POST", "faults", f.Example)
		require.Equal(t, len(f.Rules), strings.Count(response, "\n"))
		require.Equal(t, f.Rules[0].Rule, strings.Split(response, "\n")[0])
	}
	require.Contains(t, c.call(400, "POST", "faults", "expire410\n retry504"), "fault rule, line 2, column 2: expected retry504(DURATION, CONDITION, ...)")
}
