// Package nearest finds the known name that a mistyped one probably means. It is for error messages
// only: no decision depends on it.
package nearest

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/agnivade/levenshtein"
)

// maxLength is the length in bytes above which a name is not compared: the cost is the product of both
// lengths.
const maxLength = 200

// Of returns the candidate that is nearest to name, or "" if none is near. Of equally near ones it
// returns that with the fewest wrong letters, and of those the first in alphabetical order, so that messages are
// stable.
func Of(name string, candidates []string) string {
	if len(name) > maxLength || len(name) < 2 {
		return ""
	}
	best, distance, wrong := "", limit(name)+1, 0
	for _, c := range slices.SortedFunc(slices.Values(candidates), cmp.Compare) {
		d := between(name, c)
		if d > distance || d > limit(name) {
			continue
		}
		if letters := levenshtein.ComputeDistance(name, c); d < distance || letters < wrong {
			best, distance, wrong = c, d, letters
		}
	}
	return best
}

// Hint is `; did you mean "X"?` for the nearest candidate, or "".
func Hint(name string, candidates []string) string {
	if n := Of(name, candidates); n != "" {
		return "; did you mean " + strconv.Quote(n) + "?"
	}
	return ""
}

// limit is how many wrong letters still count as the same word.
func limit(name string) int { return max(1, (len(name)+2)/3) }

func between(name, candidate string) int {
	if len(candidate) > maxLength {
		return maxLength
	}
	a, b := strings.ToLower(name), strings.ToLower(candidate)
	if strings.ReplaceAll(a, "-", "_") == strings.ReplaceAll(b, "-", "_") {
		return 0
	}
	if len(a) >= 4 && (strings.HasPrefix(b, a) || strings.HasPrefix(a, b) && len(b) >= 4) {
		return 1
	}
	if swapped(a, b) {
		return 1
	}
	return levenshtein.ComputeDistance(a, b)
}

// Typo reports whether name is word with one wrong, missing or additional letter, or with two neighbouring
// letters in the wrong order.
func Typo(name, word string) bool {
	return name != word && len(name) <= maxLength && (swapped(name, word) || levenshtein.ComputeDistance(name,
		word) == 1)
}

// swapped reports whether two neighbouring letters are in the wrong order.
func swapped(a, b string) bool {
	for i := 0; i+1 < len(a) && len(a) == len(b); i++ {
		if a[i] != b[i] {
			return a[i] == b[i+1] && a[i+1] == b[i] && a[i+2:] == b[i+2:]
		}
	}
	return false
}
