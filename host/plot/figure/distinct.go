package figure

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mattn/go-runewidth"
)

// Distinct returns names as lines of at most so many columns. It shortens long ones within, so that different names
// stay different, whether they differ at their beginnings, in their middles or at their ends.
func Distinct(names []string, most int) []string {
	whole := make([]string, len(names))
	for i, name := range names {
		whole[i] = Mask(name)
	}
	want := different(whole)
	best := shortened(whole, most, 0, most/2)
	for _, skip := range []int{0, common(whole)} {
		for head := range most - 2 {
			if different(best) == want {
				return best
			}
			if list := shortened(whole, most, skip, head); different(list) > different(best) {
				best = list
			}
		}
	}
	return numbered(whole, best, most)
}

// shortened leaves out the first bytes of each name that is too long, and a part after so many columns.
func shortened(names []string, most, skip, head int) (list []string) {
	for _, name := range names {
		list = append(list, within(name, most, skip, head))
	}
	return list
}

func within(name string, most, skip, head int) string {
	if runewidth.StringWidth(name) <= most {
		return name
	}
	start := ""
	if skip > 0 {
		start, name = "…", name[skip:]
		most--
	}
	if runewidth.StringWidth(name) <= most {
		return start + name
	}
	head = min(head, most-1)
	tail := runewidth.StringWidth(name) - (most - 1 - head)
	return start + runewidth.Truncate(name, head, "") + "…" + runewidth.TruncateLeft(name, tail, "")
}

// common returns how many bytes all names have in common at their beginnings; 0 if nothing would be left of one.
func common(names []string) int {
	if len(names) == 0 {
		return 0
	}
	same := names[0]
	for _, name := range names {
		for !strings.HasPrefix(name, same) {
			_, size := utf8.DecodeLastRuneInString(same)
			same = same[:len(same)-size]
		}
	}
	if slices.Contains(names, same) {
		return 0
	}
	return len(same)
}

func different(list []string) int {
	seen := map[string]bool{}
	for _, s := range list {
		seen[s] = true
	}
	return len(seen)
}

// numbered tells apart what still looks the same.
func numbered(whole, short []string, most int) []string {
	list, seen := make([]string, len(short)), map[string]string{}
	for i, text := range short {
		list[i] = text
		for n := 2; seen[list[i]] != "" && seen[list[i]] != whole[i]; n++ {
			number := fmt.Sprintf(" (%d)", n)
			list[i] = runewidth.Truncate(text, most-len(number), "…") + number
		}
		seen[list[i]] = whole[i]
	}
	return list
}
