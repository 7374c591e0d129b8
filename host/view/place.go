package view

import (
	"os"
	"path/filepath"
	"slices"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/storage"
)

// place finds the result that a value is of, and its checkpoint (B-154). It looks at files after the
// machine.
func (e *Experiment) place(r *Ranked, metric string, stretch *core.Stretch, made []checkpoint) error {
	if e.elsewhere == nil {
		made = slices.DeleteFunc(made, func(c checkpoint) bool { return !isThere(c.files) })
	}
	if r.MeanOf == nil && (r.Scope == Min || r.Scope == Max || r.Scope == All) {
		if err := e.placeExtreme(r, metric, stretch, made); err != nil {
			return err
		}
	}
	r.Checkpoint, r.CheckpointAt, r.Nearest, r.NearestAt = "", 0, "", 0
	r.placeCheckpoint(made)
	if e.elsewhere != nil {
		r.Away, r.Checkpoint, r.Nearest = r.Checkpoint, "", ""
	}
	return nil
}

// isThere reports whether a checkpoint has its files here, or in the storage, where a node has written them.
func isThere(files string) bool {
	if _, err := os.Stat(files); err == nil {
		return true
	}
	m, err := storage.ReadManifest(filepath.Dir(files))
	return err == nil && m.Stored != ""
}

// placeExtreme finds the result of a least or largest value; of several with the same value one whose
// checkpoint exists, or the first.
func (e *Experiment) placeExtreme(r *Ranked, metric string, s *core.Stretch, made []checkpoint) error {
	all, err := e.Results(r.Number)
	if err != nil {
		return err
	}
	saved, found := map[uint64]bool{}, false
	for _, c := range made {
		saved[c.iteration] = true
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

// placeLast finds the last result that has the metric.
func (e *Experiment) placeLast(r *Ranked, metric string, s *core.Stretch) error {
	all, err := e.Results(r.Number)
	if err != nil {
		return err
	}
	for _, x := range all {
		if _, ok := metricOf(x.Metrics, metric); ok && s.Has(x.Attempt) {
			r.Iteration, r.Metrics = x.Iteration, x.Metrics
		}
	}
	return nil
}

// placeCheckpoint sets the checkpoint of the same iteration, or the nearest.
func (r *Ranked) placeCheckpoint(made []checkpoint) {
	var nearest *checkpoint
	for i, c := range made {
		if nearest == nil || away(c.iteration, r.Iteration) <= away(nearest.iteration, r.Iteration) {
			nearest = &made[i]
		}
	}
	switch {
	case nearest == nil:
	case nearest.iteration == r.Iteration:
		r.Checkpoint, r.CheckpointAt = nearest.files, nearest.iteration
	default:
		r.Nearest, r.NearestAt = nearest.files, nearest.iteration
	}
}

// checkpoint is a checkpoint of a trial, with the path of its files.
type checkpoint struct {
	iteration uint64
	files     string
}

// checkpoints returns the checkpoints that a trial has made in a stretch, including those that are kept
// for other trials. Before RulesV2 it returns all checkpoints of the trial.
func (s *State) checkpoints(no core.TrialNo, stretch *core.Stretch) (list []checkpoint) {
	m := s.Machine
	add := func(ref core.CheckpointRef) { list = append(list, checkpoint{ref.Iteration, s.filesOf(ref)}) }
	if m.Spec().Rules < core.RulesV2 {
		for _, ref := range m.Checkpoints(no) {
			add(ref)
		}
		return list
	}
	seen := map[core.CheckpointRef]bool{}
	m.EachCheckpoint(func(ref core.CheckpointRef) {
		if ref.Trial == no && stretch.Made(ref.ID) && !seen[ref] {
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
