package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tunehost/tunehost/conformance"
	"github.com/tunehost/tunehost/host/plugin"
	"github.com/tunehost/tunehost/host/plugin/process"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// A plugin that hangs at its start has as much time as in an experiment, the user is told of it before it is given up,
// and an interruption is none of its faults.
func TestHangingPlugin(t *testing.T) {
	path := filepath.Join(t.TempDir(), "hang.sh")
	if err := os.WriteFile(path, []byte("#!/bin/sh\nexec sleep 1000\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, examine := range map[string]func(context.Context, *app) error{
		"check":    func(ctx context.Context, a *app) error { return a.checkPlugin(ctx, path, conformance.Options{}) },
		"describe": func(ctx context.Context, a *app) error { _, err := a.infos(ctx, path); return err },
		"conformance": func(ctx context.Context, a *app) error {
			return a.conformance(ctx, conformanceFlags{}, path)
		},
		"list": func(ctx context.Context, a *app) error {
			return a.listChecks(ctx, conformanceFlags{}, []string{path})
		},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, interrupt := context.WithCancel(t.Context())
			var out, errs bytes.Buffer
			a, later := newApp(nil, nil, &out, &errs), time.Duration(0)
			defer a.end()
			a.later = func(d time.Duration, f func()) func() bool { // at once
				later = d
				f()
				return func() bool { return false }
			}
			a.start = func(ctx context.Context, what process.Program) (plugin.Plugin, error) {
				if what.StartTimeout != 30*time.Second || later != 10*time.Second {
					t.Errorf("it has %v, and the user is told after %v", what.StartTimeout, later)
				}
				interrupt()
				return nil, ctx.Err()
			}
			err := examine(ctx, a)
			if !errors.Is(err, context.Canceled) || exitStatus(err) != exitInterrupted || out.Len() > 0 {
				t.Errorf("%v, %s", err, out.String())
			}
			const told = `plugin "hang" has not answered Describe since its start for 10s; it is given up after 30s`
			if got := errs.String(); strings.Count(got, told) != 1 {
				t.Errorf("%q", got)
			}
		})
	}
}

// Who describes a plugin hears of a default that its own schema forbids.
func TestDescribedDefaults(t *testing.T) {
	var out, said bytes.Buffer
	err := newApp(nil, nil, &out, &said).describe(sdk.Info{Kind: sdk.KindSearcher, Name: "odd", Version: "1",
		Options: []byte(`{"type": "object", "additionalProperties": false, "properties": {
			"n": {"type": "integer", "default": "three", "description": "how many"},
			"good": {"type": "integer", "default": 5, "description": "fine"}}}`)})
	const want = `warning: plugin odd: the default of option "n" is "three", which its own schema forbids (`
	if err != nil || !strings.HasPrefix(said.String(), want) || strings.Count(said.String(), "\n") != 1 {
		t.Errorf("%q, %v", said.String(), err)
	}
}
