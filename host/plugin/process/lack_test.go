package process_test

import (
	"errors"
	"strings"
	"syscall"
	"testing"

	"github.com/tunehost/tunehost/host/plugin"
	"github.com/tunehost/tunehost/host/plugin/process"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// A process that cannot start a thread is not a broken plugin: its failure says that the machine lacks
// something, so that the caller waits.
func TestNoThreads(t *testing.T) {
	p, err := process.Start(t.Context(), self(t, sdk.KindSearcher, "bad-threads"))
	if err == nil {
		_ = p.Close()
	}
	if !errors.Is(err, syscall.EAGAIN) || plugin.FailureOf(err) != plugin.NotStarted {
		t.Fatalf("%v", err)
	}
	want := "exited with status 2 before the handshake: the system lets it start no more threads or processes " +
		"(ulimit " +
		"-u), " +
		"or has no memory for them; its last output: runtime/cgo: pthread_create failed: Resource temporarily " +
		"unavailable"
	if !strings.Contains(err.Error(), want) {
		t.Errorf("%v\nlacks %s", err, want)
	}
	if _, err := process.Start(t.Context(), self(t, sdk.KindSearcher, "bad-exit")); errors.Is(err, syscall.EAGAIN) {
		t.Errorf("a broken plugin is waited for: %v", err)
	}
}
