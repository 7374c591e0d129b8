package host

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
	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/hostlog"
	"github.com/tunehost/tunehost/host/runfile"
	"github.com/tunehost/tunehost/host/seeds"
	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/host/view"
)

// lesson is how a trial of another experiment ended, as a trial here: a line of
// learned.jsonl.
type lesson struct {
	From   string          `json:"from"`
	Params json.RawMessage `json:"params"`
	// Values are those of the objectives, in their order; null: no finite number.
	Values    []*float64 `json:"values,omitempty"`
	Iteration uint64     `json:"iteration,omitempty"`
	TrainNS   int64      `json:"train_ns,omitempty"`
	Failed    bool       `json:"failed,omitempty"`
}

// learn gathers what the searcher of a new experiment shall know of others. It is
// kept with the experiment, so that nothing that becomes of the others changes it.
func (s *session) learn() error {
	seen := map[string]bool{}
	for _, name := range s.experiment.LearnFrom {
		dir := otherDir(filepath.Dir(s.experiment.File), name)
		if seen[dir] {
			return s.unlearnable(name, errors.New("it is named twice"))
		}
		seen[dir] = true
		if err := s.learnFrom(name, dir); err != nil {
			return s.unlearnable(name, err)
		}
	}
	return nil
}

func (s *session) unlearnable(name string, err error) error {
	return userError("%s: learn_from: %s: %w", s.experiment.PosOf("learn_from"), name, err)
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

func (s *session) learnFrom(name, dir string) error {
	if dir == s.dir.Path() {
		return errors.New("that is this experiment itself")
	}
	other, err := view.Open(dir)
	if errors.Is(err, runfile.ErrNone) {
		return runfile.ErrNone
	}
	if err != nil {
		return err
	}
	defer func() { _ = other.Close() }()
	if err := sameDirections(other.Config.Objectives, s.experiment.Objectives); err != nil {
		return err
	}
	t := teacher{other: other, here: s.experiment, name: name, seed: s.file.Seed, left: map[string]int{}}
	if err := t.teach(len(s.lessons)); err != nil {
		return err
	}
	s.lessons = append(s.lessons, t.lessons...)
	t.say(s.log)
	return nil
}

// maxLessons is larger than any learned.jsonl, in bytes.
const maxLessons = 1 << 30

// sameDirections: a metric that is to be small there and large here is not the same.
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

// teacher makes lessons of another experiment's trials.
type teacher struct {
	other   *view.Recorded
	here    *config.Experiment
	name    string
	seed    uint64
	lessons []lesson
	left    map[string]int // trials that are left out, by the reason
}

// teach takes each trial, or all runs of each suggestion together.
func (t *teacher) teach(index int) error {
	m := t.other.Now().Machine
	_, runs := m.Runs(0)
	for i := 0; i < m.Trials(); i += runs {
		x, err := t.lesson(core.TrialNo(i), runs)
		if err == nil {
			x.Params, err = t.here.Adopt(paramsOf(m, core.TrialNo(i), runs), seeds.For(t.seed, seeds.Lesson, uint64(index+len(t.lessons))))
		}
		if err != nil {
			t.left[err.Error()]++
			continue
		}
		t.lessons = append(t.lessons, x)
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

// known is the part of a trial's training that a lesson is of: the last one; of several runs,
// which go together, that which was suggested.
func known(m *core.Machine, no core.TrialNo, runs int) (core.Stretch, bool) {
	if runs > 1 {
		return m.Suggested(no)
	}
	list := m.Stretches(no)
	s := list[len(list)-1]
	return s, s.Results > 0
}

// lesson is what came of a trial, or of all runs of a suggestion.
func (t *teacher) lesson(first core.TrialNo, runs int) (x lesson, err error) {
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
	x.Values, err = t.values(well)
	return x, err
}

// values are the objectives' here, by their names.
func (t *teacher) values(well []core.Stretch) (list []*float64, err error) {
	m := t.other.Now().Machine
	if len(well) == 0 {
		return nil, errors.New("it has no result")
	}
	for _, o := range t.here.Objectives {
		sum := 0.0
		for i := range well {
			x, ok := m.SummaryIn(&well[i], m.Metric(o.Metric))
			if !ok {
				return nil, fmt.Errorf("it did not report %s", o.Metric)
			}
			sum = float64(sum + x.Last)
		}
		mean := sum / float64(len(well))
		if math.IsNaN(mean) || math.IsInf(mean, 0) {
			list = append(list, nil)
		} else {
			list = append(list, &mean)
		}
	}
	return list, nil
}

// say tells the user how much of it is known, and why not more.
func (t *teacher) say(log *hostlog.Log) {
	total := len(t.lessons)
	var reasons []string
	for _, why := range slices.Sorted(maps.Keys(t.left)) {
		total += t.left[why]
		reasons = append(reasons, fmt.Sprintf("%d: %s", t.left[why], why))
	}
	text := fmt.Sprintf("learn_from: the searcher knows %d of %d trials of %s", len(t.lessons), total, t.name)
	if len(reasons) == 0 {
		log.Info(text)
		return
	}
	log.Warn(text + "; left out are " + strings.Join(reasons, "; "))
}

// keepLessons writes them where this experiment has them for good.
func (s *session) keepLessons() error {
	if len(s.lessons) == 0 {
		return nil
	}
	var text bytes.Buffer
	lines := json.NewEncoder(&text)
	for i := range s.lessons {
		if err := lines.Encode(&s.lessons[i]); err != nil {
			return err
		}
	}
	s.file.Learned = &runfile.Learned{Trials: len(s.lessons), SHA256: sumOf(text.Bytes())}
	return storage.WriteFile(s.dir.Learned(), text.Bytes())
}

func sumOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// recallLessons reads them again, where a host has died before all of them were in
// the record.
func (s *session) recallLessons() error {
	if s.file.Learned == nil || s.machine.Learned() >= s.file.Learned.Trials {
		return nil
	}
	text, err := storage.ReadFile(s.dir.Learned(), maxLessons)
	if err != nil {
		return &UserError{err}
	}
	if sumOf(text) != s.file.Learned.SHA256 {
		return userError("%s was changed since the experiment began: put it back", s.dir.Learned())
	}
	for lines := json.NewDecoder(bytes.NewReader(text)); lines.More(); {
		var x lesson
		if err := lines.Decode(&x); err != nil {
			return userError("%s is damaged: %w", s.dir.Learned(), err)
		}
		s.lessons = append(s.lessons, x)
	}
	return nil
}

// learnings are the lessons that are not in the record yet, with names for the
// metrics.
func (s *session) learnings() (events []core.Event) {
	if s.machine.Learned() >= len(s.lessons) {
		return nil
	}
	named := s.machine.Metrics()
	ids := make([]core.MetricID, len(s.experiment.Objectives))
	for i, o := range s.experiment.Objectives {
		if ids[i] = s.machine.Metric(o.Metric); ids[i] == 0 {
			named++
			ids[i] = core.MetricID(named)
			events = append(events, &core.MetricNamed{ID: ids[i], Name: o.Metric})
		}
	}
	for _, x := range s.lessons[s.machine.Learned():] {
		events = append(events, x.event(ids))
	}
	return events
}

func (x *lesson) event(ids []core.MetricID) *core.TrialLearned {
	e := &core.TrialLearned{From: x.From, Params: x.Params, Iteration: x.Iteration, TrainNS: x.TrainNS, Failed: x.Failed}
	for i, v := range x.Values {
		value := math.NaN()
		if v != nil {
			value = *v
		}
		e.Metrics = append(e.Metrics, core.Metric{ID: ids[i], Value: value})
	}
	return e
}
