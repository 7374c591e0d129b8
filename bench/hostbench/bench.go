package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// bench runs experiments in a directory of its own.
type bench struct {
	binary, dir string
	scale       float64
	made        int
}

func (b *bench) times(n int) int { return max(2, int(float64(n)*b.scale)) }

// command is a run of an experiment that nobody ran before.
func (b *bench) command(text string, args ...string) (cmd *exec.Cmd, dir string, err error) {
	b.made++
	name := fmt.Sprintf("bench%d", b.made)
	file := filepath.Join(b.dir, name+".yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return nil, "", err
	}
	storage := filepath.Join(b.dir, "results")
	args = append([]string{"run", file, "--storage", storage, "-v", "0"}, args...)
	return exec.Command(b.binary, args...), filepath.Join(storage, name), nil
}

// cost is what something took: time, and time of processors, children included.
type cost struct{ wall, cpu time.Duration }

func (c cost) each(n int, what string) string {
	return fmt.Sprintf("%.0f %s/s, %.2f CPU-ms each", float64(n)/c.wall.Seconds(), what, c.cpu.Seconds()*1000/float64(n))
}

// experiment is what a run takes. What it wrote stays until the end: some
// file systems are slow to make files while others are being deleted.
func (b *bench) experiment(text string, args ...string) (cost, error) {
	cmd, _, err := b.command(text, args...)
	if err != nil {
		return cost{}, err
	}
	var said bytes.Buffer
	cmd.Stderr = &said
	began := time.Now()
	if err := cmd.Run(); err != nil {
		return cost{}, fmt.Errorf("%w: %s", err, said.String())
	}
	return cost{time.Since(began), cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()}, nil
}

// machine describes where this ran, as far as /proc tells.
func machine() string {
	load, _ := os.ReadFile("/proc/loadavg")
	info, _ := os.ReadFile("/proc/cpuinfo")
	model := "unknown processor"
	if _, rest, ok := strings.Cut(string(info), "model name\t: "); ok {
		model, _, _ = strings.Cut(rest, "\n")
	}
	busy, _, _ := strings.Cut(string(load), " ")
	return fmt.Sprintf("%s, %d cores, %s/%s, load %s before the start", model, runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, busy)
}
