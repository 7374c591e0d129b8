package inherit

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/stat"
	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/config/seeds"
	"github.com/tunehost/tunehost/host/hostlog"
	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/host/storage/mirror"
	"github.com/tunehost/tunehost/host/storage/runfile"
	"github.com/tunehost/tunehost/host/usererror"
	"github.com/tunehost/tunehost/host/view"
)

// learnedTrial is how a trial of another experiment ended, as a trial of this one: a line of
// learned.jsonl.
type learnedTrial struct {
	From   string          `json:"from"`
	Params json.RawMessage `json:"params"`
	// Values are those of the objectives, in their order; null: no finite number.
	Values    []*float64 `json:"values,omitempty"`
	Iteration uint64     `json:"iteration,omitempty"`
	TrainNS   int64      `json:"train_ns,omitempty"`
	Failed    bool       `json:"failed,omitempty"`
	// Results are what it reported on the way.
	Results []learnedResult `json:"results,omitempty"`
}

// LearnedTrials are the trials of other experiments that the searcher is told of. They are kept with
// the experiment, so that later changes of the others do not matter.
type LearnedTrials []learnedTrial

// Learn collects the lessons of a new experiment in dir from those that its file names.
func Learn(e *config.Experiment, seed uint64, dir string, log *hostlog.Log) (list LearnedTrials, err error) {
	seen := map[string]bool{}
	for _, name := range e.LearnFrom {
		from := otherDir(filepath.Dir(e.File), name)
		if seen[from] {
			err = errors.New("it is named twice")
		} else {
			err = list.learnFrom(&converter{here: e, name: name, seed: seed, left: map[string]int{}}, from, dir, log)
		}
		if err != nil {
			return nil, usererror.Errorf("%s: learn_from: %s: %w", e.PosOf("learn_from"), name, err)
		}
		seen[from] = true
	}
	return list, nil
}

// otherDir is a directory as the file names it: relative to the file, or where
// nothing is there, to the working directory.
func otherDir(base, name string) string {
	if beside := filepath.Join(base, name); !filepath.IsAbs(name) && view.Is(beside) {
		name = beside
	}
	if dir, err := storage.At(name); err == nil {
		return dir.Path()
	}
	return name
}

// learnFrom adds the lessons of the experiment in from.
func (list *LearnedTrials) learnFrom(t *converter, from, own string, log *hostlog.Log) error {
	switch {
	case from == own:
		return errors.New("that is this experiment itself")
	case mirror.IsURL(t.name):
		return errURL
	}
	other, err := view.Open(from)
	if errors.Is(err, runfile.ErrNone) {
		return runfile.ErrNone
	}
	if err != nil {
		return err
	}
	defer func() { _ = other.Close() }()
	if err := sameDirections(other.Config.Objectives, t.here.Objectives); err != nil {
		return err
	}
	t.other = other
	if err := t.convertTrials(len(*list)); err != nil {
		return err
	}
	*list = append(*list, t.lessons...)
	t.report(log)
	return nil
}

// maxLessons is larger than any learned.jsonl, in bytes.
const maxLessons = 1 << 30

// sameDirections refuses a metric that is minimised there and maximised here.
func sameDirections(there, here []config.Objective) error {
	for _, a := range there {
		for _, b := range here {
			if a.Metric == b.Metric && a.Mode != b.Mode {
				return fmt.Errorf("%s is optimised as %s there, and as %s here", a.Metric, a.Mode, b.Mode)
			}
		}
	}
	return nil
}

// converter converts trials of another experiment to learned trials.
type converter struct {
	other   *view.Recorded
	here    *config.Experiment
	name    string
	seed    uint64
	lessons []learnedTrial
	left    map[string]int // trials that are left out, by the reason
	reports reports
	stopped int // lessons of trials that were stopped early
}

