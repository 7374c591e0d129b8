package toolchain

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A fake is a test that records how it ended.
type fake struct {
	testing.TB
	skip, failure string
	cleanups      []func()
}

// over is the panic value that ends a fake test.
type over struct{}

func (f *fake) Helper()          {}
func (f *fake) Name() string     { return "TestFake" }
func (f *fake) Cleanup(g func()) { f.cleanups = append(f.cleanups, g) }
func (f *fake) Skipped() bool    { return f.skip != "" }
func (f *fake) Skipf(format string, args ...any) {
	f.skip = fmt.Sprintf(format, args...)
	panic(over{})
}
func (f *fake) Fatalf(format string, args ...any) {
	f.failure = fmt.Sprintf(format, args...)
	panic(over{})
}

// during runs the body of a test to its end.
func during(body func(t testing.TB)) (f *fake) {
	f = &fake{}
	defer func() {
		if r := recover(); r != nil && r != (over{}) {
			panic(r)
		}
		for _, g := range f.cleanups {
			g()
		}
	}()
	body(f)
	return f
}

// alone sets the environment of a machine with Go alone, and returns the folder of notes.
func alone(t *testing.T) (folder string) {
	t.Helper()
	folder = t.TempDir()
	for name, value := range map[string]string{"PATH": t.TempDir(), "CI": "", "STRICT": "", Folder: folder} {
		t.Setenv(name, value)
	}
	notes.text = ""
	return folder
}

// install adds programs that always fail to the PATH.
func install(t *testing.T, programs ...string) {
	t.Helper()
	for _, p := range programs {
		file := filepath.Join(os.Getenv("PATH"), p)
		if err := os.WriteFile(file, []byte("#!/bin/sh\nexit 1\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

// A missing language skips the test with the reason. With CI or STRICT set it fails the test.
func TestNeed(t *testing.T) {
	alone(t)
	rust := func(t testing.TB) { Need(t, Rust) }
	want := "SKIPPED: Rust is NOT TESTED: cargo is not installed: install Rust"
	if f := during(rust); !strings.HasPrefix(f.skip, want) {
		t.Errorf("alone: %+v", f)
	}
	for _, name := range []string{"CI", "STRICT"} {
		t.Setenv(name, "1")
		want := "Rust is not tested, and CI or STRICT is set: cargo is not"
		if f := during(rust); !strings.HasPrefix(f.failure, want) {
			t.Errorf("%s: %+v", name, f)
		}
		t.Setenv(name, "")
	}
	install(t, "cargo", "node", "python3")
	if f := during(rust); f.skip+f.failure != "" {
		t.Errorf("installed: %+v", f)
	}
	if f := during(func(t testing.TB) { Need(t, JavaScript) }); !strings.Contains(f.skip, "npm is not installed") {
		t.Errorf("node without npm: %+v", f)
	}
	f := during(func(t testing.TB) { NeedPython(t, "no.such.module") })
	if !strings.HasSuffix(f.skip, "cannot import no.such.module: make python") {
		t.Errorf("python without a module: %+v", f)
	}
	f = during(func(t testing.TB) { Programs(t, "cargo", "setsid") })
	if !strings.HasSuffix(f.skip, "setsid is not installed: install util-linux") {
		t.Errorf("a program: %+v", f)
	}
	f = during(func(t testing.TB) { Built(t, C, "no/such.wasm", "c-guests") })
	if !strings.HasSuffix(f.skip, "no/such.wasm is missing: make c-guests") {
		t.Errorf("what is not built: %+v", f)
	}
}

// The summary says for each language whether it was tested, and why not.
func TestSummary(t *testing.T) {
	folder := alone(t)
	summary := func() (string, bool) {
		text, complete, err := Summary(folder)
		if err != nil {
			t.Fatal(err)
		}
		return text, complete
	}
	if text, complete := summary(); complete || strings.Count(text, "NOT TESTED: no test of it was run") != 8 {
		t.Errorf("before any test: %t\n%s", complete, text)
	}
	install(t, "node", "npm", "python3", "sh")
	for _, l := range Languages() {
		during(func(t testing.TB) { Need(t, l) })
	}
	during(func(t testing.TB) { Need(t, C); Built(t, C, "no/such.wasm", "c-guests") })
	text, complete := summary()
	for _, want := range []string{"Go              tested\n", "JavaScript      tested\n",
		"Rust            NOT TESTED: cargo is not installed",
		"C               tested IN PART: 1 skipped: no/such.wasm is missing"} {
		if complete || !strings.Contains(text, want) {
			t.Errorf("%q is not in (complete: %t)\n%s", want, complete, text)
		}
	}
	notes.text = ""
	install(t, "cargo", "chromium", "sbatch", "slurmctld", "slurmd", "munged")
	for _, l := range Languages() {
		during(func(t testing.TB) { Need(t, l) })
	}
	if text, complete := summary(); !complete || strings.Count(text, " tested\n") != 9 {
		t.Errorf("%t\n%s", complete, text)
	}
}
