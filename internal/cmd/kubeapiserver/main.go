//go:build unix

package kubeapiserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"

	"k8s.io/klog/v2"

	"example.com/fakeapi/internal/cmd/controlplane"
)

// Main runs the process kube-apiserver with the arguments after its name, and returns its exit
// status. It returns when ctx ends, or with an error when the parent of the process or the etcd
// process ends.
func Main(ctx context.Context, args []string, stdout, stderr *os.File) int {
	parentEnded := controlplane.ParentEnded()
	flags, err := Parse(args)
	if err != nil {
		return reportUsage(err, stdout, stderr)
	}
	_, _ = io.WriteString(stderr, flags.Warnings)
	p := &process{log: controlplane.NewLogger(stderr), flags: flags, args: args, stdout: stdout, stderr: stderr}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	go func() {
		select {
		case <-parentEnded:
			stop(errParentEnded)
		case <-ctx.Done():
		}
	}()
	if err := p.run(ctx); err != nil {
		p.log.Error(err, "command failed")
		return 1
	}
	return 0
}

// errParentEnded is why a process ends whose parent has ended.
var errParentEnded = errors.New("the parent process has ended")

// process is a kube-apiserver process.
type process struct {
	log            klog.Logger
	flags          *Flags
	args           []string
	stdout, stderr *os.File
}

// run serves until ctx ends.
func (p *process) run(ctx context.Context) (err error) {
	l, err := p.listen(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, controlplane.IgnoreClosed(l.Close())) }()
	conn, err := p.connect(ctx)
	if ctx.Err() != nil {
		return ignoreSignal(ctx)
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	response, err := p.serve(conn, l)
	if err != nil {
		return err
	}
	if err := l.Close(); err != nil { // the etcd process has it
		return err
	}
	for _, note := range response.Notes {
		p.log.Info(note)
	}
	p.log.Info("Serving securely on " + l.Addr().String())
	return p.wait(ctx, conn)
}

// serve passes the listener to the etcd process, which starts to serve there.
func (p *process) serve(conn *controlplane.Conn, l *net.TCPListener) (response controlplane.Response, err error) {
	file, err := l.File()
	if err != nil {
		return response, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	directory, err := os.Getwd()
	if err != nil {
		return response, err
	}
	request := controlplane.Request{Method: controlplane.Serve, Arguments: p.args, Directory: directory, Environment: variables(os.Environ())}
	if err := errors.Join(conn.SendFiles(file, p.stdout, p.stderr), conn.Send(request)); err != nil {
		return response, fmt.Errorf("connecting to etcd: %w", err)
	}
	if err := conn.Receive(&response); err != nil {
		return response, etcdEnded(err)
	}
	if response.Error != "" {
		return response, errors.New(response.Error)
	}
	return response, nil
}

// variables returns the variables FAKEAPI_* of an environment.
func variables(all []string) map[string]string {
	found := map[string]string{}
	for _, variable := range all {
		if name, value, ok := strings.Cut(variable, "="); ok && strings.HasPrefix(name, "FAKEAPI_") {
			found[name] = value
		}
	}
	return found
}

// wait waits until ctx ends, and shuts the API server down, or until the etcd process ends.
func (p *process) wait(ctx context.Context, conn *controlplane.Conn) error {
	responses := make(chan controlplane.Response, 1)
	var receiveErr error
	go func() {
		defer close(responses)
		var response controlplane.Response
		if receiveErr = conn.Receive(&response); receiveErr == nil {
			responses <- response
		}
	}()
	select {
	case <-responses:
		return etcdEnded(receiveErr)
	case <-ctx.Done():
	}
	if errors.Is(context.Cause(ctx), errParentEnded) {
		return errParentEnded // the etcd process closes the API server at once
	}
	p.log.Info("Received a signal, shutting down")
	if err := conn.Send(controlplane.Request{Method: controlplane.Shutdown}); err != nil {
		return etcdEnded(err)
	}
	response, ok := <-responses
	if !ok {
		return etcdEnded(receiveErr)
	}
	if response.Error != "" {
		return fmt.Errorf("shutting down: %s", response.Error)
	}
	return nil
}

// etcdEnded returns the error of a connection whose other end has ended.
func etcdEnded(err error) error {
	if err == nil || errors.Is(err, io.EOF) {
		return errors.New("the etcd process has ended")
	}
	return fmt.Errorf("the connection to the etcd process has ended: %w", err)
}

// ignoreSignal returns why ctx ended, or nil for a signal.
func ignoreSignal(ctx context.Context) error {
	if err := context.Cause(ctx); errors.Is(err, errParentEnded) {
		return err
	}
	return nil
}
