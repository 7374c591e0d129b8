package hosttest

import (
	"testing"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/history"
	"github.com/tunehost/tunehost/host/storage"
)

// CheckReported checks that a file of the sample reporter (package lines) has
// every event that the record has for reporters, once and in order.
func CheckReported(t testing.TB, dir, file string) {
	t.Helper()
	want := reportable(t, dir)
	got := Lines(t, file)
	for i := range min(len(want), len(got)) {
		if n := number(got[i]["number"]); n != float64(want[i]) {
			t.Errorf("line %d of %s is event %v, want %d", i+1, file, n, want[i])
			return
		}
	}
	if len(want) != len(got) {
		t.Errorf("%s has %d events, the record has %d", file, len(got), len(want))
	}
}

// reportable are the numbers of the events for reporters: of observations, and
// of hosts' starts before them, which count too.
func reportable(t testing.TB, dir string) (list []uint64) {
	t.Helper()
	d, err := storage.At(dir)
	if err != nil {
		t.Fatal(err)
	}
	seen, hosts := uint64(0), uint64(0)
	err = history.Walk(d.Journal(), func(s *history.Step) error {
		if _, ok := s.Event.(*core.HostStarted); ok {
			hosts++
			list = append(list, seen+hosts)
		}
		for o := range s.Observations(core.ToReporters) {
			seen = o.Number
			list = append(list, seen+hosts)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}
