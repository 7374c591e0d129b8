package local

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A system without /dev/null, or with a file in its place, cannot start a program.
func TestNullDevice(t *testing.T) {
	missing, file := filepath.Join(t.TempDir(), "null"), filepath.Join(t.TempDir(), "null")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{missing: " does not exist, and each program",
		file: " is not a device, and each program"} {
		if err := nullDevice(path); err == nil || !strings.HasPrefix(err.Error(), path+want) {
			t.Error(err)
		}
	}
	if err := nullDevice(os.DevNull); err != nil {
		t.Error(err)
	}
}

// A host with few descriptors has none left to save what its trials report, and would wait for ever.
func TestTooLowLimits(t *testing.T) {
	const tail = ", and a host needs 64, and more for trials beside each other; raise it: ulimit "
	for limits, want := range map[[2]uint64]string{
		{40, 1000}: "the limit of open files is 40 (ulimit -n)" + tail + "-n 1024",
		{1000, 63}: "the limit of processes and threads is 63 (ulimit -u)" + tail + "-u 1024",
		{64, 64}:   "",
	} {
		got := ""
		if err := enough(limits[0], limits[1]); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%v: %q; want %q", limits, got, want)
		}
	}
	if err := Limits(); err != nil {
		t.Errorf("this process: %v", err)
	}
}
