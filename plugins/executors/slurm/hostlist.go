package slurm

import (
	"fmt"
	"strconv"
	"strings"
)

// maxNodes bounds a list of nodes.
const maxNodes = 100_000

// expand expands a list of nodes as Slurm writes it, such as n[1-3,07-09],m4.
func expand(list string) (names []string, err error) {
	for part := range splitOutside(list, "[", "]") {
		more, err := expandOne(part)
		if err != nil || len(names)+len(more) > maxNodes {
			return nil, fmt.Errorf("%q is no list of nodes", list)
		}
		names = append(names, more...)
	}
	return names, nil
}

// splitOutside splits at commas that are not in brackets.
func splitOutside(list, open, end string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		depth, from := 0, 0
		for i, r := range list {
			switch {
			case string(r) == open:
				depth++
			case string(r) == end:
				depth--
			case r == ',' && depth == 0:
				if !yield(list[from:i]) {
					return
				}
				from = i + 1
			}
		}
		if from < len(list) {
			yield(list[from:])
		}
	}
}

// expandOne expands the first brackets of a name, and those after it in turn.
func expandOne(name string) (names []string, err error) {
	before, rest, brackets := strings.Cut(name, "[")
	if !brackets {
		return []string{name}, nil
	}
	ranges, after, closed := strings.Cut(rest, "]")
	if !closed {
		return nil, fmt.Errorf("%q lacks a bracket", name)
	}
	tails, err := expandOne(after)
	if err != nil {
		return nil, err
	}
	for r := range strings.SplitSeq(ranges, ",") {
		numbers, err := expandRange(r)
		if err != nil || len(names)+len(numbers)*len(tails) > maxNodes {
			return nil, fmt.Errorf("%q is no range", r)
		}
		for _, n := range numbers {
			for _, t := range tails {
				names = append(names, before+n+t)
			}
		}
	}
	return names, nil
}

// expandRange expands 7, or 08-11, whose numbers have equally many digits.
func expandRange(r string) (numbers []string, err error) {
	low, high, ok := strings.Cut(r, "-")
	if !ok {
		high = low
	}
	from, err := strconv.ParseUint(low, 10, 31)
	if err != nil {
		return nil, err
	}
	to, err := strconv.ParseUint(high, 10, 31)
	if err != nil || to < from || to-from > maxNodes {
		return nil, fmt.Errorf("%q is no range", r)
	}
	for n := from; n <= to; n++ {
		numbers = append(numbers, fmt.Sprintf("%0*d", len(low), n))
	}
	return numbers, nil
}
