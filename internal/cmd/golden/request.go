package golden

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// send sends a recorded request with its placeholders expanded.
func (r *replay) send(ctx context.Context, recorded Request) (*http.Response, error) {
	return r.sendStep(ctx, Step{Request: recorded})
}

// sendStep sends the request of a step to its server.
func (r *replay) sendStep(ctx context.Context, s Step) (*http.Response, error) {
	base, client := r.player.BaseURL, &r.client
	if s.Server == ToWebhook {
		base, client = r.player.Webhook.URL, r.player.Webhook.Client
	}
	request, err := r.request(ctx, base, s.Request)
	if err != nil {
		return nil, fmt.Errorf("not sent: %w", err)
	}
	response, err := client.Do(request)
	if err != nil {
		return nil, fmt.Errorf("no response: %w", err)
	}
	return response, nil
}

func (r *replay) request(ctx context.Context, base string, recorded Request) (*http.Request, error) {
	path, err := r.placeholders.Expand(recorded.Path)
	if err != nil {
		return nil, err
	}
	body, err := r.body(recorded)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, recorded.Method, base+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", "application/json")
	request.Header.Set("User-Agent", "replay/1.0")
	// Without this header net/http would request gzip and decompress the response.
	request.Header.Set("Accept-Encoding", "identity")
	for name, value := range recorded.Headers {
		if value, err = r.placeholders.Expand(value); err != nil {
			return nil, err
		}
		request.Header.Set(name, value)
		if value == "" { // a nil value prevents the default User-Agent of net/http
			request.Header[http.CanonicalHeaderKey(name)] = nil
		}
	}
	return request, nil
}

// body returns the body to send. BodyHex has no placeholders.
func (r *replay) body(recorded Request) (string, error) {
	switch {
	case recorded.BodyHex != "":
		b, err := hex.DecodeString(recorded.BodyHex)
		return string(b), err
	case recorded.BodyFill != nil:
		f := recorded.BodyFill
		return r.placeholders.Expand(f.Before + strings.Repeat(f.Char, f.Count) + f.After)
	case len(recorded.Body) > 0:
		var b bytes.Buffer
		if err := json.Compact(&b, recorded.Body); err != nil {
			return "", err
		}
		return r.placeholders.Expand(b.String())
	}
	return r.placeholders.Expand(recorded.BodyText)
}
