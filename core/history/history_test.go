package history_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/history"
	"github.com/tunehost/tunehost/core/journal"
	"github.com/tunehost/tunehost/core/record"
)

// A writing is a hand-written record. Its first event, at time 1, begins an experiment.
type writing struct {
	t    *testing.T
	dir  string
	fs   *journal.Dir
	file *journal.Journal
}

func write(t *testing.T) *writing {
	t.Helper()
	w := &writing{t: t, dir: filepath.Join(t.TempDir(), "journal")}
	var err error
	if w.fs, err = journal.MakeDir(w.dir); err != nil {
		t.Fatal(err)
	}
	if w.file, err = journal.Create(w.fs, journal.Options{RunID: journal.RunID{7}}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = w.file.Close(), w.fs.Close() })
	w.append(encode(t, 1, &core.ExperimentStarted{Spec: core.Spec{Trials: 1}}))
	return w
}

func encode(t *testing.T, at int64, e core.Event) []byte {
	t.Helper()
	b, err := record.Append(nil, at, e)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// ticks appends ticks at these times, and then raw records, as one batch.
func (w *writing) ticks(times []int64, more ...[]byte) {
	w.t.Helper()
	var records [][]byte
	for _, at := range times {
		records = append(records, encode(w.t, at, &core.Ticked{}))
	}
	w.append(append(records, more...)...)
}

func (w *writing) append(records ...[]byte) {
	w.t.Helper()
	if _, err := w.file.Append(records); err != nil {
		w.t.Fatal(err)
	}
}

func (w *writing) open() *history.History {
	w.t.Helper()
	h, err := history.Open(w.dir)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = h.Close() })
	return h
}

// read returns the times of the entries, which equal their numbers here. It stops after the entry
// with the number until.
func read(t *testing.T, h *history.History, until uint64) (times []int64, err error) {
	t.Helper()
	err = h.Each(func(s *history.Step) error {
		at, e, err := record.Parse(s.Bytes)
		if err != nil || at != s.At || s.Number != uint64(s.At) || !reflect.DeepEqual(e, s.Event) {
			t.Errorf("%+v: %d, %v", s.Entry, at, err)
		}
		if s.Machine != h.Machine() || s.Machine.Now() != s.At {
			t.Errorf("entry %d: the machine is at %d", s.Number, s.Machine.Now())
		}
		if times = append(times, s.At); s.Number == until {
			return history.ErrStop
		}
		return nil
	})
	return times, err
}

// Each entry is read once, in order, including later ones. After a stop or an error, reading
// continues with the next entry.
func TestEach(t *testing.T) {
	w := write(t)
	h := w.open()
	step := func(until uint64, want ...int64) {
		t.Helper()
		if got, err := read(t, h, until); err != nil || !slices.Equal(got, want) {
			t.Errorf("read %v, %v; want %v", got, err, want)
		}
	}
	step(0, 1)
	step(0)
	w.ticks([]int64{2, 3, 4})
	w.ticks([]int64{5})
	step(3, 2, 3)
	step(4, 4)
	no := errors.New("no")
	if err := h.Each(func(*history.Step) error { return no }); err != no {
		t.Errorf("the caller's own error became %v", err)
	}
	w.ticks([]int64{6})
	step(0, 6)
	step(0)
}

// Before sees the state before the event. A refused entry is not applied and is passed again.
func TestBefore(t *testing.T) {
	w := write(t)
	w.ticks([]int64{2, 3})
	h, said := w.open(), ""
	v := history.Visitor{
		Before: func(x history.Entry) error {
			said += fmt.Sprintf(" %d at %d,", x.Number, h.Machine().Now())
			if x.Number == 3 && !strings.Contains(said, "again") {
				said += " again"
				return history.ErrStop
			}
			return nil
		},
		After: func(s *history.Step) error { said += fmt.Sprintf(" then %d;", s.Machine.Now()); return nil },
	}
	for range 2 {
		if err := h.Visit(v); err != nil {
			t.Fatal(err)
		}
	}
	if want := " 1 at 0, then 1; 2 at 1, then 2; 3 at 2, again 3 at 2, then 3;"; said != want {
		t.Errorf("\n got %s\nwant %s", said, want)
	}
}

// A Step has the results of its event, and who receives what.
func TestStep(t *testing.T) {
	h := history.From(history.Records(1, [][]byte{
		encode(t, 1, &core.ExperimentStarted{Spec: core.Spec{Rules: core.NewestRules, Trials: 5}}),
		encode(t, 2, &core.HostStarted{Wall: 1000, Host: "a"}),
		encode(t, 3, &core.TrialGiven{Suggestion: core.Suggestion{Params: []byte(`{}`)}}),
		encode(t, 9, &core.HostStarted{Wall: 5000, Host: "b"}),
	}))
	heard := map[core.Audience]int{}
	err := h.Each(func(s *history.Step) error {
		for _, to := range []core.Audience{core.ToSearcher, core.ToScheduler, core.ToReporters} {
			for o := range s.Observations(to) {
				if o.Kind != core.SawAdded || s.Number != 3 {
					t.Errorf("record %d: %+v", s.Number, o)
				}
				heard[to]++
			}
		}
		return nil
	})
	if err != nil || heard[core.ToSearcher] != 1 || heard[core.ToScheduler] != 1 || heard[core.ToReporters] != 1 {
		t.Errorf("%v, heard %v", err, heard)
	}
	if h.Machine().Trials() != 1 || h.Hosts() != 2 {
		t.Errorf("%d trials, %d hosts", h.Machine().Trials(), h.Hosts())
	}
	for at, want := range map[int64]int64{1: 0, 2: 1000, 8: 1006, 9: 5000, 12: 5003} {
		if wall, ok := h.Wall(at); wall != want || ok != (want > 0) {
			t.Errorf("at %d it was %d, %t; want %d", at, wall, ok, want)
		}
	}
}

