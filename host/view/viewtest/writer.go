// Package viewtest writes directories of experiments without running anything: it uses a machine, a
// record and a formula as the trainable. It is for tests of readers of experiments.
package viewtest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/history"
	"github.com/tunehost/tunehost/core/journal"
	"github.com/tunehost/tunehost/core/record"
	"github.com/tunehost/tunehost/core/resource"
	"github.com/tunehost/tunehost/core/stat"
	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/host/storage/naming"
	"github.com/tunehost/tunehost/host/storage/runfile"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// Epoch is when the first host starts.
var Epoch = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

// Second is how long each iteration takes.
const second = int64(time.Second)

// Writer writes one experiment. Its methods panic if the directory cannot be written.
type Writer struct {
	Dir        storage.Dir
	Experiment *config.Experiment
	Machine    *core.Machine
	// Iterations is how many results each trial reports.
	Iterations uint64
	// Fails are trials that end in an error after their first result.
	Fails map[core.TrialNo]string
	// Metrics is the formula; by default it gives accuracy and loss.
	Metrics func(no core.TrialNo, iteration uint64) []float64
	// Names are the names of Metrics.
	Names []string
	// Files gives trials their directories.
	Files bool
	// Points is how many suggestions the searcher has; 0: no limit. Mute has it answer nothing.
	Points uint64
	Mute   bool
	// Learns has the searcher learn from results, so that it is asked for no more trials than can run. Set it before
	// Start.
	Learns bool
	// Decided has a scheduler decide each result; it lets all trials continue. Set it before Start.
	Decided bool

	seed    uint64
	at      int64
	dir     *journal.Dir
	journal *journal.Journal
	history *history.History
	batch   [][]byte
	todo    []core.Action
	running []attempt
}

type attempt struct {
	core.StartAttempt
	iteration uint64
}

