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

// hook is how the server is brought into a state that cannot be provoked by the API: a URL that gets a POST, or a command for the shell.
type hook string

// set reads a flag.
func (h *hook) set(text string) error {
	text = strings.TrimSpace(text)
	if text == "" {
		return errors.New("it is neither a URL nor a command")
	}
	if hook(text).isURL() {
		if to, err := url.Parse(text); err != nil || to.Host == "" {
			return fmt.Errorf("%q is no URL of the form http://host:port/path", text)
		}
	}
	*h = hook(text)
	return nil
}

// setCommand reads a flag that takes a command only.
func (h *hook) setCommand(text string) error {
	if hook(strings.TrimSpace(text)).isURL() {
		return errors.New("it is a shell command, and no URL")
	}
	return h.set(text)
}

func (h hook) isURL() bool {
	return strings.HasPrefix(string(h), "http://") || strings.HasPrefix(string(h), "https://")
}

// runOnce gives the function of a configuration that does it and waits for its end, nil if there is no hook.
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

// post sends a POST without a body, which must be answered with 2xx.
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
		err = fmt.Errorf("POST %s answers %s: %s", request.URL.Redacted(), response.Status, strings.TrimSpace(string(output)))
	}
	return err
}

// hookStopTimeout is for how long a command is waited for that was told to end.
const hookStopTimeout = 10 * time.Second

// command is the hook for the shell. When ctx ends it is interrupted, and after a while killed.
func (h hook) command(ctx context.Context) *exec.Cmd {
	command := exec.CommandContext(ctx, "sh", "-c", string(h))
	command.Cancel = func() error { return command.Process.Signal(os.Interrupt) }
	command.WaitDelay = hookStopTimeout
	return command
}

// wrapError is the error of a command, with the end of what it said, or why it was interrupted.
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

// runDuring gives the function of a configuration that starts the command and waits for a line of it, which says that the server is in
// that state. It is so until the command is interrupted. Nil if there is no hook.
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
			_ = command.Wait() // it was interrupted
		}
		if _, err := bufio.NewReader(lines).ReadString('\n'); err != nil {
			stop()
			return nil, h.wrapError(ctx, errors.New("it ended without a line on stdout that says that the server is in that state"), nil)
		}
		return stop, nil
	}
}