// A host that resumes a record and continues it has the same state as a reader of the whole record.
func TestReplayAndApply(t *testing.T) {
	w := write(t)
	w.ticks([]int64{2, 3})
	if err := w.file.Close(); err != nil {
		t.Fatal(err)
	}
	h := history.New()
	var numbers []uint64
	see := history.Visitor{After: func(s *history.Step) error { numbers = append(numbers, s.Number); return nil }}
	file, _, err := journal.Open(w.fs, journal.Options{RunID: journal.RunID{7}}, h.Replay(see))
	if err != nil {
		t.Fatal(err)
	}
	w.file = file
	b := encode(t, 4, &core.Ticked{})
	w.append(b)
	s, err := h.Apply(b)
	if err != nil || s.Number != 4 || s.Machine.Now() != 4 || !slices.Equal(numbers, []uint64{1, 2, 3}) {
		t.Errorf("%+v, %v after %v", s, err, numbers)
	}
	if times, err := read(t, w.open(), 0); err != nil || !slices.Equal(times, []int64{1, 2, 3, 4}) {
		t.Errorf("%v, %v", times, err)
	}
	_, err = h.Apply([]byte{0, 99})
	if !errors.Is(err, record.ErrNewer) || !strings.HasPrefix(err.Error(), "record 5: ") {
		t.Error(err)
	}
	no := errors.New("no")
	err = h.Replay(history.Visitor{Before: func(history.Entry) error { return no }})(5, [][]byte{b})
	if err != no {
		t.Errorf("the caller's own error became %v", err)
	}
}

// B-086: an error of a record is one line with its position; everything before it is read.
func TestDamage(t *testing.T) {
	senseless := func(s *history.Step) error {
		if s.Number == 4 {
			panic("core: twice\nand more")
		}
		return nil
	}
	second := encode(t, 5, &core.ExperimentStarted{})
	const refused = "the record describes no experiment, though its checksums are valid: "
	for name, c := range map[string]struct {
		last  []byte
		f     func(*history.Step) error
		want  string
		wraps error
	}{
		"no event":    {[]byte{0}, nil, "record 5: ", nil},
		"newer":       {[]byte{0, 99}, nil, "record 5: the record was written by a newer version", record.ErrNewer},
		"by caller":   {nil, senseless, "record 4: " + refused + "core: twice; restore it", journal.ErrCorrupt},
		"by the core": {second, nil, "record 5: " + refused + "core: a record begins", journal.ErrCorrupt},
	} {
		t.Run(name, func(t *testing.T) {
			w := write(t)
			w.ticks([]int64{2, 3})
			w.ticks([]int64{4}, slices.DeleteFunc([][]byte{c.last}, func(b []byte) bool { return b == nil })...)
			var last uint64
			err := history.Walk(w.dir, func(s *history.Step) error {
				last = s.Number
				if c.f != nil {
					return c.f(s)
				}
				return nil
			})
			if err == nil || !strings.HasPrefix(err.Error(), w.dir+": "+c.want) || strings.Contains(err.Error(), "\n") {
				t.Fatalf("%v, want %s", err, c.want)
			}
			if c.wraps != nil && !errors.Is(err, c.wraps) {
				t.Errorf("%v is not %v", err, c.wraps)
			}
			if last != 4 {
				t.Errorf("read up to %d", last)
			}
		})
	}
}

// Errors of the journal name the file and the directory. A reader takes damage for the end of the
// record; Verify does not.
func TestDamagedFile(t *testing.T) {
	w := write(t)
	w.ticks([]int64{2})
	if err := w.file.Sync(); err != nil {
		t.Fatal(err)
	}
	w.ticks([]int64{3})
	if err := w.file.Close(); err != nil {
		t.Fatal(err)
	}
	if found, err := history.Verify(w.dir, journal.RunID{7}); err != nil || found.Next != 4 || found.Cut != nil {
		t.Fatalf("%+v, %v", found, err)
	}
	file := filepath.Join(w.dir, "00000000000000000001.tj")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text[64+40] ^= 1 // the first event
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := read(t, w.open(), 0); err != nil || len(got) > 0 {
		t.Errorf("read %v, %v", got, err)
	}
	for run, want := range map[journal.RunID]error{{}: journal.ErrCorrupt, {8}: journal.ErrWrongRun} {
		if _, err := history.Verify(w.dir, run); !errors.Is(err, want) || !strings.HasPrefix(err.Error(), w.dir+": ") {
			t.Error(err)
		}
	}
}

// A missing record is an error; an empty record has nothing to read.
func TestNoRecord(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "nowhere")
	_, verify := history.Verify(dir, journal.RunID{})
	for _, err := range []error{history.Walk(dir, nil), verify} {
		if !errors.Is(err, journal.ErrNoJournal) || !strings.Contains(err.Error(), dir) {
			t.Error(err)
		}
	}
	for _, h := range []*history.History{history.New(), history.From(journal.NewReader(&empty{}))} {
		if err := errors.Join(h.Each(nil), h.Close()); err != nil {
			t.Errorf("nothing yet is an error: %v", err)
		}
	}
}

type empty struct{ journal.ReadFS }

func (*empty) List() ([]string, error) { return nil, nil }