// New makes the directory dir of the experiment file source.
func New(dir string, source []byte, seed uint64) *Writer {
	d, err := storage.At(dir)
	check(err)
	check(d.Create())
	e, err := config.Parse(filepath.Base(dir)+".yaml", source, config.WithoutTrainable())
	check(err)
	e.Seed = &seed
	run, err := runfile.New(e, Epoch)
	check(err)
	run.File = filepath.Join(dir, e.File)
	check(run.Write(d))
	check(os.WriteFile(d.Experiment(), source, 0o600))
	id, err := run.ID()
	check(err)
	h := history.New()
	w := &Writer{Dir: d, Experiment: e, Machine: h.Machine(), history: h, Iterations: 3, Metrics: formula,
		Names: []string{"accuracy", "loss"}, seed: seed}
	w.dir, err = journal.MakeDir(d.Journal())
	check(err)
	w.journal, err = journal.Create(w.dir, journal.Options{RunID: id})
	check(err)
	return w
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func formula(no core.TrialNo, iteration uint64) []float64 {
	end := 0.5 + 0.5*float64(no*61%100)/100
	accuracy := end * (1 - 1/float64(iteration+1))
	return []float64{accuracy, 1 - accuracy}
}

// Start begins the experiment, with room for cpus trials at a time.
func (w *Writer) Start(cpus uint64) {
	w.Event(&core.ExperimentStarted{Spec: w.spec()})
	w.Host(Epoch, cpus)
}

// Host starts a host process that takes over the experiment at a time of day.
func (w *Writer) Host(wall time.Time, cpus uint64) {
	w.running = nil
	w.Event(&core.HostStarted{Wall: wall.UnixNano(), PID: 4711, Host: "lab"})
	capacity, err := resource.NewBundle(resource.Item{Name: "cpu", Amount: resource.Whole(cpus)})
	check(err)
	w.Event(&core.NodeJoined{Node: resource.Node{ID: 1, Name: "lab", Capacity: capacity}})
}

func (w *Writer) spec() core.Spec {
	one, err := resource.Plain(resource.Item{Name: "cpu", Amount: resource.Whole(1)})
	check(err)
	s := core.Spec{Rules: core.NewestRules, Seed: w.seed, Trials: w.Experiment.Trials, Request: one,
		Repeat: uint32(w.Experiment.Repeat), WaitForResources: w.Experiment.WaitForResources,
		PluginTraits: core.PluginTraits{Independent: !w.Learns, Quiet: !w.Decided, Saves: true},
		Checkpoint:   core.Checkpoint{Every: uint64(w.Experiment.Checkpoint.Every)},
		Stop:         core.StopRules{Iteration: uint64(w.Experiment.Stop.Iteration)}}
	for _, o := range w.Experiment.Objectives {
		mode, err := stat.ParseMode(o.Mode)
		check(err)
		s.Objectives = append(s.Objectives, core.Objective{Metric: o.Metric, Mode: mode})
	}
	return s
}

// Event records and applies one event; its actions wait for Run.
func (w *Writer) Event(e core.Event) {
	b, err := record.Append(nil, w.at, e)
	check(err)
	if w.batch = append(w.batch, b); len(w.batch) == 64 {
		w.flush()
	}
	s, err := w.history.Apply(b)
	check(err)
	w.todo = append(w.todo, s.Actions...)
	if w.Decided {
		w.decide(s)
	}
}

// decide answers like a scheduler.
func (w *Writer) decide(s *history.Step) {
	var answer core.SchedulerDecided
	for o := range s.Observations(core.ToScheduler) {
		if o.Due {
			answer.Decisions, answer.Through = append(answer.Decisions, core.Decision{Number: o.Number}), o.Number
		}
	}
	if answer.Through > 0 {
		w.Event(&answer)
	}
}

// Flush writes what was recorded, so that readers see it.
func (w *Writer) Flush() { w.flush() }

func (w *Writer) flush() {
	_, err := w.journal.Append(w.batch)
	check(err)
	w.batch = w.batch[:0]
}

// Run continues until there is nothing to do, or, if rounds is not negative, for so many iterations of
// all running trials.
func (w *Writer) Run(rounds int) {
	w.act()
	for ; len(w.running) > 0 && rounds != 0; rounds-- {
		w.at += second
		for _, a := range w.running {
			w.iterate(a)
		}
		w.act()
	}
	w.flush()
}

// Complete has one of the running trials make its last iteration, now.
func (w *Writer) Complete(no core.TrialNo) {
	i := w.find(no)
	w.running[i].iteration = w.Iterations - 1
	w.iterate(w.running[i])
	w.act()
	w.flush()
}

// Wait lets time pass in which no trial reports anything.
func (w *Writer) Wait(d time.Duration) { w.at += int64(d) }

// Now is the time of day at the last event, or after the last wait.
func (w *Writer) Now() time.Time { return Epoch.Add(time.Duration(w.at)) }

// Close ends the journal like a host that leaves in order.
func (w *Writer) Close() {
	w.flush()
	check(errors.Join(w.journal.Close(), w.dir.Close()))
}

// Crash leaves everything as it is.
func (w *Writer) Crash() {
	w.flush()
	check(errors.Join(w.journal.Sync(), w.dir.Close()))
}

func (w *Writer) act() {
	for len(w.todo) > 0 {
		a := w.todo[0]
		w.todo = w.todo[1:]
		w.do(a)
	}
}

func (w *Writer) do(a core.Action) {
	switch a := a.(type) {
	case core.AskSearcher:
		w.suggest(a)
	case core.StartAttempt:
		w.Event(&core.AttemptStarted{Trial: a.Trial, Attempt: a.Attempt, PID: 4712})
		w.running = append(w.running, attempt{a, a.Restore.Iteration})
		if w.Files {
			w.makeTrial(a.Trial)
		}
	case core.SaveAttempt:
		w.Event(&core.CheckpointSaved{Trial: a.Trial, Attempt: a.Attempt, ID: a.ID, Iteration: a.Iteration,
			Bytes: 1000})
		if w.Files {
			check(os.MkdirAll(storage.CheckpointFiles(w.trialDir(a.Trial), a.ID), 0o700))
		}
	case core.StopAttempt:
		if a.SaveID != 0 {
			w.Event(&core.SaveFailed{Trial: a.Trial, Attempt: a.Attempt, ID: a.SaveID,
				Error: "no formula can be saved"})
		}
		w.end(a.Trial, a.Attempt, "")
	}
}

// suggest answers like a searcher: points drawn from the space.
func (w *Writer) suggest(a core.AskSearcher) {
	if w.Mute {
		return
	}
	answer := &core.SuggestionsReceived{Ask: a.Ask}
	for i := range a.Count {
		if w.Points > 0 && a.First+uint64(i) >= w.Points {
			answer.Status = core.SearcherExhausted
			break
		}
		seed := w.seed + a.First + uint64(i)
		point, err := w.Experiment.Space.Sample(space.NewRand(seed))
		check(err)
		params, err := w.Experiment.Resolve(point, seed)
		check(err)
		answer.Suggestions = append(answer.Suggestions, core.Suggestion{Params: params})
	}
	w.Event(answer)
}

func (w *Writer) trialDir(no core.TrialNo) string {
	return w.Dir.Trial(naming.Dir(w.Experiment, w.seed, uint32(no), w.Machine.FirstParams(no), w.Machine.Dirs(no)))
}

func (w *Writer) makeTrial(no core.TrialNo) {
	dir := w.trialDir(no)
	check(w.Dir.MakeTrialDir(dir, w.Machine.Params(no)))
	check(os.WriteFile(filepath.Join(dir, "stdout"), fmt.Appendf(nil, "training trial %d\n", no), 0o600))
	if text := w.Fails[no]; text != "" {
		check(os.WriteFile(filepath.Join(dir, "stderr"), []byte(text+"\n"), 0o600))
	}
}

func (w *Writer) iterate(a attempt) {
	i := w.find(a.Trial)
	if i < 0 {
		return
	}
	w.running[i].iteration++
	n := w.running[i].iteration
	w.report(a, n)
	switch {
	case w.Fails[a.Trial] != "":
		w.end(a.Trial, a.Attempt, w.Fails[a.Trial])
	case n >= w.Iterations:
		w.end(a.Trial, a.Attempt, "")
	}
}

func (w *Writer) report(a attempt, iteration uint64) {
	e := &core.ResultReported{Trial: a.Trial, Attempt: a.Attempt, Iteration: iteration}
	for i, v := range w.Metrics(a.Trial, iteration) {
		id := core.MetricID(i + 1)
		if w.Machine.Metrics() < int(id) {
			w.Event(&core.MetricNamed{ID: id, Name: w.Names[i]})
		}
		e.Metrics = append(e.Metrics, core.Metric{ID: id, Value: v})
	}
	w.Event(e)
}

func (w *Writer) end(no core.TrialNo, number uint32, err string) {
	if i := w.find(no); i >= 0 {
		w.running = append(w.running[:i:i], w.running[i+1:]...)
		w.Event(&core.AttemptEnded{Trial: no, Attempt: number, Cause: core.TrainableFailure(err)})
	}
}

func (w *Writer) find(no core.TrialNo) int {
	for i, a := range w.running {
		if a.Trial == no {
			return i
		}
	}
	return -1
}
