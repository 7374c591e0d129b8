package config

import (
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// FuzzParse checks that no input panics: each gives an experiment that can be written, compared and
// resolved, or mistakes of one line each.
func FuzzParse(f *testing.F) {
	good, _ := filepath.Glob("testdata/good/*")
	mistakes, _ := filepath.Glob("testdata/mistakes/*")
	files := append(good, mistakes...)
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		for part := range strings.SplitSeq(string(data), "----") {
			if _, text, ok := strings.Cut(part, "\nwith\n"); ok {
				part = text + base
			}
			f.Add([]byte(part))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		hang := time.AfterFunc(20*time.Second, func() { panic("Parse hangs on " + strconv.Quote(string(data))) })
		defer hang.Stop()
		e, err := Parse("x.yaml", data)
		if err != nil {
			list, ok := err.(Errors)
			if !ok || len(list) == 0 {
				t.Fatalf("%T: %v", err, err)
			}
			for _, one := range list {
				if strings.ContainsAny(one.Error(), "\n") {
					t.Fatalf("several lines: %q", one.Error())
				}
			}
			return
		}
		if len(Diff(e, e)) != 0 {
			t.Fatal("differs from itself")
		}
		point := make(space.Point, len(e.Space.Params))
		for i := range point {
			point[i] = e.Space.Params[i].Low
		}
		_, _ = e.Resolve(point, 1)
		for i := range point {
			point[i] = math.NaN()
		}
		e.Prune(point)
	})
}

// FuzzSet checks that each setting given beside the file either takes effect or is refused with its
// place.
func FuzzSet(f *testing.F) {
	for _, set := range []string{"trials=3", "space.x={uniform: [0, 1e999]}", "searcher.options.startup=3", "=",
		"a.b.c=", "trials=&a [*a]", "..=1", "trials=99999999999999999999", "name=\x00"} {
		f.Add(set)
	}
	f.Fuzz(func(t *testing.T, set string) {
		e, err := Parse("x.yaml", []byte(base+"space: {x: {uniform: [0, 1]}}\n"), WithSet(set))
		if err == nil && (e == nil || len(e.Overrides) != 1) || err != nil && len(err.Error()) == 0 {
			t.Fatalf("%v, %v", e, err)
		}
		if list, ok := err.(Errors); ok {
			for _, one := range list {
				if strings.ContainsAny(one.Error(), "\n") {
					t.Fatalf("several lines: %q", one.Error())
				}
			}
		}
	})
}
