package simulate

import (
	"context"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/options"
	"github.com/tunehost/tunehost/host/simulate/curves"
	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/host/storage/runfile"
	"github.com/tunehost/tunehost/host/usererror"
	"github.com/tunehost/tunehost/host/view"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// Backtest simulates an experiment file on what another experiment recorded: its
// trials come in their order, as they were suggested then, and report what they reported. Without
// Options.File it is the recorded file, with the overrides of Options.Sets: another
// scheduler, for example.
//
// A trial that failed and was retried is what counts of it after all its attempts: it is not retried again.
// A trial that was stopped early is not known beyond that; where the simulation would continue
// with it, it ends (Result.Cut). The best record to test on is one of trials that
// all ran to their end.
func Backtest(ctx context.Context, dir string, o options.Options, workers int) (Result, error) {
	if err := recordDecides(o.Sets); err != nil {
		return Result{}, err
	}
	o.Await("the record of " + dir)
	e, err := view.Open(dir)
	if err != nil {
		return Result{}, usererror.Wrap(err)
	}
	defer func() { _ = e.Close() }()
	rows, trials, silent, err := recordedRows(e, e.Config.Space)
	if err != nil {
		return Result{}, err
	}
	if o.File == "" {
		if err := takeRecorded(&o, dir); err != nil {
			return Result{}, err
		}
		o.Mode.LockedAt = e.Dir
	}
	o.Plugins = o.Plugins.With(recordedSearcher(rows))
	o.Sets = append(slices.Clone(o.Sets), "searcher="+recordedName, fmt.Sprintf("trials=%d", len(rows)), "points=null",
		"learn_from=null", "restore=null",
		"repeat=1",           // the record has each run
		"failures.retries=0") // a curve is what counts of a trial after all its attempts
	m := newSimulation()
	m.record = true
	end, err := m.simulate(ctx, o, func(now *config.Experiment) (*curves.Table, error) {
		if err := sameSpace(e, now); err != nil {
			return nil, err
		}
		return curves.New(now.Space, curves.Rule{Neighbours: 1}, rows), nil
	}, workers)
	if err == nil {
		end.Record = compare(e, rows, trials, m)
		end.Record.LeftOut, end.Record.LeftOutFailed = silent.trials, silent.failed
		end.rename(trials)
	}
	return end, err
}

// rename gives trials the names that they have in the record, where those that reported nothing have numbers, too.
func (s *Result) rename(recorded []view.Trial) {
	for i := range s.Curve {
		t := &recorded[s.Curve[i].Number]
		s.Curve[i].Number, s.Curve[i].Trial = t.Number, t.ID
	}
	if s.Best != nil {
		t := &recorded[s.Best.Number]
		s.Best.Number, s.Best.Trial = t.Number, t.ID
	}
}

// recordDecides refuses settings that a record leaves no choice about.
func recordDecides(sets []string) error {
	for _, set := range sets {
		key, _, _ := strings.Cut(set, "=")
		if key == "failures.retries" {
			return usererror.Errorf("--set %s: --from takes of each trial what counts after all its attempts, and "+
				"retries none: leave it out", set)
		}
		key, _, _ = strings.Cut(key, ".")
		if slices.Contains([]string{"searcher", "trials", "points", "learn_from", "restore", "repeat"}, key) {
			return usererror.Errorf("--set %s: --from takes the trials from the record, as they are and in their "+
				"order: leave it out, or take a table of curves with --table, for which a searcher suggests", set)
		}
	}
	return nil
}

// sameSpace refuses another space than that of the record, whose trials come as they are.
func sameSpace(record *view.Recorded, now *config.Experiment) error {
	if reflect.DeepEqual(record.Config.Space, now.Space) {
		return nil
	}
	at, what := now.PosOf("space"), "it is another one"
	for _, d := range config.Diff(record.Config, now) {
		if key, _, _ := strings.Cut(d.Key, "."); key == "space" || key == "constraints" {
			at, what = d.Pos, d.Key+" is another one"
			break
		}
	}
	return usererror.Errorf("%s: --from takes the trials from the record %s, so that the space must be that of the "+
		"record, and %s: leave it as it is, or take a table of curves with --table, for which a searcher suggests",
		at, record.Dir.Path(), what)
}

// takeRecorded takes the experiment file from a directory.
func takeRecorded(o *options.Options, path string) error {
	dir, err := storage.At(path)
	if err != nil {
		return err
	}
	r, e, err := runfile.Read(dir)
	if err != nil {
		return usererror.Wrap(err)
	}
	o.File, o.Mode.Source, o.Sets = r.File, e.Source, slices.Concat(r.Overrides, o.Sets)
	if !slices.ContainsFunc(o.Sets, func(x string) bool { return len(x) > 5 && x[:5] == "seed=" }) {
		o.Sets = append(o.Sets, fmt.Sprintf("seed=%d", r.Seed))
	}
	return nil
}

// firstStretch is what a trial did as it was suggested, and whether that is all.
func firstStretch(e *view.Recorded, no core.TrialNo) (s core.Stretch, whole bool) {
	list := e.Now().Machine.Stretches(no)
	return list[0], len(list) == 1 && e.Now().Machine.View(no).Since == list[0].Attempt
}

// beginnings are the iterations of the checkpoints from which trials began, of another trial or of `restore`.
func beginnings(e *view.Recorded) (map[core.TrialNo]uint64, error) {
	l, err := e.Lineage()
	if err != nil {
		return nil, err
	}
	all := uint64(0)
	if s := e.Now().Machine.Spec().Start; s != nil {
		all = s.Iteration
	}
	begun := map[core.TrialNo]uint64{}
	for _, s := range l.Stretches {
		if _, later := begun[s.Trial]; !later && s.Parent >= 0 {
			begun[s.Trial] = s.From
		} else if !later {
			begun[s.Trial] = all
		}
	}
	return begun, nil
}

// silent counts the trials of a record that reported nothing, so that no curve is known of them.
type silent struct{ trials, failed int }

func (s *silent) count(t *view.Trial) {
	s.trials++
	if t.State == core.Errored {
		s.failed++
	}
}

// recordedRows are the trials that reported anything, as points of a space, and these trials. It counts the others.
func recordedRows(e *view.Recorded, s *space.Space) (rows []curves.Row, known []view.Trial, others silent, err error) {
	all, err := e.AllResults(func(core.TrialNo) bool { return true })
	if err != nil {
		return nil, nil, others, err
	}
	trials, err := e.Trials(view.Chosen{})
	if err != nil {
		return nil, nil, others, err
	}
	begun, err := beginnings(e)
	if err != nil {
		return nil, nil, others, err
	}
	names := e.Now().MetricNames()
	for _, t := range trials {
		// What it did after it continued otherwise is no curve of its first parameters (B-154).
		first, whole := firstStretch(e, t.Number)
		results := slices.DeleteFunc(all[t.Number], func(r view.Result) bool { return !first.Has(r.Attempt) })
		if len(results) == 0 {
			others.count(&t)
			continue
		}
		row := curves.Row{Curve: curves.Curve{Metrics: names, Cut: t.Cause.Kind != core.CauseCompleted || !whole}}
		if t.State == core.Errored && whole {
			row.Failed, row.Cut = t.Error, false
		}
		if row.Point, err = config.PointOf(s, first.Params); err != nil {
			return nil, nil, others, usererror.Errorf("trial %d of %s: %w", t.Number, e.Dir.Path(), err)
		}
		for _, r := range results {
			values, lacks := valuesOf(r.Metrics, names)
			row.Reports = append(row.Reports, curves.Report{Iteration: r.Iteration, Seconds: r.Seconds, Values: values,
				Lacks: lacks})
		}
		if from := begun[t.Number]; from < results[0].Iteration { // else the program counts anew
			row.Begun = from
		}
		rows, known = append(rows, row), append(known, t)
	}
	if len(rows) == 0 {
		return nil, nil, others, usererror.Errorf("%s: no trial has reported anything yet: take an experiment whose "+
			"trials have, or a table of curves with --table", e.Dir.Path())
	}
	return rows, known, others, nil
}

const recordedName = "recorded"

// recordedSearcher suggests the points of rows, in order.
func recordedSearcher(rows []curves.Row) sdk.SearcherPlugin {
	return sdk.SearcherPlugin{
		Info: sdk.Info{Name: recordedName, Version: "1", Summary: "Suggests what an experiment suggested.",
			Options: []byte(`{"type": "object", "additionalProperties": false}`)},
		Open: func(sdk.Problem, []byte) (sdk.Searcher, sdk.Traits, error) {
			// The points are whole: no value of a grid is to be put into them.
			return &replaySearcher{rows: rows}, sdk.Traits{Independent: true, CombinesGrid: true}, nil
		},
	}
}

// replaySearcher suggests the points of rows.
type replaySearcher struct{ rows []curves.Row }

// Observe implements sdk.Searcher.
func (*replaySearcher) Observe(context.Context, []sdk.Event) error { return nil }

// Suggest implements sdk.Searcher.
func (r *replaySearcher) Suggest(_ context.Context, requests []sdk.Request) (answer sdk.Suggestions, err error) {
	for _, q := range requests {
		if int(q.Trial) >= len(r.rows) {
			answer.Status = sdk.Exhausted
			break
		}
		answer.Points = append(answer.Points, slices.Clone(r.rows[q.Trial].Point))
	}
	return answer, nil
}

// valuesOf are the values of metrics by their names, and which of them there are not; nil: none.
func valuesOf(metrics []view.Metric, names []string) (values []float64, lacks []bool) {
	values = make([]float64, len(names))
	for i, name := range names {
		k := slices.IndexFunc(metrics, func(m view.Metric) bool { return m.Name == name })
		if k >= 0 {
			values[i] = metrics[k].Value
			continue
		}
		if lacks == nil {
			lacks = make([]bool, len(names))
		}
		values[i], lacks[i] = math.NaN(), true
	}
	return values, lacks
}
