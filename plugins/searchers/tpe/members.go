package tpe

import (
	"cmp"
	"slices"
)

const (
	// maxRecent is how many of the last trials are always in the model of the bad ones.
	maxRecent = 64
	// maxSample is how many of all earlier trials are in it; they represent the others.
	maxSample = 192
	// maxPending is how many trials without a result are in it.
	maxPending = 128
)

// members are the trials of a branch that count, reduced to the last ones and a random sample of
// all: the trials whose numbers have the smallest hashes. So the sample depends only on the trials,
// and changes little from one trial to the next.
type members struct {
	total  int
	recent []int
	sample []hashed
}

type hashed struct {
	hash  uint64
	trial int
}

// add adds a trial.
func (m *members) add(trial int, number uint32) {
	m.total++
	if len(m.recent) == maxRecent {
		m.recent = m.recent[:copy(m.recent, m.recent[1:])]
	}
	m.recent = append(m.recent, trial)
	// The sample may include the good and the last trials, which are left out later.
	const limit = maxSample + maxRecent + maxGood
	h := hashed{mix(uint64(number)), trial}
	at, _ := slices.BinarySearchFunc(m.sample, h, func(a, b hashed) int { return cmp.Compare(a.hash, b.hash) })
	if at == limit {
		return
	}
	if len(m.sample) == limit {
		m.sample = m.sample[:limit-1]
	}
	m.sample = slices.Insert(m.sample, at, h)
}

// others returns the trials except the good ones, in the order of their indices, and how many
// trials each represents: itself, or a share of those left out. The last of the pending ones, which
// do not count yet, are added. good and pending are sorted.
func (m *members) others(good, pending []int) (trials []int, weights []float64) {
	pending = pending[max(0, len(pending)-maxPending):]
	own := slices.DeleteFunc(slices.Concat(m.recent, pending), func(i int) bool { return has(good, i) })
	slices.Sort(own)
	sampled := m.sampled(good, own)
	share := float64(m.total-len(good)-(len(own)-len(pending))) / float64(max(1, len(sampled)))
	trials, weights = make([]int, 0, len(own)+len(sampled)), make([]float64, 0, len(own)+len(sampled))
	for len(own)+len(sampled) > 0 {
		if len(sampled) == 0 || len(own) > 0 && own[0] < sampled[0] {
			trials, weights, own = append(trials, own[0]), append(weights, 1), own[1:]
		} else {
			trials, weights, sampled = append(trials, sampled[0]), append(weights, share), sampled[1:]
		}
	}
	return trials, weights
}

// sampled returns the trials of the sample with the smallest hashes that are in neither list, in order.
func (m *members) sampled(good, own []int) []int {
	list := make([]int, 0, maxSample)
	for _, h := range m.sample {
		if len(list) == maxSample {
			break
		}
		if !has(good, h.trial) && !has(own, h.trial) {
			list = append(list, h.trial)
		}
	}
	slices.Sort(list)
	return list
}

// has reports whether i is in a sorted list.
func has(list []int, i int) bool {
	_, found := slices.BinarySearch(list, i)
	return found
}

// mix hashes a number (the finaliser of G. Steele's SplitMix64).
func mix(z uint64) uint64 {
	z += 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
