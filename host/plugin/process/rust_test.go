package process_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/tunehost/tunehost/host/plugin"
	"github.com/tunehost/tunehost/host/plugin/internal/suite"
	"github.com/tunehost/tunehost/host/plugin/process"
	"github.com/tunehost/tunehost/internal/toolchain"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// TestRustSuite runs the suite on a program of the Rust SDK.
func TestRustSuite(t *testing.T) {
	path := rustProbe(t)
	suite.Run(t, func(t *testing.T, kind sdk.Kind) plugin.Plugin {
		if kind == sdk.KindReporter || kind == sdk.KindExecutor {
			t.Skipf("the Rust SDK has no %ss", kind)
		}
		return startConfig(t, process.Config{
			Program: process.Program{Kind: kind, Name: "probe", Path: path, Args: []string{string(kind)}},
			Log:     func(l process.Line) { logged(t, l) },
		})
	})
}

// B-132: the SIGTERM that an engine sends to all processes of a job does not end a plugin of the Rust SDK.
func TestRustLivesOn(t *testing.T) {
	livesOn(t, startConfig(t, process.Config{Program: process.Program{Kind: sdk.KindSearcher, Name: "probe",
		Path: rustProbe(t), Args: []string{string(sdk.KindSearcher)}}}))
}

// rustProbe builds the program.
func rustProbe(t *testing.T) string {
	cargo := toolchain.Need(t, toolchain.Rust)
	target, err := filepath.Abs("../../../.tools/cargo")
	if err != nil {
		t.Fatal(err)
	}
	build := exec.CommandContext(t.Context(), cargo, "build", "--quiet", "--locked", "--example", "probe", "--jobs",
		"2")
	build.Dir = "../../../plugins/sdk/rust"
	build.Env = append(os.Environ(), "CARGO_TARGET_DIR="+target)
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("cargo build: %v\n%s", err, out)
	}
	return filepath.Join(target, "debug", "examples", "probe")
}
