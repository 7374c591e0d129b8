package random

import (
	"context"
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

var nan = math.NaN()

func raws(texts ...string) [][]byte {
	var raw [][]byte
	for _, text := range texts {
		raw = append(raw, []byte(text))
	}
	return raw
}

// nested has 8 points: 0; 1 with 0 to 6.
func nested() *space.Space {
	return &space.Space{Params: []space.Param{
		{Name: "a", Kind: space.Choice, Choices: raws("0", "1")},
		{Name: "b", Kind: space.Int, High: 6, When: &space.Expr{Op: space.In, Param: 0, Set: []int{1}}},
	}}
}

func reals() *space.Space {
	return &space.Space{Params: []space.Param{
		{Name: "a", Kind: space.Real, High: 1},
		{Name: "b", Kind: space.Choice, Choices: raws("1", "2", "3")},
	}}
}

func mustOpen(t testing.TB, s *space.Space, options string) sdk.Searcher {
	t.Helper()
	searcher, traits, err := Plugin.Open(sdk.Problem{Space: s}, []byte(options))
	if err != nil || !traits.Independent {
		t.Fatal(traits, err)
	}
	return searcher
}

// ask asks for n trials from number first, all with the same coordinates given.
func ask(t testing.TB, s sdk.Searcher, first, n int, given space.Point) sdk.Suggestions {
	t.Helper()
	var requests []sdk.Request
	for i := first; i < first+n; i++ {
		requests = append(requests, sdk.Request{Trial: uint32(i), Seed: uint64(i) * 77, Given: given})
	}
	answer, err := s.Suggest(context.Background(), requests)
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

func tell(t testing.TB, s sdk.Searcher, points ...space.Point) {
	t.Helper()
	for i, p := range points {
		event := sdk.Event{Number: uint64(i + 1), Kind: sdk.TrialAdded, Trial: uint32(i), Point: p}
		if err := s.Observe(context.Background(), []sdk.Event{event}); err != nil {
			t.Fatal(err)
		}
	}
}

func TestEachPointOnceThenExhausted(t *testing.T) {
	searcher := mustOpen(t, nested(), "{}")
	tell(t, searcher, space.Point{1, 3}, space.Point{0, nan}, space.Point{0, nan})
	answer := ask(t, searcher, 3, 20, nil)
	seen := map[string]bool{"[1 3]": true, "[0 NaN]": true}
	for _, p := range answer.Points {
		if seen[fmt.Sprint(p)] {
			t.Errorf("%v again", p)
		}
		seen[fmt.Sprint(p)] = true
	}
	if len(seen) != 8 || answer.Status != sdk.Exhausted {
		t.Errorf("%d points, status %v", len(seen), answer.Status)
	}
	if answer = ask(t, searcher, 30, 1, nil); len(answer.Points) != 0 || answer.Status != sdk.Exhausted {
		t.Errorf("afterwards: %v", answer)
	}
}

func TestRepeats(t *testing.T) {
	if answer := ask(t, mustOpen(t, nested(), `{"repeats": true}`), 0, 50, nil); len(answer.Points) != 50 ||
		answer.Status != sdk.Ready {
		t.Errorf("%d points, status %v", len(answer.Points), answer.Status)
	}
}

// Nothing to choose: as often as asked.
func TestEmptySpace(t *testing.T) {
	if answer := ask(t, mustOpen(t, &space.Space{}, ""), 0, 3, nil); len(answer.Points) != 3 ||
		answer.Status != sdk.Ready {
		t.Error(answer)
	}
}

// B-100: the grid is repeated, the rest new as long as there is something new.
func TestGiven(t *testing.T) {
	searcher := mustOpen(t, nested(), "")
	if answer := ask(t, searcher, 0, 3, space.Point{0, nan}); fmt.Sprint(answer.Points) != "[[0 NaN] [0 NaN] [0 NaN]]" {
		t.Error(answer)
	}
	counts := map[float64]int{}
	for _, p := range ask(t, searcher, 3, 9, space.Point{1, nan}).Points {
		counts[p[1]]++
	}
	if len(counts) != 7 {
		t.Errorf("%v", counts)
	}
	if p := ask(t, mustOpen(t, reals(), ""), 0, 1, space.Point{0.5, nan}).Points[0]; p[0] != 0.5 || math.IsNaN(p[1]) {
		t.Error(p)
	}
}

// B-102: a searcher that is told the history continues as the old one did, however
// requests were put together.
func TestFunctionOfHistory(t *testing.T) {
	for name, s := range map[string]*space.Space{"finite": nested(), "infinite": reals()} {
		t.Run(name, rapid.MakeCheck(func(t *rapid.T) {
			whole := mustOpen2(t, s)
			all, _ := whole.Suggest(context.Background(), requests(0, 8))
			cut := rapid.IntRange(0, len(all.Points)).Draw(t, "cut")
			fresh := mustOpen2(t, s)
			for i, p := range all.Points[:cut] {
				_ = fresh.Observe(context.Background(),
					[]sdk.Event{{Number: uint64(i + 1), Kind: sdk.TrialAdded, Trial: uint32(i), Point: p}})
			}
			rest, _ := fresh.Suggest(context.Background(), requests(cut, 8))
			if fmt.Sprint(all.Points[cut:]) != fmt.Sprint(rest.Points) {
				t.Fatalf("%v, but restarted %v", all.Points[cut:], rest.Points)
			}
		}))
	}
}

func mustOpen2(t *rapid.T, s *space.Space) sdk.Searcher {
	searcher, _, err := Plugin.Open(sdk.Problem{Space: s}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return searcher
}

func requests(first, end int) (list []sdk.Request) {
	for i := first; i < end; i++ {
		list = append(list, sdk.Request{Trial: uint32(i), Seed: uint64(i) + 5})
	}
	return list
}

func TestOpenMessages(t *testing.T) {
	never := &space.Space{Params: nested().Params, Constraints: []*space.Expr{{Op: space.Const}}}
	for _, c := range []struct {
		space   *space.Space
		options string
		want    string
	}{
		{nested(), `{"repeat": true}`, `unknown option "repeat"; known: repeats`},
		{nested(), `{"repeats": 3}`, `option "repeats" is 3; allowed: true or false`},
		{never, ``, `no point of the space satisfies the constraints: loosen them`},
		{&space.Space{Params: []space.Param{{Name: "x", Kind: space.Choice}}}, ``,
			`parameter "x": there are no choices`},
	} {
		if _, _, err := Plugin.Open(sdk.Problem{Space: c.space}, []byte(c.options)); err == nil ||
			err.Error() != c.want {
			t.Errorf("got  %v\nwant %s", err, c.want)
		}
	}
}

func TestSuggestMessages(t *testing.T) {
	tight := reals()
	tight.Constraints = []*space.Expr{{Op: space.Const}}
	for _, c := range []struct {
		space *space.Space
		given space.Point
		want  string
	}{
		{reals(), space.Point{2, nan}, `trial 9: parameter "a" is 2; allowed: numbers from 0 to 1`},
		{reals(), space.Point{2}, `trial 9: the given point has length 1; allowed: 2, one for each ` +
			`parameter of the space`},
		{tight, nil, "trial 9: " + space.ErrTight.Error()},
	} {
		_, err := mustOpen(t, c.space, "").Suggest(context.Background(), []sdk.Request{{Trial: 9, Given: c.given}})
		if err == nil || err.Error() != c.want {
			t.Errorf("got  %v\nwant %s", err, c.want)
		}
	}
}

// The tail of a large finite space is found too.
func TestLastPoints(t *testing.T) {
	s := &space.Space{Params: []space.Param{{Name: "a", Kind: space.Int, High: 2999}}}
	answer := ask(t, mustOpen(t, s, ""), 0, 3001, nil)
	if len(answer.Points) != 3000 || answer.Status != sdk.Exhausted {
		t.Errorf("%d points, status %v", len(answer.Points), answer.Status)
	}
}

func BenchmarkSuggest(b *testing.B) {
	s := &space.Space{}
	for i := range 5 {
		s.Params = append(s.Params, space.Param{Name: fmt.Sprint("r", i), Kind: space.Real, Low: 1e-5, High: 1,
			Log: i%2 == 0},
			space.Param{Name: fmt.Sprint("c", i), Kind: space.Choice, Choices: raws("1", "2", "3")})
	}
	benchmark(b, s)
}

// The finite space is far from exhausted.
func BenchmarkSuggestFinite(b *testing.B) {
	benchmark(b, &space.Space{Params: []space.Param{{Name: "x", Kind: space.Int, High: 255},
		{Name: "y", Kind: space.Int, High: 255}}})
}

func benchmark(b *testing.B, s *space.Space) {
	searcher := mustOpen(b, s, "")
	for i := 0; b.Loop(); i++ {
		if i%10_000 == 9_999 {
			b.StopTimer()
			searcher = mustOpen(b, s, "")
			b.StartTimer()
		}
		ask(b, searcher, i, 1, nil)
	}
}