// convertTrials converts each trial, or all runs of each suggestion together.
func (t *converter) convertTrials(index int) (err error) {
	m := t.other.Now().Machine
	_, runs := m.Runs(0)
	if runs == 1 {
		if t.reports, err = reportsOf(t.other, t.here.Objectives); err != nil {
			return err
		}
	}
	for i := 0; i < m.Trials(); i += runs {
		x, err := t.convert(core.TrialNo(i), runs)
		if err == nil {
			x.Params, err = t.here.Adopt(paramsOf(m, core.TrialNo(i), runs),
				seeds.For(t.seed, seeds.Lesson, uint64(index+len(t.lessons))))
		}
		if err != nil {
			t.left[err.Error()]++
			continue
		}
		t.lessons = append(t.lessons, x)
		if runs == 1 && view.StoppedEarly(m, core.TrialNo(i)) {
			t.stopped++
		}
	}
	return nil
}

// paramsOf are the parameters with which the values of a lesson were measured.
func paramsOf(m *core.Machine, first core.TrialNo, runs int) []byte {
	if runs > 1 {
		return m.FirstParams(first)
	}
	return m.View(first).Params
}

// known is the part of a trial's training that a lesson is about: the last one; of several runs
// of a suggestion, the one that was suggested.
func known(m *core.Machine, no core.TrialNo, runs int) (core.Stretch, bool) {
	if runs > 1 {
		return m.Suggested(no)
	}
	list := m.Stretches(no)
	s := list[len(list)-1]
	return s, s.Results > 0
}

// convert returns the outcome of a trial, or of all runs of a suggestion.
func (t *converter) convert(first core.TrialNo, runs int) (x learnedTrial, err error) {
	m := t.other.Now().Machine
	x.From = fmt.Sprintf("%s, trial %d", t.name, first)
	var well []core.Stretch
	for no := first; no < first+core.TrialNo(runs); no++ {
		x.TrainNS += m.View(no).TrainNS
		switch {
		case !m.State(no).Final():
			return x, errors.New("it has not ended")
		case m.Counts(no) && m.View(no).Results > 0:
			s, ok := known(m, no, runs)
			if !ok {
				continue
			}
			well = append(well, s)
			if x.Iteration == 0 || s.Iteration < x.Iteration {
				x.Iteration = s.Iteration
			}
		case m.State(no) == core.Errored:
			x.Failed = true
		}
	}
	if x.Failed = x.Failed && len(well) == 0; x.Failed {
		return x, nil
	}
	if x.Values, err = t.values(well); err == nil && runs == 1 {
		x.Results = t.reports.of(first, &well[0])
	}
	return x, err
}

// values are the objectives' here, by their names.
func (t *converter) values(well []core.Stretch) (list []*float64, err error) {
	m := t.other.Now().Machine
	if len(well) == 0 {
		return nil, errors.New("it has no result")
	}
	for _, o := range t.here.Objectives {
		var last []float64
		for i := range well {
			x, ok := m.SummaryIn(&well[i], m.Metric(o.Metric))
			if !ok {
				return nil, fmt.Errorf("it did not report %s", o.Metric)
			}
			last = append(last, x.Last)
		}
		list = append(list, orNull(stat.Average(last)))
	}
	return list, nil
}

// report tells the user how many trials were taken over, and why others were not.
func (t *converter) report(log *hostlog.Log) {
	total := len(t.lessons)
	var reasons []string
	for _, why := range slices.Sorted(maps.Keys(t.left)) {
		total += t.left[why]
		reasons = append(reasons, fmt.Sprintf("%d: %s", t.left[why], why))
	}
	text := fmt.Sprintf("learn_from: of the trials of %s, the searcher knows %d of %d", t.name, len(t.lessons), total)
	if t.stopped > 0 {
		text += fmt.Sprintf(", %d of them only up to where they were stopped early", t.stopped)
	}
	if len(reasons) > 0 {
		text += "; left out are " + strings.Join(reasons, "; ")
	}
	if t.stopped > 0 || len(reasons) > 0 {
		log.Warn(text)
	} else {
		log.Info(text)
	}
}

