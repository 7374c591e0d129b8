package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"github.com/tunehost/tunehost/host"
	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/plugin"
	"github.com/tunehost/tunehost/host/storage/mirror"
	"github.com/tunehost/tunehost/host/validate/probe"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// executorFlags are the flags of doctor that examine an executor.
type executorFlags struct {
	executor string
	gpus     int
	wait     time.Duration
}

const defaultWait = 10 * time.Minute

func (f *executorFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.executor, "executor", "",
		"check this `EXECUTOR`; with options as in the experiment file: '{plugin: NAME, OPTION: VALUE}'")
	flags.IntVar(&f.gpus, "gpus", 0, "with --executor: request so many GPUs")
	flags.DurationVar(&f.wait, "wait", defaultWait, "with --executor: how long to wait in the queue")
}

func (f *executorFlags) check() error {
	switch {
	case f.gpus < 0:
		return usage("--gpus is %d; allowed: 0 or more", f.gpus)
	case f.wait <= 0:
		return usage("--wait is %v; allowed: more than 0", f.wait)
	case f.executor == "" && (f.gpus != 0 || f.wait != defaultWait):
		return usage("--gpus and --wait need --executor: name an executor")
	case f.executor == config.LocalExecutor:
		return usage("the executor local is this machine: tunehost doctor, without --executor, checks it")
	}
	return nil
}

// keysOfHost are the keys of executor in an experiment file that are not options of the plugin.
var keysOfHost = []string{"plugin", "idle", "host_grace", "host_address", "host_port", "upload"}

// ref reads the executor, as the experiment file has it.
func (f *executorFlags) ref(to *probe.Subject) (name string, err error) {
	to.Options = []byte("{}")
	if !strings.HasPrefix(strings.TrimSpace(f.executor), "{") {
		return f.executor, nil
	}
	values, err := optionsOf(f.executor)
	if err != nil {
		return "", err
	}
	name, _ = values["plugin"].(string)
	if name == "" {
		return "", usage("--executor has no plugin; write '{plugin: NAME, OPTION: VALUE}'")
	}
	if err := ofHost(values, to); err != nil {
		return "", err
	}
	for _, key := range keysOfHost {
		delete(values, key)
	}
	if to.Options, err = json.Marshal(values); err != nil {
		return "", usage("--executor has an option that is not JSON: %v", err)
	}
	return name, nil
}

// optionsOf reads a map as an experiment file would.
func optionsOf(text string) (values map[string]any, err error) {
	object, err := config.JSONOf("--executor", text)
	if err != nil {
		return nil, usage("--executor cannot be read: %s", strings.Join(messages(err), "; "))
	}
	d := json.NewDecoder(bytes.NewReader(object))
	d.UseNumber() // numbers reach the plugin as they were written
	if err := d.Decode(&values); err != nil {
		return nil, usage("--executor is not a map; write '{plugin: NAME, OPTION: VALUE}'")
	}
	return values, nil
}

// maxPort is the highest port.
const maxPort = 65535

// ofHost reads where the host listens for nodes, as from an experiment file.
func ofHost(values map[string]any, to *probe.Subject) error {
	if at, ok := values["host_address"]; ok {
		if to.Address, ok = at.(string); !ok || to.Address == "" {
			return usage("--executor: host_address is %v; write a name or an address of this machine", at)
		}
	}
	if at, ok := values["host_port"]; ok {
		port, err := strconv.Atoi(fmt.Sprint(at))
		if err != nil || port < 1 || port > maxPort {
			return usage("--executor: host_port is %v; allowed: 1 to %d", at, maxPort)
		}
		to.Port = port
	}
	return nil
}

// request is the lease that is asked for.
func (f *executorFlags) request() sdk.LeaseBundle {
	b := sdk.LeaseBundle{{Name: "cpu", Value: 1}}
	if f.gpus > 0 {
		b = append(b, sdk.Amount{Name: "gpu", Value: float64(f.gpus)})
	}
	return b
}

// doctorExecutor examines an executor.
func (a *app) doctorExecutor(dir string, f *executorFlags) error {
	if mirror.IsURL(dir) {
		return usage("DIR is a URL; with --executor, name a directory of this machine")
	}
	subject := probe.Subject{Dir: dir, Version: host.Version(), Within: f.wait, Request: f.request(),
		Say: func(text string) { fmt.Fprintln(a.err, text) }}
	name, err := f.ref(&subject)
	if err != nil {
		return err
	}
	p, err := findKind(name, sdk.KindExecutor)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	start := a.starting(p)
	a.waiting.on("executor " + name)
	subject.Open = func(ctx context.Context) (plugin.Plugin, error) { return start(ctx, sdk.KindExecutor) }
	return a.report(probe.Examine(ctx, subject))
}
