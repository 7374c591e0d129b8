package upload

import (
	"errors"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"github.com/tunehost/tunehost/internal/toolchain"
)

// An uploaded program can be run at once, although the agent starts other programs while it writes it. These hold what
// the agent has open until they run themselves, and a file that is open for writing cannot be run.
func TestUploadedProgramRuns(t *testing.T) {
	toolchain.Programs(t, "sh")
	dir := t.TempDir()
	write(t, dir, map[string]string{"train.sh": "#!/bin/sh\nexit 0\n"})
	if err := exec.Command("chmod", "700", filepath.Join(dir, "train.sh")).Run(); err != nil {
		t.Fatal(err)
	}
	tree, err := Collect(dir, []string{"train.sh"}, "")
	if err != nil {
		t.Fatal(err)
	}
	over := make(chan struct{})
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for {
				select {
				case <-over:
					return
				default:
					_ = exec.Command("sh", "-c", ":").Run()
				}
			}
		})
	}
	cache := openCache(t, t.TempDir())
	for range 300 {
		folder, _, err := ship(t, &tree, cache)
		if err != nil {
			t.Fatal(err)
		}
		if err := exec.Command(filepath.Join(folder, "train.sh")).Run(); errors.Is(err, syscall.ETXTBSY) {
			t.Error(err)
			break
		}
	}
	close(over)
	all.Wait()
}
