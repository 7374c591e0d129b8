package cmaes

import (
	"math"
	"slices"

	"github.com/tunehost/tunehost/plugins/searchers/internal/dense"
)

// A pace adapts the learning rates of the mean and the covariance to the signal-to-noise ratio of
// their steps, so that generations of the usual size work with noise and many local minima (M.
// Nomura and others, CMA-ES with Learning Rate Adaptation: Can CMA-ES with Default Population Size
// Solve Multimodal and Noisy Problems?, 2023).
type pace struct {
	mean, spread rate
}

// A rate is a learning rate, and the mean and mean square of recent steps.
type rate struct {
	value, memory float64
	step          []float64
	square        float64
}

// A snapshot is the state before a step.
type snapshot struct {
	mean       []float64
	sigma      float64
	covariance dense.Matrix
	root       dense.Matrix
}

func newPace(d int) *pace {
	return &pace{rate{1, 0.1, make([]float64, d), 0}, rate{1, 0.03, make([]float64, d*d), 0}}
}

func copied(m dense.Matrix) dense.Matrix {
	c := dense.New(len(m), len(m))
	for i := range m {
		copy(c[i], m[i][:i+1])
	}
	return c
}

// snapshot returns nil if rates do not adapt.
func (s *strategy) snapshot() *snapshot {
	if s.pace == nil {
		return nil
	}
	return &snapshot{slices.Clone(s.mean), s.sigma, copied(s.covariance), copied(s.root)}
}

// shortenStep shortens the step made since the snapshot before.
func (p *pace) shortenStep(s *strategy, before *snapshot) {
	move := make([]float64, len(s.mean))
	for j := range move {
		move[j] = s.mean[j] - before.mean[j]
	}
	turned := s.spreadStep(before)
	last := p.mean.value
	p.mean.adapt(before.whiten(move))
	p.spread.adapt(before.whitenBoth(turned))
	for j := range move {
		s.mean[j] = before.mean[j] + float64(p.mean.value*move[j])
	}
	old := before.sigma * before.sigma
	for i, row := range turned {
		for j := range i + 1 {
			s.covariance[i][j] = float64(old*before.covariance[i][j]) + float64(p.spread.value*row[j])
		}
	}
	s.split(last / p.mean.value)
}

// spreadStep returns the change of sigma² times the covariance, as a full symmetric matrix.
func (s *strategy) spreadStep(before *snapshot) dense.Matrix {
	change := dense.New(len(s.mean), len(s.mean))
	now, old := s.sigma*s.sigma, before.sigma*before.sigma
	for i := range change {
		for j := range i + 1 {
			change[i][j] = float64(now*s.covariance[i][j]) - float64(old*before.covariance[i][j])
			change[j][i] = change[i][j]
		}
	}
	return change
}

// split divides the scale between the covariance and sigma, such that the root has the determinant
// 1, and corrects sigma for a changed rate of the mean.
func (s *strategy) split(correction float64) {
	if !s.factorise() {
		return // settle restarts with a round one
	}
	logs := 0.0
	for i := range s.root {
		logs += ln(s.root[i][i])
	}
	sigma := exp(logs / float64(len(s.root)))
	for i, row := range s.covariance {
		times(row[:i+1], 1/sigma/sigma)
	}
	s.sigma = sigma * correction
}

// whiten transforms a move to the coordinates in which the distribution was round.
func (b *snapshot) whiten(move []float64) []float64 {
	x := slices.Clone(move)
	dense.Solve(b.root, x)
	times(x, 1/b.sigma)
	return x
}

// whitenBoth transforms a change of the covariance from both sides, scaled to the length of the
// step in the space of normal distributions.
func (b *snapshot) whitenBoth(change dense.Matrix) []float64 {
	n := len(change)
	half := dense.New(n, n)
	for i := range change {
		row := slices.Clone(change[i])
		dense.Solve(b.root, row)
		for j := range row {
			half[j][i] = row[j]
		}
	}
	var flat []float64
	for _, row := range half {
		dense.Solve(b.root, row)
		flat = append(flat, row...)
	}
	times(flat, 1/(b.sigma*b.sigma*math.Sqrt2))
	return flat
}

// adapt updates the rate after a step.
func (r *rate) adapt(step []float64) {
	const target, damping = 1.4, 0.1
	times(r.step, 1-r.memory)
	dense.Add(r.step, r.memory, step)
	r.square += float64(r.memory * (dense.Dot(step, step) - r.square))
	mean := dense.Dot(r.step, r.step)
	signal, noise := mean-float64(r.memory/(2-r.memory)*r.square), r.square-mean
	if !(noise > 0) {
		return
	}
	push := math.Max(-1, math.Min(1, signal/noise/(target*r.value)-1))
	r.value = math.Min(1, r.value*exp(math.Min(damping*r.value, r.memory)*push))
}
