package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"

	"example.com/fakeapi/fake/access"
	"example.com/fakeapi/internal/cmd/environment"
)

const accessArguments = "--kubeconfig FILE [--context CONTEXT] [--client NAME] [--format FORMAT]\n" +
	"--kubeconfig FILE [--context CONTEXT] [--client NAME] --manifests DIRECTORY [--subject SUBJECT] [--namespace NAMESPACE] [--and-nothing-more] [--format FORMAT]"

// accessFlags has the flags of access.
type accessFlags struct {
	kubeconfig, context string
	client              string // "" for all
	format              string
	manifests           string // "" for none
	subject, namespace  string
	andNothingMore      bool
}

func (f *accessFlags) define(flags *flag.FlagSet) {
	flags.StringVar(&f.kubeconfig, "kubeconfig", "", "connect to the fakeapi server of this `FILE`; there is no default")
	flags.StringVar(&f.context, "context", "", "use this `CONTEXT` of the kubeconfig instead of its current one")
	flags.StringVar(&f.client, "client", "", "only the requests of the client `NAME`: a user, a service account as NAME or NAMESPACE/NAME, or the beginning of the user agent, up to a slash or a space")
	flags.StringVar(&f.format, "format", "text", "print the result as `FORMAT`: text, json, or, without --manifests, yaml for the smallest manifests")
	flags.StringVar(&f.manifests, "manifests", "", "compare with the RBAC manifests in `DIRECTORY`, and fail if they lack a rule")
	flags.StringVar(&f.subject, "subject", "", "compare with the roles of `SUBJECT`: system:serviceaccount:NAMESPACE:NAME, NAMESPACE/NAME, or the name of a user, a service account or a group; without it, the only one that the manifests bind roles to, or the one named as the client")
	flags.StringVar(&f.namespace, "namespace", "", "take manifests without a namespace as those of `NAMESPACE`; without it, their rules hold in all namespaces")
	flags.BoolVar(&f.andNothingMore, "and-nothing-more", false, "fail also if the manifests have a rule that was not used")
}

// validate returns an error for flags that cannot be combined.
func (f *accessFlags) validate() error {
	switch {
	case f.kubeconfig == "":
		return errors.New("--kubeconfig is required")
	case !slices.Contains(environment.AccessFormats(), f.format):
		return fmt.Errorf("--format %s is none of %s", f.format, strings.Join(environment.AccessFormats(), ", "))
	case f.manifests != "" && f.format == "yaml":
		return errors.New("--format yaml cannot be used with --manifests")
	case f.manifests == "" && (f.subject != "" || f.namespace != "" || f.andNothingMore):
		return errors.New("--subject, --namespace and --and-nothing-more require --manifests")
	}
	return nil
}

// accessCommand prints the report of accesses of a running server, or what manifests lack.
func accessCommand(ctx context.Context, c *call) error {
	var f accessFlags
	if err := c.parse(f.define); err != nil {
		return err
	}
	if err := f.validate(); err != nil {
		return c.usageError(err)
	}
	err := f.run(ctx, c)
	switch {
	case err == nil || errors.Is(err, errReported):
		return err
	case f.manifests != "":
		return errUndecided{err}
	case ctx.Err() != nil:
		return nil // interrupted
	}
	return err
}

// run runs the command. The error is errReported if the manifests lack a rule.
func (f *accessFlags) run(ctx context.Context, c *call) error {
	server, err := openCluster(ctx, f.kubeconfig, f.context)
	if err != nil {
		return err
	}
	var report access.Report
	if err := server.getControl(ctx, "access", &report); err != nil {
		return err
	}
	if f.manifests != "" {
		return f.compare(ctx, c, server, report)
	}
	report = report.Of(f.client)
	if f.format != "text" {
		return environment.WriteAccess(c.raw, report, f.format)
	}
	if len(report.Accesses) == 0 {
		_, err := fmt.Fprintln(c.stderr, "no requests")
		return err
	}
	return environment.WriteAccess(c.stdout, report, f.format)
}

// compare compares a report with the manifests, and prints the result.
func (f *accessFlags) compare(ctx context.Context, c *call, server *cluster, report access.Report) error {
	result, err := f.check(ctx, server, report)
	if err != nil {
		return err
	}
	if f.format == "json" {
		err = writeIndented(c.raw, result)
	} else {
		_, err = io.WriteString(c.stdout, result.String())
	}
	if err == nil && (len(result.Missing) > 0 || f.andNothingMore && len(result.Unused) > 0) {
		err = errReported
	}
	return err
}

// check compares a report with the manifests.
func (f *accessFlags) check(ctx context.Context, server *cluster, report access.Report) (*access.Result, error) {
	if report.Dropped > 0 {
		return nil, fmt.Errorf("%d requests are not in the report of the server, because its size is limited", report.Dropped)
	}
	if len(report.Of(f.client).Accesses) == 0 {
		if f.client == "" {
			return nil, errors.New("the server received no requests")
		}
		return nil, fmt.Errorf("--client %s: it made no requests; fakeapi access without --client and --manifests prints those that did", f.client)
	}
	if info, err := os.Stat(f.manifests); err != nil {
		return nil, fmt.Errorf("--manifests %s: %w", f.manifests, unwrapPathError(err))
	} else if !info.IsDir() {
		return nil, fmt.Errorf("--manifests %s: it is not a directory", f.manifests)
	}
	manifests, err := access.ReadManifests(os.DirFS(f.manifests))
	if err != nil {
		return nil, fmt.Errorf("--manifests %s: %w", f.manifests, err)
	}
	lines, err := server.requestLines(ctx)
	if err != nil {
		return nil, err
	}
	return access.Check(report, manifests, access.CheckOptions{
		Client: f.client, Subject: f.subject, Namespace: f.namespace,
		Locate: func(r access.Request) (uint64, string) { return r.Seq, lines[r.Seq] },
	})
}

// requestLines returns the request lines, such as "GET /api/v1/pods", of the requests that the
// server has recorded, by their numbers.
func (c *cluster) requestLines(ctx context.Context) (map[uint64]string, error) {
	var list struct {
		Requests []struct {
			Seq          uint64
			Method, Path string
		}
	}
	if err := c.getControl(ctx, "requests", &list); err != nil {
		return nil, err
	}
	lines := make(map[uint64]string, len(list.Requests))
	for _, r := range list.Requests {
		lines[r.Seq] = r.Method + " " + r.Path
	}
	return lines, nil
}

// maxControlResponse is the maximum size of a response of the control API in bytes.
const maxControlResponse = 256 << 20

// getControl reads a path of the control API of package fakeapi as JSON.
func (c *cluster) getControl(ctx context.Context, path string, into any) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.base.JoinPath("fakeapi", "v1", path).String(), nil)
	if err != nil {
		return err
	}
	request.Header.Set("Accept", "application/json")
	request.Header.Set("User-Agent", commandUserAgent)
	response, err := c.transport.RoundTrip(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }() // reading has no more errors
	switch {
	case response.StatusCode == http.StatusNotFound:
		return fmt.Errorf("%s has no control API; it is no fakeapi server", c.base)
	case response.StatusCode != http.StatusOK:
		return fmt.Errorf("GET %s: %s", request.URL, response.Status)
	}
	if err := json.NewDecoder(io.LimitReader(response.Body, maxControlResponse)).Decode(into); err != nil {
		return fmt.Errorf("GET %s: %w", request.URL, err)
	}
	return nil
}
