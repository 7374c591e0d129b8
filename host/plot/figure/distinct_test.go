package figure

import (
	"slices"
	"strings"
	"testing"

	"github.com/mattn/go-runewidth"
	"pgregory.net/rapid"
)

// Names that fit stay; of others a part is left out in which they do not differ.
func TestDistinct(t *testing.T) {
	long := "/a_rather_long_parameter_name_"
	for _, x := range []struct{ names, want []string }{
		{[]string{"lr", "units"}, []string{"lr", "units"}},
		{[]string{"group0" + long + "0", "group0" + long + "1", "group4" + long + "0"},
			[]string{"group0/…_name_0", "group0/…_name_1", "group4/…_name_0"}},
		{[]string{"the_same_beginning_a_the_same_end", "the_same_beginning_b_the_same_end"},
			[]string{"…a_the_same_end", "…b_the_same_end"}},
		{[]string{"x" + strings.Repeat("b", 30), "x" + strings.Repeat("b", 31)},
			[]string{"xbbbbbb…bbbbbbb", "xbbbbbb…bb… (2)"}},
	} {
		if got := Distinct(x.names, 15); !slices.Equal(got, x.want) {
			t.Errorf("%q, want %q", got, x.want)
		}
	}
}

// Different names are never shortened to the same text.
func TestDistinctStaysDistinct(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfN(rapid.StringMatching(`[ab学]{0,40}`), 1, 9).Draw(t, "names")
		most := rapid.IntRange(8, 20).Draw(t, "columns")
		got := Distinct(names, most)
		seen := map[string]string{}
		for i, text := range got {
			if before, ok := seen[text]; ok && before != names[i] {
				t.Fatalf("%q and %q are both %q", before, names[i], text)
			}
			if seen[text] = names[i]; runewidth.StringWidth(text) > most {
				t.Fatalf("%q has more than %d columns", text, most)
			}
		}
	})
}
