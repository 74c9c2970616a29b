package kubectl_test

import "testing"
import "os"
import "fmt"
import "strings"

func TestExplore(t *testing.T) {
	u := newUser(t)
	b, _ := os.ReadFile(os.Getenv("SCRIPT"))
	f, _ := os.Create("/tmp/fake.out")
	for line := range strings.Lines(string(b)) {
		if strings.TrimSpace(line) == "" { continue }
		r := u.try(strings.Fields(line)...)
		fmt.Fprintf(f, "$ kubectl %s%s%s[%d]\n", line, r.out, r.err, r.code)
	}
}
