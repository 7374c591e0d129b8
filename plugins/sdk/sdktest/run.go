package sdktest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"sync"
	"testing"

	"github.com/tunehost/tunehost/plugins/sdk"
)

// A Run is one attempt of one trial under test. Set its exported fields before Train and do not
// change them while it runs. The methods may be called from any goroutine.
type Run struct {
	// T is the trial passed to the trainable; NewRun fills it.
	T sdk.Trial
	// StopAt: the first result at this iteration or later is answered with [sdk.ErrStopped]. 0:
	// never.
	StopAt uint64
	// Pauses: such a result, and a stop by Stop, is answered with [sdk.ErrPaused] instead.
	Pauses bool
	// SaveEvery: results at multiples of it are saved before they are answered. 0: never.
	SaveEvery uint64
	// OnReport, if set, is called with each result before it is saved; its error is the answer to
	// the report.
	OnReport func(sdk.Result) error

	t      testing.TB
	saves  bool
	parent string

	stopped chan struct{}
	once    sync.Once

	mu          sync.Mutex
	results     []sdk.Result
	checkpoints []Checkpoint
	logs        []string
	rejected    []string
	ended       string
	export      func(format, dir string) error
	exports     []Export
}

var (
	_ sdk.Run      = (*Run)(nil)
	_ sdk.Stopper  = (*Run)(nil)
	_ sdk.Pauser   = (*Run)(nil)
	_ sdk.Rejecter = (*Run)(nil)
	_ sdk.Exporter = (*Run)(nil)
)

// An Export is a model requested with T.Export: its folder, or the error.
type Export struct {
	Format, Dir string
	Err         error
}

// A Checkpoint was made by the trainable's save function, or by the trainable itself
// (Result.Checkpoint).
type Checkpoint struct {
	// Iteration is the iteration of its result.
	Iteration uint64
	// Dir holds the saved files.
	Dir string
}

// NewRun returns a first attempt with params (a JSON object) and temporary directories of the test.
// Other fields of T may be changed before Train.
func NewRun(t testing.TB, traits sdk.TrainableTraits, params string) *Run {
	t.Helper()
	parent := t.TempDir()
	dir := filepath.Join(parent, "trial")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return &Run{t: t, saves: traits.Saves, parent: parent, stopped: make(chan struct{}), T: sdk.Trial{
		ID: "00000", Attempt: 1, Experiment: "test",
		Params: []byte(params), Options: []byte("{}"),
		Seed: 1, Dir: dir, Resources: []byte(`{"cpu":"1"}`),
		GraceSeconds: 10,
	}}
}

// Resume returns the trial's next attempt, which continues from c. StopAt, Pauses, SaveEvery and
// OnReport are unset.
func (r *Run) Resume(c Checkpoint) *Run {
	next := &Run{t: r.t, saves: r.saves, parent: r.t.TempDir(), stopped: make(chan struct{}), T: r.T}
	next.T.Attempt++
	next.T.Restore, next.T.Iteration = c.Dir, c.Iteration
	return next
}

// Train runs the attempt as a host does: CheckpointEvery is SaveEvery, a panic is an error, and a
// stop is not.
func (r *Run) Train(ctx context.Context, trainable sdk.Trainable) (err error) {
	r.T.CheckpointEvery = r.SaveEvery
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
		r.end("Train had returned")
	}()
	err = trainable.Train(ctx, r)
	if err == nil || errors.Is(err, sdk.ErrStopped) && !errors.Is(err, sdk.ErrPaused) {
		return r.makeExports()
	}
	if errors.Is(err, sdk.ErrStopped) {
		return nil
	}
	return err
}

// Export implements [sdk.Exporter].
func (r *Run) Export(export func(format, dir string) error) { r.export = export }

func (r *Run) makeExports() error {
	if r.export == nil {
		return nil
	}
	for _, format := range r.T.Export {
		dir := filepath.Join(r.parent, "export", format)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
		r.exports = append(r.exports, Export{format, dir, r.export(format, dir)})
	}
	return nil
}

// Exports returns the results of T.Export if Train ended successfully and the trainable called
// [sdk.ExportWith].
func (r *Run) Exports() []Export { return r.exports }

// Trial returns T.
func (r *Run) Trial() sdk.Trial { return r.T }

// Log records a line.
func (r *Run) Log(line string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.logs = append(r.logs, line)
}

// Reject records a report that the trainable refused.
func (r *Run) Reject(text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.rejected = append(r.rejected, text)
}