// Keep writes the lessons into the directory of the experiment, and returns what run.json has of
// them: nil of none.
func (list LearnedTrials) Keep(d storage.Dir) (*runfile.Learned, error) {
	if len(list) == 0 {
		return nil, nil
	}
	var text bytes.Buffer
	lines := json.NewEncoder(&text)
	for i := range list {
		if err := lines.Encode(&list[i]); err != nil {
			return nil, err
		}
	}
	learned := &runfile.Learned{Trials: len(list), SHA256: sumOf(text.Bytes())}
	return learned, storage.WriteFile(d.Learned(), text.Bytes())
}

func sumOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// Recall reads the lessons again, where a host died before all of them were in the record; known
// is how many of them are.
func Recall(d storage.Dir, learned *runfile.Learned, known int) (list LearnedTrials, err error) {
	if learned == nil || known >= learned.Trials {
		return nil, nil
	}
	text, err := storage.ReadFile(d.Learned(), maxLessons)
	if err != nil {
		return nil, usererror.Wrap(err)
	}
	if sumOf(text) != learned.SHA256 {
		return nil, usererror.Errorf("%s was changed since the experiment began: put it back", d.Learned())
	}
	for lines := json.NewDecoder(bytes.NewReader(text)); lines.More(); {
		var x learnedTrial
		if err := lines.Decode(&x); err != nil {
			return nil, usererror.Errorf("%s is damaged: %w", d.Learned(), err)
		}
		list = append(list, x)
	}
	return list, nil
}

// Events are the lessons that are not in the record yet, with names for the metrics.
func (list LearnedTrials) Events(m *core.Machine, objectives []config.Objective) (events []core.Event) {
	if m.Learned() >= len(list) {
		return nil
	}
	named := m.Metrics()
	ids := make([]core.MetricID, len(objectives))
	for i, o := range objectives {
		if ids[i] = m.Metric(o.Metric); ids[i] == 0 {
			named++
			ids[i] = core.MetricID(named)
			events = append(events, &core.MetricNamed{ID: ids[i], Name: o.Metric})
		}
	}
	for _, x := range list[m.Learned():] {
		events = append(events, x.event(ids))
	}
	return events
}

// Learnable checks that the experiments to learn from exist.
func Learnable(e *config.Experiment) error {
	for _, name := range e.LearnFrom {
		if err := learnable(name, otherDir(filepath.Dir(e.File), name)); err != nil {
			return fmt.Errorf("%s: learn_from: %s: %w", e.PosOf("learn_from"), name, err)
		}
	}
	return nil
}

// errURL says that only what is on this machine can be learned from.
var errURL = errors.New("this is a URL, expected the directory of an experiment on this machine")

func learnable(name, path string) error {
	if mirror.IsURL(name) {
		return errURL
	}
	if d, err := storage.At(path); err == nil && d.CheckOwn() != nil {
		return d.CheckOwn()
	}
	if !view.Is(path) {
		return runfile.ErrNone
	}
	return nil
}

func (x *learnedTrial) event(ids []core.MetricID) *core.TrialLearned {
	e := &core.TrialLearned{From: x.From, Params: x.Params, Iteration: x.Iteration, TrainNS: x.TrainNS,
		Failed: x.Failed}
	e.Metrics = metricsOf(x.Values, ids)
	for i := range x.Results {
		r := &x.Results[i]
		e.Results = append(e.Results, core.LearnedResult{Iteration: r.Iteration, Metrics: metricsOf(r.Values, ids),
			TrainNS: r.TrainNS})
	}
	return e
}

// metricsOf are the values of objectives with the ids of their metrics.
func metricsOf(values []*float64, ids []core.MetricID) (list []core.Metric) {
	for i, v := range values {
		value := math.NaN()
		if v != nil {
			value = *v
		}
		list = append(list, core.Metric{ID: ids[i], Value: value})
	}
	return list
}

// orNull is a value of a lesson.
func orNull(x float64) *float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	return &x
}
