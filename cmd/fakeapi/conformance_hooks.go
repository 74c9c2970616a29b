package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"time"
)

// hook brings the server into a state that no API request causes. It is a URL, to which a POST is
// sent, or a shell command.
type hook string

// set parses the flag.
func (h *hook) set(text string) error {
	text = strings.TrimSpace(text)
	if text == "" {
		return errors.New("neither a URL nor a command")
	}
	if hook(text).isURL() {
		if to, err := url.Parse(text); err != nil || to.Host == "" {
			return fmt.Errorf("%q is not a URL of the form http://host:port/path", text)
		}
	}
	*h = hook(text)
	return nil
}

// setCommand parses a flag that must be a command.
func (h *hook) setCommand(text string) error {
	if hook(strings.TrimSpace(text)).isURL() {
		return errors.New("it must be a shell command, not a URL")
	}
	return h.set(text)
}

func (h hook) isURL() bool {
	return strings.HasPrefix(string(h), "http://") || strings.HasPrefix(string(h), "https://")
}

// runOnce returns a function for the configuration that runs the hook to its end, or nil without a
// hook.
func (h hook) runOnce() func(context.Context) error {
	switch {
	case h == "":
		return nil
	case h.isURL():
		return h.post
	}
	return func(ctx context.Context) error {
		output, err := h.command(ctx).CombinedOutput()
		return h.wrapError(ctx, err, output)
	}
}

// post sends a POST without a body. The response must have a 2xx code.
func (h hook) post(ctx context.Context) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, string(h), nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	output, err := io.ReadAll(io.LimitReader(response.Body, 1<<10))
	if err == nil && response.StatusCode/100 != 2 {
		err = fmt.Errorf("POST %s returned %s: %s", request.URL.Redacted(), response.Status, strings.TrimSpace(string(output)))
	}
	return err
}

// hookStopTimeout is how long an interrupted command may take to end.
const hookStopTimeout = 10 * time.Second

// command returns the shell command. When ctx ends it is interrupted, and killed after
// hookStopTimeout.
func (h hook) command(ctx context.Context) *exec.Cmd {
	command := exec.CommandContext(ctx, "sh", "-c", string(h))
	command.Cancel = func() error { return command.Process.Signal(os.Interrupt) }
	command.WaitDelay = hookStopTimeout
	return command
}

// wrapError returns the error of a command with the end of its output, or the reason for its
// interruption.
func (h hook) wrapError(ctx context.Context, err error, output []byte) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	const limit = 500
	return fmt.Errorf("%s: %w: %s", string(h), err, strings.TrimSpace(string(output[max(0, len(output)-limit):])))
}

// runDuring returns a function for the configuration that starts the command and waits for its
// first line of output: the server is then in the state, until stop interrupts the command. It
// returns nil without a hook.
func (h hook) runDuring() func(context.Context) (stop func(), err error) {
	if h == "" {
		return nil
	}
	return func(ctx context.Context) (stop func(), err error) {
		running, end := context.WithCancel(ctx)
		command := h.command(running)
		lines, err := command.StdoutPipe()
		if err == nil {
			err = command.Start()
		}
		if err != nil {
			end()
			return nil, h.wrapError(ctx, err, nil)
		}
		stop = func() {
			end()
			_ = command.Wait() // the error is that of the interruption
		}
		if _, err := bufio.NewReader(lines).ReadString('\n'); err != nil {
			stop()
			return nil, h.wrapError(ctx, errors.New("it ended without printing a line"), nil)
		}
		return stop, nil
	}
}
