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
	isGood := func(i int) bool { return has(good, i) }
	pending = pending[max(0, len(pending)-maxPending):]
	own := slices.DeleteFunc(slices.Concat(m.recent, pending), isGood)
	slices.Sort(own)
	sampled := slices.DeleteFunc(m.trials(), func(i int) bool { return isGood(i) || has(own, i) })
	sampled = sampled[:min(len(sampled), maxSample)]
	share := float64(m.total-len(good)-(len(own)-len(pending))) / float64(max(1, len(sampled)))
	trials = slices.Concat(own, sampled)
	slices.Sort(trials)
	weights = make([]float64, len(trials))
	for k, i := range trials {
		weights[k] = share
		if has(own, i) {
			weights[k] = 1
		}
	}
	return trials, weights
}

// trials returns those of the sample, by their hashes.
func (m *members) trials() []int {
	list := make([]int, len(m.sample))
	for k := range m.sample {
		list[k] = m.sample[k].trial
	}
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
