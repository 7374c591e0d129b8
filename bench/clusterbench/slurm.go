package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/tunehost/tunehost/internal/engines/slurm"
)

// onSlurm calls f with a cluster.
func onSlurm(o slurm.Options, f func(*slurm.Cluster) (row, error)) (r row, err error) {
	c, err := slurm.Up(o)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, c.Down()) }()
	if err := os.Setenv("SLURM_CONF", c.Conf); err != nil {
		return r, err
	}
	return f(c)
}

// command runs a command of Slurm and returns its output.
func command(name string, args ...string) (string, error) {
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%s: %w: %s", name, err, out)
	}
	return strings.TrimSpace(string(out)), nil
}

const (
	nodes  = 64
	rounds = 3
)

const leasesFile = `version: 1
seed: 1
objective: {metric: score, mode: max}
trainable: {plugin: chaos, options: {iterations: 1, sleep: %d, any_params: true}}
space: {x: {uniform: [0, 1]}}
strict_metrics: false
trials: %d
concurrency: %[2]d
resources: {cpu: 1, memory: 100MiB}
executor: {plugin: slurm, host_address: %[3]s}
`

// leases measures the time from the start of an experiment with 64 trials until all its agents are connected, beside
// the time from the first of 64 sbatch, one after the other, until all their scripts have begun.
func leases(b *bench) (row, error) {
	return onSlurm(slurm.Options{Nodes: nodes, CPUs: 4}, func(c *slurm.Cluster) (row, error) {
		var ours, theirs []time.Duration
		for range rounds {
			sleeps, err := b.sleeps()
			if err != nil {
				return row{}, err
			}
			took, err := b.leasesOnce(c)
			if err != nil {
				return row{}, err
			}
			ours, theirs = append(ours, took), append(theirs, sleeps)
		}
		o, t := median(ours), median(theirs)
		return row{fmt.Sprintf("%d leases on Slurm, until all agents are connected", nodes), short(o),
			fmt.Sprintf("%d sbatch of sleep, until all run: %s; ratio %.2f", nodes, short(t),
				o.Seconds()/t.Seconds())}, nil
	})
}

func short(d time.Duration) string { return fmt.Sprintf("%.2f s", d.Seconds()) }

// sleeps is the time for 64 jobs that sleep.
func (b *bench) sleeps() (time.Duration, error) {
	marks, err := os.MkdirTemp(b.dir, "marks")
	if err != nil {
		return 0, err
	}
	began := time.Now()
	for range nodes {
		_, err := command("sbatch", "--parsable", "--output=/dev/null", "--job-name=sleeps", "--nodes=1", "--ntasks=1",
			"--cpus-per-task=1", "--mem=100M", "--wrap", "touch "+marks+"/$SLURM_JOB_ID; exec sleep 600")
		if err != nil {
			return 0, err
		}
	}
	err = until("all sleeps run", func() (bool, error) {
		list, err := os.ReadDir(marks)
		return len(list) == nodes, err
	})
	took := time.Since(began)
	if err != nil {
		return 0, err
	}
	return took, b.clear("sleeps")
}

// clear cancels jobs and waits until there are none.
func (b *bench) clear(name string) error {
	if _, err := command("scancel", "--name="+name); err != nil {
		return err
	}
	return until("no job is left", func() (bool, error) {
		out, err := command("squeue", "-h")
		return out == "", err
	})
}

func (b *bench) leasesOnce(c *slurm.Cluster) (time.Duration, error) {
	e, err := b.start(fmt.Sprintf(leasesFile, 12, nodes, c.Address))
	if err != nil {
		return 0, err
	}
	if err := e.wait(); err != nil {
		return 0, err
	}
	granted, err := e.events("lease_granted")
	if err != nil || len(granted) < nodes {
		return 0, errors.Join(err, fmt.Errorf("%d leases were granted of %d", len(granted), nodes))
	}
	err = until("no job is left", func() (bool, error) {
		out, err := command("squeue", "-h")
		return out == "", err
	})
	return time.Duration(granted[nodes-1].At * float64(time.Second)), err
}

const startsFile = `version: 1
seed: 1
objective: {metric: score, mode: max}
trainable: {plugin: chaos, options: {iterations: 1, sleep: 0.02, any_params: true}}
space: {x: {uniform: [0, 1]}}
strict_metrics: false
trials: %d
concurrency: 1
resources: {cpu: 1, memory: 100MiB}
executor: {plugin: slurm, host_address: %s}
`

