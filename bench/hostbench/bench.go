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

// A bench runs experiments in its own directory.
type bench struct {
	binary, dir string
	scale       float64
	made        int
}

func (b *bench) times(n int) int { return max(2, int(float64(n)*b.scale)) }

// command returns a run of a new experiment.
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

// A cost is the wall time and the CPU time of an operation, including children.
type cost struct{ wall, cpu time.Duration }

func (c cost) each(n int, what string) string {
	return fmt.Sprintf("%.0f %s/s, %.2f CPU-ms each", float64(n)/c.wall.Seconds(), what,
		c.cpu.Seconds()*1000/float64(n))
}

// experiment returns the cost of a run. Files are kept until the end, because some file systems
// create files slowly while others are being deleted.
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

// machine describes the machine, as far as /proc has the data.
func machine() string {
	load, _ := os.ReadFile("/proc/loadavg")
	info, _ := os.ReadFile("/proc/cpuinfo")
	model := "unknown processor"
	if _, rest, ok := strings.Cut(string(info), "model name\t: "); ok {
		model, _, _ = strings.Cut(rest, "\n")
	}
	busy, _, _ := strings.Cut(string(load), " ")
	return fmt.Sprintf("%s, %d cores, %s/%s, load %s before the start", model, runtime.NumCPU(), runtime.GOOS,
		runtime.GOARCH, busy)
}
