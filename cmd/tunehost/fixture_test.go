package main

import (
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/journal"
	"github.com/tunehost/tunehost/host/steer"
	"github.com/tunehost/tunehost/host/steer/unixsock"
	"github.com/tunehost/tunehost/host/storage/naming"
	"github.com/tunehost/tunehost/host/view/viewtest"
	"github.com/tunehost/tunehost/plugins/sdk/serve"
	"github.com/tunehost/tunehost/plugins/searchers/random"
)

// pick is a searcher of a user: a program with a name of its own.
func pick() {
	p := random.Plugin
	p.Name, p.Version, p.Summary = "pick", "2.0.0", "Picks points."
	serve.Searcher(p)
}

const oneObjective = `version: 1
objective: {metric: accuracy, mode: max}
space:
  lr: {loguniform: [1e-4, 1.0]}
  model: {layers: {int: [1, 3]}}
  optimizer: {choice: [sgd, adam]}
  batch: 32
trials: 6
checkpoint: {every: 1}
`

const twoObjectives = `version: 1
objectives: [{metric: accuracy, mode: max}, {metric: cost, mode: min}]
space: {lr: {uniform: [0, 1]}}
trials: 6
`

const fixtureSeed = 7

// fixture makes an experiment's directory: fixture KIND DIR. The kinds are empty, finished, crashed,
// torn, interrupted, damaged, multi, many (40 trials), population (whose trials continued from
// others), and running, which stays as a host that can be steered until it is stopped.
func fixture(args []string) {
	if len(args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: fixture KIND DIR")
		os.Exit(2)
	}
	kind, dir := args[0], args[1]
	source := oneObjective
	if kind == "multi" {
		source = twoObjectives
	}
	if kind == "many" {
		source = strings.Replace(oneObjective, "trials: 6", "trials: 40", 1)
	}
	w := viewtest.New(dir, []byte(source), fixtureSeed)
	w.Files = true
	w.Fails = map[core.TrialNo]string{2: "exit status 3: no such tensor"}
	write, ok := map[string]func(*viewtest.Writer){
		"empty": func(w *viewtest.Writer) { w.Close() }, "finished": finish, "many": finish, "interrupted": interrupt,
		"multi":      multiply,
		"population": evolve,
		"crashed":    func(w *viewtest.Writer) { begin(w); w.Crash() },
		"torn":       func(w *viewtest.Writer) { begin(w); w.Run(1); w.Crash(); tear(w) },
		"damaged":    func(w *viewtest.Writer) { finish(w); damage(w) },
		"running":    func(w *viewtest.Writer) { begin(w); stay(w) },
	}[kind]
	if !ok {
		panic("no fixture " + kind)
	}
	write(w)
}

func begin(w *viewtest.Writer) {
	w.Start(2)
	w.Run(2)
}

func finish(w *viewtest.Writer) {
	w.Start(2)
	w.Run(-1)
	w.Close()
}

// evolve lets trial 0 continue from trial 1 and itself, and trial 2 from the result.
func evolve(w *viewtest.Writer) {
	w.Fails, w.Iterations = nil, 8
	w.Start(3)
	w.Run(2)
	exploit(w, 0, 1, 2, `{"lr":0.25,"model":{"layers":2},"optimizer":"adam","batch":32}`)
	w.Run(2)
	exploit(w, 0, 0, 4, `{"lr":0.5,"model":{"layers":2},"optimizer":"adam","batch":32}`)
	w.Run(1)
	exploit(w, 2, 0, 5, `{"lr":0.5,"model":{"layers":3},"optimizer":"sgd","batch":32}`)
	w.Run(-1)
	w.Close()
}

func exploit(w *viewtest.Writer, trial, donor core.TrialNo, iteration uint64, params string) {
	w.Event(&core.SchedulerDecided{Commands: []core.Command{{Kind: core.Exploit, Trial: trial, Donor: donor,
		Iteration: iteration,
		Params:    []byte(params), Reason: fmt.Sprintf("trial %d is better", donor)}}})
}

func interrupt(w *viewtest.Writer) {
	begin(w)
	w.Event(&core.Interrupted{})
	w.Run(-1)
	w.Close()
}

