package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"time"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"example.com/fakeapi/faults"
	"example.com/fakeapi/internal/originguard"
	"example.com/fakeapi/internal/printable"
)

const proxyArguments = "--kubeconfig FILE [--context CONTEXT] --faults RULES [--address ADDRESS] [--write-kubeconfig FILE]"

// proxyFlags has the flags of proxy.
type proxyFlags struct {
	kubeconfig, context, faults string
	address                     string
	write                       string // "" for a temporary file
}

func (f *proxyFlags) define(flags *flag.FlagSet) {
	flags.StringVar(&f.kubeconfig, "kubeconfig", "", "connect to the cluster with the credentials of this `FILE`; there is no default")
	flags.StringVar(&f.context, "context", "", "use this `CONTEXT` of the kubeconfig instead of its current one")
	flags.StringVar(&f.faults, "faults", "", "apply the fault rules `RULES`, separated by semicolons, or those in the file of this name, one per line; also ready-made ones such as expire410(resource(pods))")
	flags.StringVar(&f.address, "address", "127.0.0.1:0", "listen on this loopback `ADDRESS`; the default is a free port")
	flags.StringVar(&f.write, "write-kubeconfig", "", "write the kubeconfig for the client under test to `FILE` and keep it; without it, a temporary one is written and removed at the end")
}

// proxy applies fault rules in front of a cluster until ctx ends.
func proxy(ctx context.Context, c *call) error {
	var f proxyFlags
	if err := c.parse(f.define); err != nil {
		return err
	}
	switch {
	case f.kubeconfig == "":
		return c.usageError(errors.New("--kubeconfig is required"))
	case f.faults == "":
		return c.usageError(errors.New("--faults is required"))
	}
	rules, err := readFaults(ctx, f.faults)
	if err != nil {
		return ignoreInterruption(err)
	}
	for _, r := range rules {
		if r.MatchesWebhooks() {
			return fmt.Errorf("--faults %s: a proxy does not see the webhooks that the cluster calls, so that this rule matches nothing; it works with fakeapi serve: %s", f.faults, r)
		}
	}
	to, err := openCluster(ctx, f.kubeconfig, f.context)
	if err != nil {
		return ignoreInterruption(err)
	}
	var set faults.Set
	if _, err := set.Add(rules...); err != nil {
		return err
	}
	listener, err := listenLoopback(f.address)
	if err != nil {
		return err
	}
	server := &http.Server{
		Handler:           withLoopbackHostsOnly(faults.Proxy(&set, to.base, to.transport)),
		BaseContext:       func(net.Listener) context.Context { return ctx },
		ReadHeaderTimeout: 30 * time.Second,
		ErrorLog:          log.New(io.Discard, "", 0), // errors of clients that disconnect
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	err = f.proxyUntilDone(ctx, to, "http://"+listener.Addr().String(), len(rules), c.stdout)
	err = errors.Join(err, server.Close())
	<-served
	return errors.Join(err, writeFaultReport(c.stdout, &set))
}

// listenLoopback listens on a loopback address. The proxy has the credentials of the kubeconfig, so
// it must not be reachable from other machines.
func listenLoopback(address string) (net.Listener, error) {
	at, err := net.ResolveTCPAddr("tcp", address)
	if err != nil {
		return nil, err
	}
	if !at.IP.IsLoopback() {
		return nil, fmt.Errorf("address %q is not a loopback address", address)
	}
	return net.ListenTCP("tcp", at)
}

// withLoopbackHostsOnly rejects requests with another Host, and requests of web pages.
func withLoopbackHostsOnly(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		err := originguard.CheckHost(r)
		if err == nil {
			err = originguard.CheckOrigin(r)
		}
		if err != nil {
			http.Error(w, "fakeapi proxy: the request is refused: "+err.Error(), http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// proxyUntilDone prints the address of the proxy and waits for the end of ctx.
func (f *proxyFlags) proxyUntilDone(ctx context.Context, to *cluster, at string, rules int, stdout io.Writer) (err error) {
	file, err := newKubeconfigFile(f.write)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.close()) }()
	content, err := proxyKubeconfig(at, to.namespace)
	if err != nil {
		return err
	}
	if err := file.write(content); err != nil {
		return err
	}
	removal := ""
	if file.temporary() {
		removal = " (removed at the end)"
	}
	if _, err := fmt.Fprintf(stdout, `proxy for %s on %s, fault rules: %d
kubeconfig: %s%s

  export KUBECONFIG=%s

Ctrl-C ends it.
`, to.base.Redacted(), at, rules, file.path, removal, printable.ShellWord(file.path)); err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}

// proxyKubeconfig returns a kubeconfig without credentials. Its names differ from those of other
// kubeconfigs, so that it does not replace the one that the proxy uses.
func proxyKubeconfig(at, namespace string) ([]byte, error) {
	const name = "fakeapi-proxy"
	config := clientcmdapi.NewConfig()
	config.Clusters[name] = &clientcmdapi.Cluster{Server: at, InsecureSkipTLSVerify: true} // the JavaScript client refuses plain HTTP without it
	config.AuthInfos[name] = &clientcmdapi.AuthInfo{}
	config.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: name, Namespace: namespace}
	config.CurrentContext = name
	return clientcmd.Write(*config)
}

// writeFaultReport prints the hits of the rules.
func writeFaultReport(w io.Writer, set *faults.Set) error {
	for _, h := range set.Hits() {
		if _, err := fmt.Fprintln(w, h); err != nil {
			return err
		}
	}
	return nil
}
