package kubectl_test

import (
	"bufio"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestGetWatch(t *testing.T) {
	u := newUser(t)
	u.do("create", "configmap", "old")
	next := u.watch("get", "configmaps", "--watch", "--output-watch-events", "--no-headers")
	require.Equal(t, "ADDED old", next())

	u.do("create", "configmap", "new", "--from-literal=a=b")
	require.Equal(t, "ADDED new", next())
	u.do("patch", "configmap", "new", "-p", `{"data":{"a":"c"}}`)
	require.Equal(t, "MODIFIED new", next())
	u.do("delete", "configmap", "old")
	require.Equal(t, "DELETED old", next())
}

// An object that leaves the selection is a DELETED event, one that enters it an ADDED event.
func TestGetWatchOfASelection(t *testing.T) {
	u := newUser(t, withPods())
	next := u.watch("get", "pods", "-l", "app=web", "--watch", "--output-watch-events", "--no-headers")
	require.Equal(t, "ADDED web-1", next())
	require.Equal(t, "ADDED web-2", next())
	u.do("label", "pod", "web-1", "app=other", "--overwrite")
	require.Equal(t, "DELETED web-1", next())
	u.do("delete", "pod", "web-2", "--grace-period=1")
	require.Equal(t, "MODIFIED web-2", next(), "the update that sets deletionTimestamp")
	require.Equal(t, "MODIFIED web-2", next(), "the update after the grace period")
	require.Equal(t, "DELETED web-2", next())
	u.do("label", "pod", "web-1", "app=web", "--overwrite")
	require.Equal(t, "ADDED web-1", next())
}

// watch starts a kubectl that runs until the test ends. next returns the first two words of its
// next line.
func (u *user) watch(args ...string) (next func() string) {
	u.t.Helper()
	line := u.watchLines(args...)
	return func() string {
		u.t.Helper()
		words := strings.Fields(line())
		return strings.Join(words[:min(2, len(words))], " ")
	}
}

// watchLines starts a kubectl that runs until it exits or the test ends. next returns its next
// line, for which it waits for a minute at most.
func (u *user) watchLines(args ...string) (next func() string) {
	u.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	cmd := u.command(ctx, args...)
	out, err := cmd.StdoutPipe()
	require.NoError(u.t, err)
	require.NoError(u.t, cmd.Start())
	printed := make(chan string, 100)
	go func() {
		defer close(printed)
		for s := bufio.NewScanner(out); s.Scan(); {
			printed <- s.Text()
		}
	}()
	u.t.Cleanup(func() {
		cancel()
		for range printed { // Wait must come after the last read
		}
		_ = cmd.Wait() // the error of a killed process is expected
	})
	return func() string {
		u.t.Helper()
		select {
		case line, open := <-printed:
			require.True(u.t, open, "kubectl %v exited", args)
			return line
		case <-time.After(time.Minute):
			require.FailNow(u.t, "kubectl printed nothing for a minute")
			return ""
		}
	}
}

// waitLong is a flag of kubectl wait for conditions that hold soon, unless the machine is busy. The
// default is 30 seconds.
const waitLong = "--timeout=2m"

func TestWaitForACondition(t *testing.T) {
	u := newUser(t)
	u.do("create", "deployment", "web", "--image=nginx")
	require.Equal(t, "deployment.apps/web condition met\n", u.do("wait", "--for=create", "deployment/web", waitLong))
	require.Equal(t, "error: timed out waiting for the condition on deployments/web\n",
		u.doRefused("wait", "--for=condition=Available", "deployment/web", "--timeout=1s"))

	ended := make(chan result, 1)
	go func() { ended <- u.try("wait", "--for=condition=Available", "deployment/web", waitLong) }()
	u.do("patch", "deployment", "web", "--subresource=status", "--type=merge",
		"-p", `{"status":{"conditions":[{"type":"Available","status":"True"}]}}`)
	require.Equal(t, result{out: "deployment.apps/web condition met\n"}, <-ended)
}

func TestWaitForDeletion(t *testing.T) {
	u := newUser(t, withPods())
	ended := make(chan result, 1)
	go func() { ended <- u.try("wait", "--for=delete", "pod/web-1", "pod/web-2", waitLong) }()
	u.do("delete", "pods", "--all", "--wait=false", "--grace-period=1")
	r := <-ended
	require.Zero(t, r.code, r.err)
}

// kubectl wait returns for a value that exists already and for one that is set while it waits.
func TestWaitForAValue(t *testing.T) {
	u := newUser(t, withPods())
	u.do("create", "configmap", "a", "--from-literal=k=v")
	require.Equal(t, "configmap/a condition met\n", u.do("wait", "--for=jsonpath={.data.k}=v", "configmap/a", waitLong))
	require.Equal(t, "error: timed out waiting for the condition on configmaps/a\n",
		u.doRefused("wait", "--for=jsonpath={.data.k}=w", "configmap/a", "--timeout=1s"))

	ended := make(chan result, 1)
	go func() {
		ended <- u.try("wait", "--for=jsonpath={.status.phase}=Running", "pods", "-l", "app=web", waitLong)
	}()
	u.do("patch", "pod", "web-2", "--subresource=status", "-p", `{"status":{"phase":"Running"}}`)
	require.Equal(t, result{out: "pod/web-1 condition met\npod/web-2 condition met\n"}, <-ended)
}
