package space

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

// Each point of a finite space once, then nil; given coordinates always get an answer (B-100).
func TestSeenPicksEachPointOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSpace(t, "smallint", "choice", "one real")
		s.Params = s.Params[:min(len(s.Params), 3)]
		seen, err := NewSeen(s, 1000)
		if err != nil {
			t.Fatal(err)
		}
		rng := NewRand(rapid.Uint64().Draw(t, "seed"))
		draw := func(int) Point { return s.Draw(rng) }
		points := map[string]bool{}
		for {
			p, err := seen.Pick(nil, rng, draw)
			if err != nil || points[fmt.Sprint(p)] {
				t.Fatalf("%v after %v: %v", p, points, err)
			}
			if p == nil {
				break
			}
			points[fmt.Sprint(p)] = true
		}
		if size, _ := s.Size(1000); len(points) != size || !seen.Full() || seen.Left(nil) != nil {
			t.Fatalf("%d of %d points", len(points), size)
		}
		given := s.Draw(rng)
		if p, err := seen.Pick(given, rng, draw); err != nil || !same(p, s.Complete(given)) {
			t.Fatalf("given %v: %v, %v", given, p, err)
		}
	})
}

// In spaces not known to be small, nothing is remembered.
func TestSeenOfLargeSpaces(t *testing.T) {
	for name, s := range map[string]*Space{
		"opaque":   {Params: nested().Params, Opaque: true},
		"empty":    {},
		"infinite": {Params: []Param{{Kind: Real, High: 1}}},
		"large":    {Params: []Param{{Kind: Int, High: 10}}},
	} {
		seen, err := NewSeen(s, 10)
		if err != nil {
			t.Fatal(err)
		}
		p := mustSample(t, s, 1)
		if seen.Add(p); seen.Has(p) || seen.Full() || seen.Left(nil) != nil {
			t.Errorf("%s: %v is remembered", name, p)
		}
		if again, err := seen.Pick(p, NewRand(1), func(int) Point { return p }); err != nil || !same(again, p) {
			t.Errorf("%s: %v, %v", name, again, err)
		}
	}
}

// A searcher that draws the same few points gets others, whatever the space is; where it has no other, it gets one
// again.
func TestSeenAllOfAnySpace(t *testing.T) {
	for name, s := range map[string]*Space{
		"opaque":   {Params: nested().Params, Opaque: true},
		"infinite": {Params: []Param{{Kind: Real, High: 1}}},
		"large":    {Params: []Param{{Kind: Int, High: 100}}},
	} {
		seen, err := NewSeenAll(s, 10)
		if err != nil {
			t.Fatal(err)
		}
		p := mustSample(t, s, 1)
		if seen.Add(p); !seen.Has(p) || seen.Full() || seen.Left(nil) != nil {
			t.Errorf("%s: %v is not remembered, or is the last one", name, p)
		}
		rng := NewRand(2)
		draw := func(try int) Point {
			if try < 3 {
				return p
			}
			return s.Draw(rng)
		}
		if another, err := seen.Pick(nil, NewRand(1), draw); err != nil || same(another, p) {
			t.Errorf("%s: %v again, %v", name, another, err)
		}
		if again, err := seen.Pick(p, NewRand(1), draw); err != nil || !same(again, p) {
			t.Errorf("%s: %v for %v, %v", name, again, p, err)
		}
	}
}
