package recorded_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/journal"
	"github.com/tunehost/tunehost/core/record"
	"github.com/tunehost/tunehost/host/recorded"
)

// writing is a record that is written by hand.
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
	return w
}

// batch appends ticks at these times, and then records as they are.
func (w *writing) batch(ticks []int64, more ...[]byte) {
	w.t.Helper()
	var records [][]byte
	for _, at := range ticks {
		b, err := record.Append(nil, at, &core.Ticked{})
		if err != nil {
			w.t.Fatal(err)
		}
		records = append(records, b)
	}
	if _, err := w.file.Append(append(records, more...)); err != nil {
		w.t.Fatal(err)
	}
}

func (w *writing) read() *recorded.Reader {
	w.t.Helper()
	r, err := recorded.Open(w.dir)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = r.Close() })
	return r
}

// seen are the times that a reader tells, which are their entries' numbers here too.
func seen(t *testing.T, r *recorded.Reader, until uint64) (times []int64, err error) {
	t.Helper()
	err = r.Each(func(x recorded.Entry) error {
		if at, e, err := record.Parse(x.Bytes); err != nil || at != x.At || x.Number != uint64(x.At) || *e.(*core.Ticked) != *x.Event.(*core.Ticked) {
			t.Errorf("%+v: %d, %v", x, at, err)
		}
		times = append(times, x.At)
		if x.Number == until {
			return recorded.ErrStop
		}
		return nil
	})
	return times, err
}

// Each entry is told once, in order, also those that come later; who stops, or fails, is
// told the next one the next time.
func TestEach(t *testing.T) {
	w := write(t)
	r := w.read()
	step := func(until uint64, want ...int64) {
		t.Helper()
		if got, err := seen(t, r, until); err != nil || !slices.Equal(got, want) {
			t.Errorf("told %v, %v; want %v", got, err, want)
		}
	}
	step(0)
	w.batch([]int64{1, 2, 3})
	w.batch([]int64{4})
	step(2, 1, 2)
	step(3, 3)
	no := errors.New("no")
	if err := r.Each(func(recorded.Entry) error { return no }); err != no {
		t.Errorf("the caller's own error became %v", err)
	}
	w.batch([]int64{5})
	step(0, 5)
	step(0)
}

// B-086: what is wrong with a record is said in one line, with its place; what is before
// that is told.
func TestDamage(t *testing.T) {
	senseless := func(x recorded.Entry) error {
		if x.Number == 3 {
			panic("core: twice\nand more")
		}
		return nil
	}
	for name, c := range map[string]struct {
		last  []byte
		told  func(recorded.Entry) error
		want  string
		wraps error
	}{
		"no event":   {[]byte{0}, nil, "record 4: ", nil},
		"newer":      {[]byte{0, 99}, nil, "record 4: the record was written by a newer version", record.ErrNewer},
		"senseless":  {nil, senseless, "record 3: the record is of no experiment, though its checksums are right: core: twice; restore it", journal.ErrCorrupt},
		"by machine": {nil, func(x recorded.Entry) error { core.New().Apply(x.At, x.Event); return nil }, "record 1: the record is of no experiment", journal.ErrCorrupt},
	} {
		t.Run(name, func(t *testing.T) {
			w := write(t)
			w.batch([]int64{1, 2})
			more := [][]byte{c.last}
			if c.last == nil {
				more = nil
			}
			w.batch([]int64{3}, more...)
			var told uint64
			err := recorded.Walk(w.dir, func(x recorded.Entry) error {
				told = x.Number
				if c.told != nil {
					return c.told(x)
				}
				return nil
			})
			if err == nil || !strings.HasPrefix(err.Error(), w.dir+": "+c.want) || strings.Contains(err.Error(), "\n") {
				t.Fatalf("%v, want %s", err, c.want)
			}
			if c.wraps != nil && !errors.Is(err, c.wraps) {
				t.Errorf("%v is not %v", err, c.wraps)
			}
			if c.told == nil && told != 3 {
				t.Errorf("told up to %d", told)
			}
		})
	}
}

// Damage that the journal sees names the file, and the directory. A Reader takes it for
// the end of what is there; Verify knows better.
func TestDamagedFile(t *testing.T) {
	w := write(t)
	w.batch([]int64{1, 2})
	if err := w.file.Sync(); err != nil {
		t.Fatal(err)
	}
	w.batch([]int64{3})
	if err := w.file.Close(); err != nil {
		t.Fatal(err)
	}
	if found, err := recorded.Verify(w.dir, journal.RunID{7}); err != nil || found.Next != 4 || found.Cut != nil {
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
	if got, err := seen(t, w.read(), 0); err != nil || len(got) > 0 {
		t.Errorf("told %v, %v", got, err)
	}
	for run, want := range map[journal.RunID]error{{}: journal.ErrCorrupt, {8}: journal.ErrWrongRun} {
		if _, err := recorded.Verify(w.dir, run); !errors.Is(err, want) || !strings.HasPrefix(err.Error(), w.dir+": ") {
			t.Error(err)
		}
	}
}

// Where no record is, that is said.
func TestNoRecord(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "nowhere")
	_, verify := recorded.Verify(dir, journal.RunID{})
	for _, err := range []error{recorded.Walk(dir, nil), verify} {
		if !errors.Is(err, journal.ErrNoJournal) || !strings.Contains(err.Error(), dir) {
			t.Error(err)
		}
	}
	if err := recorded.NewReader(&empty{}).Each(nil); err != nil {
		t.Errorf("nothing yet is an error: %v", err)
	}
}

type empty struct{ journal.ReadFS }

func (*empty) List() ([]string, error) { return nil, nil }

// Batch numbers records that are at hand.
func TestBatch(t *testing.T) {
	b, err := record.Append(nil, 5, &core.Ticked{})
	if err != nil {
		t.Fatal(err)
	}
	var numbers []uint64
	f := func(x recorded.Entry) error {
		if numbers = append(numbers, x.Number); x.Number == 8 {
			return recorded.ErrStop
		}
		return nil
	}
	if err := recorded.Batch(7, [][]byte{b, b, b}, f); err != nil || !slices.Equal(numbers, []uint64{7, 8}) {
		t.Errorf("%v, %v", numbers, err)
	}
	err = recorded.Batch(7, [][]byte{b, {}}, f)
	if err == nil || !strings.HasPrefix(err.Error(), "record 8: ") {
		t.Error(err)
	}
}
