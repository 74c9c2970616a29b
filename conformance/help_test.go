package conformance_test

import (
	"context"
	"fmt"
	"net/http"
)

// postHook returns a function that sends a POST.
func postHook(url string) func(context.Context) error {
	return func(ctx context.Context) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, nil)
		if err != nil {
			return err
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		if resp.StatusCode/100 != 2 {
			return fmt.Errorf("POST %s: %s", url, resp.Status)
		}
		return nil
	}
}
