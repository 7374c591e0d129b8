package record_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/record"
	"github.com/tunehost/tunehost/core/resource"
)

// same compares events: numbers by their bits, requests by their contents, and empty values as nil.
var same = cmp.Options{
	cmp.Comparer(func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) }),
	cmp.Comparer(func(a, b resource.Request) bool { return a.Equal(b) }),
	cmp.Comparer(func(a, b resource.Bundle) bool { return a.Equal(b) }),
	cmpopts.EquateEmpty(),
}

// TestRoundTrip checks that events of every kind with any contents are read as they were recorded
// (B-080), and that their encoding is unique.
func TestRoundTrip(t *testing.T) {
	for i, kind := range kinds {
		t.Run(fmt.Sprintf("%T", example(i)), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				at, e := rapid.Int64Min(0).Draw(t, "at"), kind.Draw(t, "event")
				b, err := record.Append([]byte("before"), at, e)
				if err != nil {
					t.Fatal(err)
				}
				again, back, err := record.Parse(b[6:])
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(e, back, same); diff != "" || again != at {
					t.Fatalf("at %d became %d; %s", at, again, diff)
				}
				c, err := record.Append(nil, again, back)
				if err != nil || !bytes.Equal(b[6:], c) {
					t.Fatalf("%x is written again as %x, %v", b[6:], c, err)
				}
			})
		})
	}
}

// TestPool checks that events whose memory is used again have nothing of earlier ones.
func TestPool(t *testing.T) {
	var p record.Pool
	rapid.Check(t, func(t *rapid.T) {
		p.Free()
		var list, want []core.Event
		for range 4 {
			e := kinds[rapid.IntRange(0, len(kinds)-1).Draw(t, "kind")].Draw(t, "event")
			b, err := record.Append(nil, 7, e)
			if err != nil {
				t.Fatal(err)
			}
			_, back, err := p.Parse(b)
			if err != nil {
				t.Fatal(err)
			}
			list, want = append(list, back), append(want, e)
		}
		if diff := cmp.Diff(want, list, same); diff != "" {
			t.Fatal(diff)
		}
	})
}

// TestTruncated checks that a record cut within a field is malformed; a record cut between fields
// is another record.
func TestTruncated(t *testing.T) {
	for i := range kinds {
		b := bytesOf(t, i)
		for n := range b {
			_, e, err := record.Parse(b[:n])
			if err != nil && !errors.Is(err, record.ErrMalformed) {
				t.Errorf("%T cut to %d of %d bytes: %v", example(i), n, len(b), err)
			}
			if err == nil && n > 2 { // omitted settings are written
				if c, _ := record.Append(nil, 7, e); !bytes.Equal(c, b[:n]) {
					t.Errorf("%T cut to %d of %d bytes is read as something else: %x", example(i), n, len(b), c)
				}
			}
		}
	}
}

func TestRefused(t *testing.T) {
	for name, c := range map[string]struct {
		hex  string
		want error
	}{
		"nothing":             {"", record.ErrMalformed},
		"no kind":             {"07", record.ErrMalformed},
		"time beyond int64":   {"ffffffffffffffffff0115", record.ErrMalformed},
		"time beyond 64 bits": {"ffffffffffffffffffff0115", record.ErrMalformed},
		"kind 0":              {"0700", record.ErrNewer},
		"unknown kind":        {"077f", record.ErrNewer},
		"huge kind":           {"07ffffffffffffffffff01", record.ErrNewer},
		"unknown field":       {"0705" + "7801", record.ErrNewer},
		"field of its own":    {"0715" + "0801", record.ErrNewer},
		"other wire type":     {"0705" + "0a0101", record.ErrNewer},
		"wire type 3":         {"0705" + "0b", record.ErrMalformed},
		"field number 2^29":   {"0705" + "8080808080808001", record.ErrMalformed},
		"beyond 32 bits":      {"0705" + "088080808010", record.ErrMalformed},
		"beyond 8 bits":       {"0706" + "188002", record.ErrMalformed},
		"length beyond":       {"070a" + "2a05" + "61", record.ErrMalformed},
		"length 2^63":         {"070a" + "2affffffffffffffff7f", record.ErrMalformed},
		"half a metric":       {"070a" + "220401000000", record.ErrMalformed},
		"metric ID 2^32":      {"070a" + "220d" + "8080808010" + "0000000000000000", record.ErrMalformed},
		"decision inside":     {"070e" + "0a01" + "ff", record.ErrMalformed},
		"newer decision":      {"070e" + "0a02" + "7801", record.ErrNewer},
		"request":             {"0706" + "1206" + "1204" + hex.EncodeToString([]byte("cpu=")), record.ErrMalformed},
		"settings":            {"0701" + "0a01" + hex.EncodeToString([]byte("{")), record.ErrMalformed},
		"newer settings":      {"0701" + "0a07" + hex.EncodeToString([]byte(`{"u":1}`)), record.ErrNewer},
	} {
		b, err := hex.DecodeString(c.hex)
		if err != nil {
			t.Fatal(name, err)
		}
		if _, e, err := record.Parse(b); !errors.Is(err, c.want) || e != nil {
			t.Errorf("%s: %v and %v, want %v", name, e, err, c.want)
		}
	}
}

