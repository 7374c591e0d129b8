package host

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// benchmark runs one experiment whose size is b.N.
func benchmark(b *testing.B, resources, text string) {
	dir := b.TempDir()
	file := filepath.Join(dir, "bench.yaml")
	if err := os.WriteFile(file, fmt.Appendf(nil, text, b.N), 0o600); err != nil {
		b.Fatal(err)
	}
	o := Options{File: file, Storage: dir, Plugins: testPlugins, Output: Output{Stdout: io.Discard, Stderr: os.Stderr},
		Resources: resources}
	b.ReportAllocs()
	b.ResetTimer()
	if ended, err := run(b.Context(), o); err != nil || ended.Errored > 0 {
		b.Fatal(ended, err)
	}
}

// BenchmarkNothing: trials that do nothing, in processes that are used again.
func BenchmarkNothing(b *testing.B) {
	benchmark(b, "cpu=16", `
version: 1
objective: {metric: score, mode: max}
trainable: {plugin: chaos, options: {iterations: 0, any_params: true}}
space: {x: {uniform: [0, 1]}}
strict_metrics: false
trials: %d
`)
}

// BenchmarkProgram: a program for each trial.
func BenchmarkProgram(b *testing.B) {
	benchmark(b, "cpu=2", `
version: 1
objective: {metric: score, mode: max}
trainable: {command: [/bin/true]}
space: {x: {uniform: [0, 1]}}
strict_metrics: false
trials: %d
`)
}

// BenchmarkResults: results of sixteen trials in one process, none decided.
func BenchmarkResults(b *testing.B) {
	benchmark(b, "cpu=16", `
version: 1
objective: {metric: score, mode: max}
trainable: {plugin: chaos, options: {iterations: %d, shared: true, saves: false, any_params: true}}
space: {x: {uniform: [0, 1]}}
trials: 16
`)
}
