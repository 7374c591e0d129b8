package coretest

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/stat"
)

// keeping is what a trial had on disk when one of its saves ended.
type keeping struct {
	trial core.TrialNo
	had   []core.CheckpointRef
}

// beforeKeeping notes the candidates: the trial's checkpoints and the new one.
func (a *audit) beforeKeeping(e *core.CheckpointSaved) {
	if t := a.live(e.Trial, e.Attempt); t != nil {
		had := append(slices.Clone(a.m.Checkpoints(e.Trial)),
			core.CheckpointRef{Trial: e.Trial, ID: e.ID, Attempt: e.Attempt, Iteration: e.Iteration})
		a.keeping = &keeping{e.Trial, had}
	}
}

// keptWell compares the kept checkpoints with the policy: the N best by score plus the newest, or
// the N newest where there is no score (B-053). It does not know which checkpoints could not
// be loaded, nor what a bound on the disk costs. A trial that has gone on at once may have
// been ordered to do so from a checkpoint that would not have stayed.
func (a *audit) keptWell() error {
	k := a.keeping
	a.keeping = nil
	limit := int(a.spec.Checkpoint.Keep)
	if k == nil || limit == 0 || a.spec.Checkpoint.DiskBytes > 0 || a.trials[k.trial].doubted || !a.knowsScores() {
		return nil
	}
	if a.trials[k.trial].begun == a.clock {
		return nil
	}
	newest := k.had[len(k.had)-1]
	ranked := slices.Clone(k.had)
	slices.Reverse(ranked)
	slices.SortStableFunc(ranked, a.byScore)
	for i, ref := range ranked {
		stays := slices.Contains(a.m.Checkpoints(k.trial), ref)
		if should := i < limit || ref == newest; stays != should {
			return fmt.Errorf("trial %d: checkpoint %+v is number %d of %d; kept is %t", k.trial, ref, i+1, limit,
				stays)
		}
	}
	return nil
}

// knowsScores: the accounts have values of the first metric only.
func (a *audit) knowsScores() bool {
	score := a.spec.Checkpoint.Score
	return score == "" || a.m.Metrics() == 0 || a.m.MetricName(1) == score
}

// byScore puts the best first, and those without a score last.
func (a *audit) byScore(x, y core.CheckpointRef) int {
	v, w := a.scoresOf(x), a.scoresOf(y)
	if len(v) == 0 || len(w) == 0 {
		return -cmp.Compare(min(len(v), 1), min(len(w), 1))
	}
	return stat.Compare(v[len(v)-1], w[len(w)-1], a.spec.Checkpoint.Mode)
}

func (a *audit) scoresOf(ref core.CheckpointRef) []float64 {
	c := a.ckpts[ckptKey{ref.Trial, ref.ID}]
	if c == nil || a.spec.Checkpoint.Score == "" {
		return nil
	}
	return c.values
}
