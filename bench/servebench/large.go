package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/view"
	"github.com/tunehost/tunehost/host/view/viewtest"
)

const iterations = 27

const source = `version: 1
name: large
objective: {metric: accuracy, mode: max}
space:
  lr: {loguniform: [1e-5, 1]}
  units: {int: [8, 512]}
  dropout: {uniform: [0, 0.5]}
  optimizer: {choice: [adam, sgd, rmsprop]}
trials: %d
trainable: {command: [train]}
`

// write writes the large experiment, unless it is there.
func write(folder string, trials int) (err error) {
	dir := filepath.Join(folder, "large")
	if view.Is(dir) {
		return nil
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%s: %v", dir, p)
		}
	}()
	w := viewtest.New(dir, fmt.Appendf(nil, source, trials), 1)
	w.Iterations, w.Metrics = iterations, func(no core.TrialNo, iteration uint64) []float64 {
		end := 0.5 + 0.5*float64(uint64(no)*2654435761%1000)/1000
		accuracy := end * (1 - 1/float64(iteration+1))
		return []float64{accuracy, 1 - accuracy}
	}
	w.Start(256)
	w.Run(-1)
	w.Close()
	return nil
}

// answers are the requests of the pages, below that of the experiment.
var answers = []string{"", "/trials?limit=100", "/trials?limit=100&sort=accuracy",
	"/trials?limit=100&where=accuracy%20%3E%200.9&sort=-lr", "/best", "/best?scope=all", "/curve", "/history",
	"/curves", "/timeline", "/space", "/importance", "/pareto", "/lineage", "/resources", "/trials/500",
	"/trials/500/results", "/journal", "/journal?after=1000"}

// large measures the answers about the large experiment.
func large(out io.Writer, binary, home, folder string) error {
	s, err := start(binary, home, folder)
	if err != nil {
		return err
	}
	defer s.end()
	w := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "request\tfirst\tagain\tits CPU\tbytes\tmemory of the server")
	for _, path := range append([]string{"LIST"}, answers...) {
		url := "/api/v1/experiments"
		if path != "LIST" {
			url += "/large" + path
		}
		first, _, err := s.get(url)
		if err != nil {
			return err
		}
		before := cpu(s.cmd.Process.Pid)
		again, n, err := s.get(url)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "%s\t%v\t%v\t%v\t%d\t%s\n", strings.TrimPrefix(url, "/api/v1"), round(first), round(again),
			cpu(s.cmd.Process.Pid)-before, n, s.memory())
		if err := w.Flush(); err != nil {
			return err
		}
	}
	return nil
}

func round(d time.Duration) time.Duration { return d.Round(100 * time.Microsecond) }

// cpu returns the processor time of a process, in steps of 10 ms.
func cpu(pid int) time.Duration {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, rest, _ := strings.Cut(string(text), ") ")
	fields := strings.Fields(rest)
	if len(fields) < 13 {
		return 0
	}
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	return time.Duration(user+system) * 10 * time.Millisecond
}

// check reports an answer that is no JSON.
func check(text []byte) error {
	if !json.Valid(text) {
		return errors.New("the answer is no JSON")
	}
	return nil
}

// memory returns the present and the largest memory of a process.
func memory(pid int) string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return "unknown"
	}
	var list []string
	for line := range strings.Lines(string(text)) {
		for _, name := range []string{"VmRSS", "VmHWM"} {
			if rest, ok := strings.CutPrefix(line, name+":"); ok {
				list = append(list, name+" "+strings.TrimSpace(rest))
			}
		}
	}
	return strings.Join(list, ", ")
}