func multiply(w *viewtest.Writer) {
	w.Names = []string{"accuracy", "cost"}
	w.Metrics = func(no core.TrialNo, _ uint64) []float64 { return twoValues[no] }
	w.Fails = nil
	finish(w)
}

// Trials 0, 2 and 5 are the front.
var twoValues = [][]float64{{0.9, 10}, {0.8, 12}, {0.7, 2}, {0.7, 3}, {0.6, 5}, {0.95, 20}}

// damage changes a byte of a synced record.
func damage(w *viewtest.Writer) {
	if err := first(w.Dir.Path(), func(b []byte) []byte { b[200] ^= 1; return b }); err != nil {
		panic(err)
	}
}

// tear removes the last bytes that were written.
func tear(w *viewtest.Writer) {
	if err := last(w.Dir.Path(), func(b []byte) []byte { return b[:len(b)-3] }); err != nil {
		panic(err)
	}
}

// stay runs a host that only listens.
func stay(w *viewtest.Writer) {
	lock, err := journal.LockDir(w.Dir.Path(), time.Now())
	if err != nil {
		panic(err)
	}
	l, remove, err := unixsock.Listen()
	if err != nil {
		panic(err)
	}
	defer remove()
	hide, err := unixsock.Announce(w.Dir, l, func(string) {})
	if err != nil {
		panic(err)
	}
	if err := unixsock.Serve(l, &steered{writer: w, listener: l}); err != nil {
		panic(err)
	}
	hide()
	w.Close()
	if err := lock.Unlock(); err != nil {
		panic(err)
	}
}

// steered carries out each request immediately.
type steered struct {
	mu       sync.Mutex
	writer   *viewtest.Writer
	listener net.Listener
	loses    bool // whether a pause loses progress
}

func (s *steered) apply(e core.Event) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writer.Event(e)
	s.writer.Run(0)
	return nil
}

// Do implements steer.Handler.
func (s *steered) Do(r steer.Request) (a steer.Answer, err error) {
	switch r := r.(type) {
	case steer.Stop:
		no, all := s.target(r.Trial)
		if all {
			defer s.listener.Close()
		}
		return a, s.apply(&core.StopRequested{Trial: no, All: all, Reason: "stopped by the user"})
	case steer.Interrupt:
		defer s.listener.Close()
		return a, s.apply(&core.Interrupted{})
	case steer.Retry:
		no, _ := s.target(r.Trial)
		return a, s.apply(&core.TrialReset{Trial: no, Fresh: r.Fresh, Scratch: r.Fresh, Steered: true})
	case steer.Pause:
		return a, s.pause(r)
	case steer.Unpause:
		no, all := s.target(r.Trial)
		return a, s.apply(&core.UnpauseRequested{Trial: no, All: all})
	case steer.Add:
		return s.add(r)
	case steer.Set:
		return steer.Answer{Changed: []steer.Change{{Key: "trials", Old: []byte("6"), New: []byte("7")}}}, nil
	}
	return a, fmt.Errorf("unknown request %T", r)
}

// target is a trial, or all.
func (s *steered) target(name string) (core.TrialNo, bool) {
	if name == "" {
		return 0, true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	no, err := naming.Find(name, fixtureSeed, s.writer.Machine.Trials())
	if err != nil {
		panic(err)
	}
	return core.TrialNo(no), false
}

func (s *steered) pause(r steer.Pause) error {
	if s.loses && !r.Force {
		return &steer.LossError{What: "1 running trial has no checkpoint"}
	}
	no, all := s.target(r.Trial)
	return s.apply(&core.PauseRequested{Trial: no, All: all})
}

func (s *steered) add(r steer.Add) (steer.Answer, error) {
	params := []byte(r.Params)
	if r.Clone != "" && string(params) == "{}" {
		no, _ := s.target(r.Clone)
		s.mu.Lock()
		params = slices.Clone(s.writer.Machine.Params(no))
		s.mu.Unlock()
	}
	err := s.apply(&core.TrialGiven{Suggestion: core.Suggestion{Params: params}, Extra: true})
	s.mu.Lock()
	defer s.mu.Unlock()
	no := core.TrialNo(s.writer.Machine.Trials() - 1)
	return steer.Answer{Trial: &no}, err
}