// TestFormat compares the bytes of one record of each kind. Existing journals contain them: a
// change would make those unreadable.
func TestFormat(t *testing.T) {
	const file = "testdata/format.txt"
	var now strings.Builder
	for i := range kinds {
		fmt.Fprintf(&now, "%T %x\n", example(i), bytesOf(t, i))
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(string(want), "\n\n")
	if diff := cmp.Diff(list, now.String()); diff != "" {
		t.Fatalf("%s has other bytes; only new kinds may be added:\n%s", file, diff)
	}
	for i, line := range strings.Split(strings.TrimSpace(list), "\n") {
		_, digits, _ := strings.Cut(line, " ")
		b, err := hex.DecodeString(digits)
		if err != nil {
			t.Fatal(err)
		}
		at, e, err := record.Parse(b)
		if diff := cmp.Diff(example(i), e, same); at != 7 || err != nil || diff != "" {
			t.Errorf("%s is read as at %d, %v: %s", line, at, err, diff)
		}
	}
}

func bytesOf(t testing.TB, i int) []byte {
	b, err := record.Append(nil, 7, example(i))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestUnwritable checks that values that JSON cannot hold are refused.
func TestUnwritable(t *testing.T) {
	e := &core.ExperimentStarted{Spec: core.Spec{Stop: core.StopRules{Metrics: []core.MetricRule{{Metric: "acc",
		Value: math.NaN()}}}}}
	if b, err := record.Append(nil, 0, e); err == nil {
		t.Fatalf("recorded as %q", b)
	}
}

// FuzzParse checks that Parse never panics, and that accepted bytes are written and read again as
// the same event.
func FuzzParse(f *testing.F) {
	for i := range kinds {
		f.Add(bytesOf(f, i))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		at, e, err := record.Parse(b)
		if err != nil {
			if !errors.Is(err, record.ErrMalformed) && !errors.Is(err, record.ErrNewer) {
				t.Fatalf("the error is neither: %v", err)
			}
			return
		}
		c, err := record.Append(nil, at, e)
		if err != nil {
			t.Fatal(err)
		}
		if _, back, err := record.Parse(c); err != nil || !cmp.Equal(e, back, same) {
			t.Fatalf("%v; %s", err, cmp.Diff(e, back, same))
		}
	})
}

// TestBounded checks that a record of one megabyte of empty items uses at most a few hundred
// megabytes.
func TestBounded(t *testing.T) {
	b := append([]byte{7, 14}, bytes.Repeat([]byte{0x12, 0}, 1<<19)...)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, _, err := record.Parse(b); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > 512<<20 {
		t.Errorf("%d bytes for %d", used, len(b))
	}
}

func BenchmarkAppendResult(b *testing.B)  { benchmarkAppend(b, result()) }
func BenchmarkParseResult(b *testing.B)   { benchmarkParse(b, result()) }
func BenchmarkAppendDecided(b *testing.B) { benchmarkAppend(b, decided()) }
func BenchmarkParseDecided(b *testing.B)  { benchmarkParse(b, decided()) }

func result() core.Event {
	return &core.ResultReported{Trial: 1000, Attempt: 1, Iteration: 27,
		Metrics: []core.Metric{{ID: 1, Value: 0.5}, {ID: 2, Value: 0.1}, {ID: 3, Value: 1e-3}}}
}

func decided() core.Event {
	return &core.SchedulerDecided{Decisions: []core.Decision{{Number: 1 << 30, Verdict: core.Stop,
		Reason: "worse than the others"}}}
}

func benchmarkAppend(b *testing.B, e core.Event) {
	b.ReportAllocs()
	var out []byte
	for b.Loop() {
		out, _ = record.Append(out[:0], 1<<40, e)
	}
	b.ReportMetric(float64(len(out)), "bytes")
}

func benchmarkParse(b *testing.B, e core.Event) {
	b.ReportAllocs()
	data, _ := record.Append(nil, 1<<40, e)
	for b.Loop() {
		if _, _, err := record.Parse(data); err != nil {
			b.Fatal(err)
		}
	}
}

// TestMemory: most records are results and decisions, for which a pool needs no new memory, and the fields of a record
// are never on the heap.
func TestMemory(t *testing.T) {
	var p record.Pool
	for _, e := range []core.Event{
		&core.ResultReported{Trial: 1, Attempt: 1, Metrics: []core.Metric{{ID: 1, Value: 0.5}}},
		&core.SchedulerDecided{Decisions: []core.Decision{{Number: 7}, {Number: 8, Until: 9}}, Through: 8},
	} {
		b, err := record.Append(nil, 7, e)
		if err != nil {
			t.Fatal(err)
		}
		if n := testing.AllocsPerRun(100, func() { p.Free(); _, _, err = p.Parse(b) }); n > 0 || err != nil {
			t.Errorf("%T: %v allocations, %v", e, n, err)
		}
		if n := testing.AllocsPerRun(100, func() { b, err = record.Append(b[:0], 7, e) }); n > 0 || err != nil {
			t.Errorf("%T: %v allocations to write it, %v", e, n, err)
		}
	}
}
