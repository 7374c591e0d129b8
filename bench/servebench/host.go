package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

const busySource = `version: 1
objective: {metric: score, mode: max}
space: {x: {uniform: [0, 1]}}
trials: 10000000
concurrency: 16
resources: {cpu: 0.125}
searcher: random
scheduler: {plugin: median, grace: 1000000000}
trainable: {plugin: chaos, options: {iterations: %d, sleep: %v, shared: true, saves: false,
  any_params: true}}
`

// host is a host that runs all the time.
type host struct {
	cmd    *exec.Cmd
	record string
}

// busy starts a host whose trials train for so long before each result, and waits until it is at work.
func busy(binary, dir, folder string, train time.Duration) (*host, error) {
	file := filepath.Join(dir, "busy.yaml")
	if err := os.WriteFile(file, fmt.Appendf(nil, busySource, iterations, train.Seconds()), 0o600); err != nil {
		return nil, err
	}
	cmd := exec.Command(binary, "run", file, "--name", "busy", "--storage", folder, "-v", "0")
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	h := &host{cmd, filepath.Join(folder, "busy", "journal")}
	for range 100 {
		if time.Sleep(100 * time.Millisecond); h.bytes() > 1<<16 {
			return h, nil
		}
	}
	h.end()
	return nil, errors.New("the host has recorded nothing for 10 s")
}

func (h *host) end() {
	_ = h.cmd.Process.Kill()
	_ = h.cmd.Wait()
}

// bytes is the length of the record.
func (h *host) bytes() (n float64) {
	files, _ := os.ReadDir(h.record)
	for _, f := range files {
		if info, err := f.Info(); err == nil {
			n += float64(info.Size())
		}
	}
	return n
}

func (h *host) round(p *readers) (r pair, err error) {
	reads := p.reads.Load()
	for _, asked := range turns {
		p.open(asked)
		time.Sleep(margin)
		x, err := h.stretch(stretch)
		if err != nil {
			return r, err
		}
		if asked {
			r.open.add(x)
		} else {
			r.closed.add(x)
		}
	}
	p.open(false)
	r.reads = p.reads.Load() - reads
	return r, nil
}

// minute measures what the server takes while pages stay open. In a round it also reads what was recorded while they
// were closed.
func (h *host) minute(out io.Writer, p *readers) error {
	p.open(true)
	time.Sleep(10 * margin) // in which it reads the rest
	before, first := cpu(p.s.cmd.Process.Pid), p.entries()
	x, err := h.stretch(time.Minute)
	if err != nil {
		return err
	}
	server, entries := cpu(p.s.cmd.Process.Pid)-before, p.entries()-first
	fmt.Fprintf(out, "a minute with %d open pages: the host takes %.1f %% of a processor, the server %.2f %%, "+
		"%.2f µs for an entry of the record\n", openPages, 100*x.cpu.Seconds()/x.took.Seconds(),
		100*server.Seconds()/x.took.Seconds(), float64(server.Microseconds())/entries)
	return nil
}

func (h *host) stretch(d time.Duration) (side, error) {
	began, bytes, used := time.Now(), h.bytes(), cpu(h.cmd.Process.Pid)
	time.Sleep(d)
	x := side{time.Since(began), h.bytes() - bytes, cpu(h.cmd.Process.Pid) - used}
	if x.results <= 0 {
		return x, errors.New("the host has ended, or records nothing")
	}
	return x, nil
}
