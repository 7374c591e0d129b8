package tpe

import (
	"cmp"
	"slices"
)

const (
	// maxRecent is how many of the last trials always are in the model of the
	// bad ones.
	maxRecent = 64
	// maxSample is how many of all trials before are in it; they stand for the
	// others.
	maxSample = 192
	// maxPending is how many trials without a result are in it.
	maxPending = 128
)

// members is the trials of a branch that count, cut down to the last ones and a
// random sample of all: the trials whose numbers have the smallest hashes. So the
// sample depends on nothing but the trials, and changes little from one to the next.
type members struct {
	total  int
	recent []int
	sample []hashed
}

type hashed struct {
	hash  uint64
	trial int
}

// add counts a trial in.
func (m *members) add(trial int, number uint32) {
	m.total++
	if len(m.recent) == maxRecent {
		m.recent = m.recent[:copy(m.recent, m.recent[1:])]
	}
	m.recent = append(m.recent, trial)
	// The good trials and the last ones may be in the sample, and are left out.
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

// others are the trials besides the good ones, in the order of their places, and
// how many each stands for: itself, or a part of those that are left out. The last
// of the pending ones, which do not count yet, are added. good and pending are in
// order.
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

// trials are those of the sample, by their hashes.
func (m *members) trials() []int {
	list := make([]int, len(m.sample))
	for k := range m.sample {
		list[k] = m.sample[k].trial
	}
	return list
}

// has says whether i is in a sorted list.
func has(list []int, i int) bool {
	_, found := slices.BinarySearch(list, i)
	return found
}

// mix turns numbers into hashes (the finaliser of G. Steele's SplitMix64).
func mix(z uint64) uint64 {
	z += 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
