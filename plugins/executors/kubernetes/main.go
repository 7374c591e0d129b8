package main

import (
	"context"
	"flag"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"

	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/serve"
)

// Plugin is the executor.
var Plugin = sdk.ExecutorPlugin{
	Info: sdk.Info{
		Kind: sdk.KindExecutor, Name: "kubernetes", Version: "1.0.0",
		Summary: "Trials run on a Kubernetes cluster: each lease is a pod for each of its bundles.",
		Options: declared.Schema(),
	},
	Open: open,
}

func main() {
	flag.Parse()
	klog.SetLogger(logr.Discard()) // what matters of it is an error that this program reports itself
	serve.Executor(Plugin)
}

func open(x sdk.Execution, text []byte, tell func(...sdk.LeaseEvent)) (sdk.Executor, sdk.ExecutorTraits, error) {
	o, err := read(text, x.Dir)
	if err != nil {
		return nil, sdk.ExecutorTraits{}, err
	}
	for _, text := range o.warnings {
		warn(text)
	}
	c, err := connect(&o)
	if err != nil {
		return nil, sdk.ExecutorTraits{}, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), reachWithin)
	defer cancel()
	e := newExecutor(x, o, c, tell)
	if err := e.check(ctx); err != nil {
		return nil, sdk.ExecutorTraits{}, err
	}
	e.begin()
	traits := sdk.ExecutorTraits{Gangs: true, Agents: x.Agent != nil}
	if c.seesNodes(ctx) {
		return &withCapacity{e}, traits, nil
	}
	return e, traits, nil
}