// Stop tells the trial to stop, as a user does between two results: Stopped is closed, and the next
// result is answered with [sdk.ErrStopped].
func (r *Run) Stop() { r.once.Do(func() { close(r.stopped) }) }

// Stopped is closed when the trial was told to stop.
func (r *Run) Stopped() <-chan struct{} { return r.stopped }

// Paused returns Pauses.
func (r *Run) Paused() bool { return r.Pauses }

func (r *Run) isStopped() bool {
	select {
	case <-r.stopped:
		return true
	default:
		return false
	}
}

// Report records a result and answers according to StopAt, SaveEvery and OnReport. The error of a
// failed save is returned too.
func (r *Run) Report(res sdk.Result, save func(dir string) error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.check(res, save != nil)
	res = r.record(res)
	if r.OnReport != nil {
		if err := r.OnReport(res); err != nil {
			return err
		}
	}
	if err := r.save(res, save); err != nil {
		return err
	}
	return r.answer(res)
}

// check reports errors for a result that a host would refuse.
func (r *Run) check(res sdk.Result, canSave bool) {
	r.t.Helper()
	if r.ended != "" {
		r.t.Errorf("a result was reported after %s", r.ended)
	}
	if last := r.last(); res.Iteration != 0 && res.Iteration <= last {
		r.t.Errorf("iteration %d was reported after iteration %d", res.Iteration, last)
	}
	if canSave != r.saves {
		r.t.Errorf("TrainableTraits.Saves is %v, but a result could be saved: %v", r.saves, canSave)
	}
	seen := map[string]bool{}
	for _, m := range res.Metrics {
		if m.Name == "" || seen[m.Name] {
			r.t.Errorf("metric %q has no name or occurs twice in one result", m.Name)
		}
		seen[m.Name] = true
	}
}

// last returns the iteration of the last result, or of the checkpoint.
func (r *Run) last() uint64 {
	if len(r.results) == 0 {
		return r.T.Iteration
	}
	return r.results[len(r.results)-1].Iteration
}

// record stores a copy and sets the iteration if the trainable did not.
func (r *Run) record(res sdk.Result) sdk.Result {
	if res.Iteration == 0 {
		res.Iteration = r.last() + 1
	}
	res.Metrics = slices.Clone(res.Metrics)
	r.results = append(r.results, res)
	return res
}

// save makes a checkpoint if one is due.
func (r *Run) save(res sdk.Result, save func(dir string) error) error {
	if res.Checkpoint != "" {
		r.checkpoints = append(r.checkpoints, Checkpoint{res.Iteration, res.Checkpoint})
		return nil
	}
	if save == nil || r.SaveEvery == 0 || res.Iteration%r.SaveEvery != 0 {
		return nil
	}
	dir := filepath.Join(r.parent, fmt.Sprintf("checkpoint-%d-%d", r.T.Attempt, res.Iteration))
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	if err := save(dir); err != nil {
		return fmt.Errorf("saving at iteration %d: %w", res.Iteration, err)
	}
	r.checkpoints = append(r.checkpoints, Checkpoint{res.Iteration, dir})
	return nil
}

func (r *Run) answer(res sdk.Result) error {
	if r.StopAt != 0 && res.Iteration >= r.StopAt {
		r.Stop()
	}
	if r.isStopped() {
		r.ended = "the trial was told to stop"
		return r.stopError()
	}
	if res.Done {
		r.ended = "the result that was the last (Done)"
	}
	return nil
}

func (r *Run) stopError() error {
	if r.Pauses {
		return sdk.ErrPaused
	}
	return sdk.ErrStopped
}

func (r *Run) end(why string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = why
}

// Results returns the reported results, in order, with iterations set.
func (r *Run) Results() []sdk.Result {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.results)
}

// Checkpoints returns the checkpoints, in order.
func (r *Run) Checkpoints() []Checkpoint {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.checkpoints)
}

// Logs returns the logged lines.
func (r *Run) Logs() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.logs)
}

// Rejected returns the refused texts.
func (r *Run) Rejected() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.rejected)
}

// Metric returns one metric of every result, NaN if a result lacks it.
func (r *Run) Metric(name string) []float64 {
	var values []float64
	for _, res := range r.Results() {
		values = append(values, value(res, name))
	}
	return values
}

// Last returns a metric of the last result, or NaN.
func (r *Run) Last(name string) float64 {
	values := r.Metric(name)
	if len(values) == 0 {
		return math.NaN()
	}
	return values[len(values)-1]
}

func value(res sdk.Result, name string) float64 {
	for _, m := range res.Metrics {
		if m.Name == name {
			return m.Value
		}
	}
	return math.NaN()
}