// start measures the time between the end of a trial and the start of the next one on the same lease, beside that of
// a step with srun in an allocation.
func start(b *bench) (row, error) {
	return onSlurm(slurm.Options{Nodes: 2, CPUs: 4}, func(c *slurm.Cluster) (row, error) {
		n := b.times(200)
		e, err := b.start(fmt.Sprintf(startsFile, n, c.Address))
		if err == nil {
			err = e.wait()
		}
		if err != nil {
			return row{}, err
		}
		gaps, err := e.gaps()
		if err != nil {
			return row{}, err
		}
		steps, err := b.steps(min(n, 50))
		return row{"start of a trial on a warm lease of Slurm, from the end of the one before",
			fmt.Sprintf("p50 %s, p99 %s", millis(at(gaps, 0.5)), millis(at(gaps, 0.99))),
			fmt.Sprintf("srun step p50 %s, p99 %s", millis(at(steps, 0.5)), millis(at(steps, 0.99)))}, err
	})
}

func millis(d time.Duration) string { return fmt.Sprintf("%.1f ms", d.Seconds()*1000) }

// gaps are the times between the end of one trial and the start of the next.
func (e *experiment) gaps() (list []time.Duration, err error) {
	events, err := e.events("attempt_started", "attempt_ended")
	if err != nil {
		return nil, err
	}
	ended := -1.0
	for _, ev := range events {
		if ev.Event == "attempt_ended" {
			ended = ev.At
		} else if ended >= 0 {
			list = append(list, time.Duration((ev.At-ended)*float64(time.Second)))
		}
	}
	if list == nil {
		return nil, errors.New("no trial followed another")
	}
	return list, nil
}

// steps are the times of srun in an allocation.
func (b *bench) steps(n int) (list []time.Duration, err error) {
	id, err := command("sbatch", "--parsable", "--output=/dev/null", "--job-name=steps", "--nodes=1", "--mem=100M",
		"--wrap", "sleep 600")
	if err != nil {
		return nil, err
	}
	err = until("the allocation runs", func() (bool, error) {
		out, err := command("squeue", "-h", "-o", "%T", "-j", id)
		return out == "RUNNING", err
	})
	for i := 0; i < n && err == nil; i++ {
		began := time.Now()
		_, err = command("srun", "--jobid="+id, "--overlap", "--ntasks=1", "true")
		list = append(list, time.Since(began))
	}
	return list, errors.Join(err, b.clear("steps"))
}

const lossFile = `version: 1
seed: 1
objective: {metric: score, mode: max}
trainable: {plugin: chaos, options: {iterations: 1000, sleep: 0.5, any_params: true}}
space: {x: {uniform: [0, 1]}}
strict_metrics: false
trials: 1
resources: {cpu: 1, memory: 100MiB}
executor: {plugin: slurm, host_address: %s}
stop_grace: 1s
`

// loss measures the time from the cut of a node's link until its lease is lost, beside the time until Slurm takes the
// node for down.
func loss(b *bench) (row, error) {
	return onSlurm(slurm.Options{Nodes: 2, CPUs: 4}, func(c *slurm.Cluster) (row, error) {
		e, err := b.start(fmt.Sprintf(lossFile, c.Address))
		if err != nil {
			return row{}, err
		}
		defer e.stop()
		err = until("the trial reports", func() (bool, error) {
			if _, err := os.Stat(filepath.Join(e.dir, "journal")); err != nil {
				return false, nil
			}
			list, err := e.events("result_reported")
			return len(list) > 2, err
		})
		if err != nil {
			return row{}, err
		}
		node, err := command("squeue", "-h", "-o", "%N")
		if err != nil {
			return row{}, err
		}
		return e.cut(c, node)
	})
}

// cut cuts a node off.
func (e *experiment) cut(c *slurm.Cluster, node string) (row, error) {
	cut := time.Now()
	link := "tsl" + strings.Split(c.Address, ".")[1] + "-" + node
	if _, err := command("ip", "-n", link, "link", "set", "eth0", "down"); err != nil {
		return row{}, err
	}
	err := until("Slurm takes the node for down", func() (bool, error) {
		out, err := command("sinfo", "-h", "-N", "-p", "main", "-n", node, "-o", "%T")
		return strings.HasPrefix(out, "down"), err
	})
	slurms := time.Since(cut)
	if err != nil {
		return row{}, err
	}
	lost, err := e.events("lease_lost")
	if err != nil || len(lost) == 0 {
		return row{}, errors.Join(err, errors.New("the host did not notice"))
	}
	if _, err := command("ip", "-n", link, "link", "set", "eth0", "up"); err != nil {
		return row{}, err
	}
	return row{"loss of a node whose link is cut", short(lost[0].Time.Sub(cut)),
		"Slurm, SlurmdTimeout " + timeoutOf() + ": " + short(slurms)}, nil
}

// timeoutOf is after how long Slurm takes a silent node for down.
func timeoutOf() string {
	out, _ := command("scontrol", "show", "config")
	for line := range strings.Lines(out) {
		if name, value, ok := strings.Cut(line, "="); ok && strings.TrimSpace(name) == "SlurmdTimeout" {
			n, _ := strconv.Atoi(strings.Fields(value)[0])
			return fmt.Sprint(n, " s")
		}
	}
	return "unknown"
}
