// The clients of run take random numbers from the scenario's seed.
//go:debug randseednop=0

package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"example.com/fakeapi/internal/cmd/etcd"
	"example.com/fakeapi/internal/cmd/kubeapiserver"
)

func main() {
	name := programName(os.Args[0])
	if name == kubectlName {
		os.Exit(runKubectl(os.Args[1:], os.Stderr))
	}
	delayCollections()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// A second signal kills the process.
	context.AfterFunc(ctx, stop)
	switch name {
	case apiServerName:
		os.Exit(kubeapiserver.Main(ctx, os.Args[1:], os.Stdout, os.Stderr))
	case etcdName:
		os.Exit(etcd.Main(ctx, os.Args[1:], os.Stdout, os.Stderr))
	}
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}
