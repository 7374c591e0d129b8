package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// A bench runs experiments in a directory of its own.
type bench struct {
	binary, dir, home string
	scale             float64
	made              int
}

func (b *bench) times(n int) int { return max(2, int(float64(n)*b.scale)) }

// An experiment is a run of the command.
type experiment struct {
	cmd  *exec.Cmd
	dir  string // its directory
	said *bytes.Buffer
	b    *bench
}

// start starts an experiment.
func (b *bench) start(text string) (*experiment, error) {
	b.made++
	name := fmt.Sprint("bench", b.made)
	file := filepath.Join(b.dir, name+".yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return nil, err
	}
	storage := filepath.Join(b.dir, "results")
	e := &experiment{b: b, dir: filepath.Join(storage, name), said: &bytes.Buffer{}}
	e.cmd = exec.Command(b.binary, "run", file, "--storage", storage, "-v", "0")
	e.cmd.Env, e.cmd.Stderr = append(os.Environ(), "HOME="+b.home), e.said
	return e, e.cmd.Start()
}

// wait waits for the end of the experiment, which must be a success.
func (e *experiment) wait() error {
	if err := e.cmd.Wait(); err != nil {
		return fmt.Errorf("%w: %s", err, e.said)
	}
	return nil
}

// stop interrupts the experiment.
func (e *experiment) stop() {
	_ = e.cmd.Process.Signal(os.Interrupt)
	_ = e.cmd.Wait()
}

// An event is one of the record.
type event struct {
	Event string    `json:"event"`
	At    float64   `json:"at_s"`
	Time  time.Time `json:"time"`
	Trial int       `json:"trial"`
	Lease int       `json:"lease"`
}

// events are those of some kinds, in order.
func (e *experiment) events(kinds ...string) (list []event, err error) {
	out, err := exec.Command(e.b.binary, "journal", e.dir, "--json").Output()
	if err != nil {
		return nil, err
	}
	for line := range bytes.Lines(out) {
		var ev event
		if err := json.Unmarshal(line, &ev); err != nil {
			return nil, fmt.Errorf("%w: %s", err, line)
		}
		if slices.Contains(kinds, ev.Event) {
			list = append(list, ev)
		}
	}
	return list, nil
}

// until waits until something holds, for two minutes at most.
func until(what string, holds func() (bool, error)) error {
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
		if ok, err := holds(); err != nil || ok {
			return err
		}
		if time.Now().After(end) {
			return fmt.Errorf("not so within two minutes: %s", what)
		}
	}
}

func load() string {
	text, _ := os.ReadFile("/proc/loadavg")
	now, _, _ := strings.Cut(string(text), " ")
	return now
}

func median(times []time.Duration) time.Duration {
	slices.Sort(times)
	return times[len(times)/2]
}

func at(times []time.Duration, share float64) time.Duration {
	slices.Sort(times)
	return times[min(len(times)-1, int(float64(len(times))*share))]
}
