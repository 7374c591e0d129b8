package command

import (
	"os"
	"strings"
	"sync"
	"testing"
	"time"
)

// starving fails like a shell that cannot fork until the file `fed` exists, which another trial's
// program creates when it ends.
const starving = "if [ -e %s ]; then echo '{{\"accuracy\": 1}}'; else echo 'sh: 1: Cannot fork' >&2; exit 2; fi"

// A program that could not start a process is restarted when another trial has ended, and its trial
// does not fail; without other trials, it fails.
func TestProgramsThatCannotFork(t *testing.T) {
	fed := t.TempDir() + "/fed"
	p := openTest(t, opts{"command": []string{"sh", "-c", strings.ReplaceAll(starving, "%s", fed)}})
	alone := newRun(t)
	if err := p.Train(t.Context(), alone); err == nil || !strings.Contains(err.Error(), "Cannot fork") {
		t.Fatalf("alone: %v", err)
	}
	if ok, _ := p.room.take(1); !ok { // another trial runs
		t.Fatal("there is no room")
	}
	run, hungry := newRun(t), make(chan struct{})
	var once sync.Once
	run.hear = func(string) { once.Do(func() { close(hungry) }) }
	done := make(chan error, 1)
	go func() { done <- p.Train(t.Context(), run) }()
	<-hungry
	if err := os.WriteFile(fed, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	p.room.giveBack(1)
	if err := <-done; err != nil || len(run.values("accuracy")) != 1 {
		t.Errorf("%v, %v", err, run.values("accuracy"))
	}
	if text := run.hinted(); !strings.Contains(text, "had no room for its processes (sh: 1: Cannot fork)") {
		t.Error(text)
	}
}

// A program without disk space fails its trial, and the user sees the reason once.
func TestProgramsWithoutRoom(t *testing.T) {
	p := openTest(t, opts{"command": []string{"sh", "-c", "echo 'cp: error writing x: No space left on device' >&2; " +
		"exit 1"}})
	var said []string
	for range 3 {
		run := newRun(t)
		if err := p.Train(t.Context(), run); err == nil {
			t.Error("the trial did not fail")
		}
		if text := run.hinted(); text != "" {
			said = append(said, text)
		}
	}
	if len(said) != 1 || !strings.Contains(said[0],
		"no space left where the program writes (cp: error writing x: No space "+
			"left on device)") {
		t.Errorf("%q", said)
	}
}

// Programs that all starve do not wait for each other for ever: the last one runs alone, and the others when it has
// ended. B-087
func TestStarvedProgramsDoNotWaitForEachOther(t *testing.T) {
	dir := t.TempDir()
	const trials = 4
	// A program finds room only if it is the only one that holds the folder.
	p := openTest(t, sh(`echo x >> `+dir+`/runs
		if mkdir `+dir+`/held; then sleep 0.2; rmdir `+dir+`/held; n=$(wc -l < `+dir+`/runs)
			if [ $n -gt 4 ]; then echo '{"accuracy": 1}'; exit 0; fi; fi
		echo 'sh: 1: Cannot fork' >&2; exit 2`))
	ended := make(chan error, trials)
	for range trials {
		run := newRun(t)
		go func() { ended <- p.Train(t.Context(), run) }()
	}
	for range trials {
		select {
		case err := <-ended:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(time.Minute):
			t.Fatal("all wait for each other")
		}
	}
}
