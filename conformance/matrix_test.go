package conformance_test

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"example.com/fakeapi/conformance"
	fakeapi "example.com/fakeapi/fake"
)

func TestMatrix(t *testing.T) {
	for _, one := range lies {
		synctest.Test(t, func(t *testing.T) {
			c := configOf(fakeapi.Start(t, fakeapi.InMemory()))
			c.Client = &http.Client{Transport: one.tell(c.Client.Transport)}
			c.Patience = 5 * time.Minute
			c.Run = regexp.MustCompile(`^(CH|BM|SI|EX|SE)`)
			report, _ := conformance.Execute(t.Context(), c)
			var ids []string
			for _, r := range report.Results {
				if r.Outcome == conformance.Failed {
					ids = append(ids, strings.TrimSuffix(r.Case.ID, "/typed"))
				}
			}
			fmt.Println("##", one.name, "::", strings.Join(ids, " "))
		})
	}
}
