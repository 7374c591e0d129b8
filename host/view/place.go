package view

import (
	"os"

	"github.com/tunehost/tunehost/core"
)

// place says which result a value is of, and where its checkpoint is (B-154).
func (e *Experiment) place(r *Ranked, metric string, s *core.Stretch) error {
	r.Params, r.Iteration, r.Saves = s.Params, s.Iteration, e.Machine().HadCheckpoint(r.Number)
	if r.MeanOf == nil && (r.Scope == Min || r.Scope == Max || r.Scope == All) {
		if err := e.placeExtreme(r, metric, s); err != nil {
			return err
		}
	}
	r.Checkpoint, r.CheckpointAt, r.Nearest, r.NearestAt = "", 0, "", 0
	if e.elsewhere == nil {
		e.placeCheckpoint(r, s)
	}
	return nil
}

// placeExtreme finds the result of a least or largest value; of several with the same value one
// whose checkpoint is there, or the first.
func (e *Experiment) placeExtreme(r *Ranked, metric string, s *core.Stretch) error {
	all, err := e.Results(r.Number)
	if err != nil {
		return err
	}
	saved, found := map[uint64]bool{}, false
	for _, ref := range e.checkpoints(r.Number, s) {
		saved[ref.Iteration] = true
	}
	for _, x := range all {
		v, ok := metricOf(x.Metrics, metric)
		if !ok || v != r.Value || !s.Has(x.Attempt) || found && (!saved[x.Iteration] || saved[r.Iteration]) {
			continue
		}
		r.Iteration, r.Metrics, found = x.Iteration, x.Metrics, true
	}
	return nil
}

// placeCheckpoint names the checkpoint of the very iteration, or the nearest.
func (e *Experiment) placeCheckpoint(r *Ranked, s *core.Stretch) {
	nearest := core.CheckpointRef{}
	for _, ref := range e.checkpoints(r.Number, s) {
		if nearest.ID == 0 || away(ref.Iteration, r.Iteration) <= away(nearest.Iteration, r.Iteration) {
			nearest = ref
		}
	}
	switch {
	case nearest.ID == 0:
	case nearest.Iteration == r.Iteration:
		r.Checkpoint, r.CheckpointAt = e.checkpointDir(nearest), nearest.Iteration
	default:
		r.Nearest, r.NearestAt = e.checkpointDir(nearest), nearest.Iteration
	}
}

// checkpoints are those that the trial has made in a stretch and that are there, for whichever
// trial they are kept. Before RulesV2 they are all that the trial has.
func (e *Experiment) checkpoints(no core.TrialNo, s *core.Stretch) (list []core.CheckpointRef) {
	m := e.Machine()
	add := func(ref core.CheckpointRef) {
		if _, err := os.Stat(e.checkpointDir(ref)); err == nil {
			list = append(list, ref)
		}
	}
	if m.Spec().Rules < core.RulesV2 {
		for _, ref := range m.Checkpoints(no) {
			add(ref)
		}
		return list
	}
	seen := map[core.CheckpointRef]bool{}
	m.EachCheckpoint(func(ref core.CheckpointRef) {
		if ref.Trial == no && s.Made(ref.ID) && !seen[ref] {
			seen[ref] = true
			add(ref)
		}
	})
	return list
}

func away(a, b uint64) uint64 { return max(a, b) - min(a, b) }

func metricOf(list []Metric, name string) (float64, bool) {
	for _, x := range list {
		if x.Name == name {
			return x.Value, true
		}
	}
	return 0, false
}
