// Package sequence has scrambled Sobol sequences: any 2^k consecutive points from a multiple of 2^k
// have one value in each of 2^k equal slices of every dimension. They are scrambled after A. B.
// Owen (Randomly permuted (t,m,s)-nets and (t,s)-sequences, 1995), with the direction numbers of S.
// Joe and F. Y. Kuo (2008), whose licence is in directions.txt. Searchers draw their first points
// from them.
package sequence

import (
	_ "embed"
	"fmt"
	"math/bits"
	"strings"
)

// MaxDimensions is the number of dimensions with direction numbers.
const MaxDimensions = 256

//go:embed directions.txt
var table string

// A Sobol is a sequence, scrambled by a seed.
type Sobol struct {
	seed       uint64
	directions []direction
}

// New returns the sequence with that many dimensions, at most [MaxDimensions].
func New(dimensions int, seed uint64) (*Sobol, error) {
	all, err := directions(min(dimensions, MaxDimensions))
	if err != nil {
		return nil, err
	}
	return &Sobol{seed, all}, nil
}

// Dimensions returns the number of dimensions.
func (s *Sobol) Dimensions() int { return len(s.directions) }

// At returns coordinate i, in [0, 1), of the point with the index.
func (s *Sobol) At(index uint32, i int) float64 {
	return scramble(s.directions[i].at(index), mix(s.seed^mix(uint64(i))))
}

// A direction is the effect of each bit of an index, lowest first, on one coordinate, as a fraction
// of 2^32.
type direction [32]uint32

// directions reads those of the first n dimensions from the table.
func directions(n int) ([]direction, error) {
	all := []direction{first()}
	for line := range strings.Lines(table) {
		if len(all) >= n {
			break
		}
		if strings.HasPrefix(line, "#") {
			continue
		}
		d, err := parse(line)
		if err != nil {
			return nil, fmt.Errorf("direction numbers: %q: %w", line, err)
		}
		all = append(all, d)
	}
	return all[:n], nil
}

// first returns the direction of dimension 1, which reverses the index's bits.
func first() (d direction) {
	for k := range d {
		d[k] = 1 << (31 - k)
	}
	return d
}

// parse reads a line of the table: dimension, degree, polynomial, first numbers.
func parse(line string) (d direction, err error) {
	in := strings.NewReader(line)
	var dimension, degree int
	var polynomial uint32
	if _, err := fmt.Fscan(in, &dimension, &degree, &polynomial); err != nil {
		return d, err
	}
	for k := range degree {
		var m uint32
		if _, err := fmt.Fscan(in, &m); err != nil {
			return d, err
		}
		d[k] = m << (31 - k)
	}
	d.extend(degree, polynomial)
	return d, nil
}

// extend computes the later numbers by the polynomial's recurrence.
func (d *direction) extend(degree int, polynomial uint32) {
	for k := degree; k < len(d); k++ {
		d[k] = d[k-degree] ^ d[k-degree]>>degree
		for j := 1; j < degree; j++ {
			if polynomial>>(degree-1-j)&1 == 1 {
				d[k] ^= d[k-j]
			}
		}
	}
}

// at returns the coordinate of the point with the index.
func (d *direction) at(index uint32) (x uint32) {
	for ; index != 0; index &= index - 1 {
		x ^= d[bits.TrailingZeros32(index)]
	}
	return x
}

// scramble permutes coordinates at random. Two coordinates that agree in exactly their first k bits
// still do so: bit k is flipped by a random bit that depends on the bits before it. The bits after
// the 32nd are random.
func scramble(x uint32, seed uint64) float64 {
	flipped := x
	for k := range 32 {
		before := uint64(x) >> (32 - k)
		flipped ^= uint32(mix(seed^(before<<6|uint64(k)))>>63) << (31 - k)
	}
	rest := mix(seed^(uint64(x)<<6|32)) >> 43 // 21 bits
	return float64(uint64(flipped)<<21|rest) / (1 << 53)
}

// mix hashes a number (the finaliser of G. Steele's SplitMix64).
func mix(z uint64) uint64 {
	z += 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
