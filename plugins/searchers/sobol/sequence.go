package sobol

import (
	_ "embed"
	"fmt"
	"math/bits"
	"strings"
)

// maxDimensions is how many dimensions there are direction numbers for.
const maxDimensions = 256

//go:embed directions.txt
var table string

// direction is what each bit of an index, lowest first, does to one coordinate,
// a fraction of 2^32.
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

// first is the direction of dimension 1, which reverses the index's bits.
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

// extend continues the numbers after the first ones by the polynomial's recurrence.
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

// at is the coordinate of the point with that index.
func (d *direction) at(index uint32) (x uint32) {
	for ; index != 0; index &= index - 1 {
		x ^= d[bits.TrailingZeros32(index)]
	}
	return x
}

// scramble permutes coordinates at random, such that two that agree in their first
// k bits, and no more, still do so: bit k is flipped or not by a coin that belongs
// to the bits before it. The bits beyond the 32nd are coins altogether.
func scramble(x uint32, seed uint64) float64 {
	flipped := x
	for k := range 32 {
		before := uint64(x) >> (32 - k)
		flipped ^= uint32(mix(seed^(before<<6|uint64(k)))>>63) << (31 - k)
	}
	rest := mix(seed^(uint64(x)<<6|32)) >> 43 // 21 bits
	return float64(uint64(flipped)<<21|rest) / (1 << 53)
}

// mix turns numbers into coins (the finaliser of G. Steele's SplitMix64).
func mix(z uint64) uint64 {
	z += 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
