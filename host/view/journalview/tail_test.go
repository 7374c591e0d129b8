package journalview

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/history"
	"github.com/tunehost/tunehost/host/storage"
)

// The entry with which an extension begins says what it has changed, which the record has only in run.json.
func TestExplain(t *testing.T) {
	dir, err := storage.At("../../../cmd/tunehost/testdata/released/v1/extended")
	if err != nil {
		t.Fatal(err)
	}
	list, _, err := Page(dir, Wanted{Through: 1 << 40, Limit: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	Explain(dir, list...)
	var found []string
	for _, e := range list {
		if _, what, ok := strings.Cut(e.Text(), " extension="); ok {
			found = append(found, e.Event+" "+what)
		}
	}
	if want := `settings_changed ["searcher={\"plugin\":\"tpe\",\"startup\":3}"]`; strings.Join(found, "; ") != want {
		t.Errorf("%s, want %s", found, want)
	}
}

// The last entries that are kept are described as those that are read from the beginning; a page with earlier ones is
// refused. A record that is read again begins anew.
func TestTail(t *testing.T) {
	verdicts := 0
	for _, name := range []string{"asha", "extended", "failures", "hyperband", "pbt", "simple", "steered"} {
		dir, err := storage.At(filepath.Join("../../../cmd/tunehost/testdata/released/v1", name))
		if err != nil {
			t.Fatal(err)
		}
		tail := newTail(12)
		machine := follow(t, dir, tail)
		follow(t, dir, tail) // once more, as after a crash that has removed entries
		last := tail.last
		for _, w := range []Wanted{{After: last - 12, Through: last, Limit: 100}, {After: last - 7, Through: last - 2,
			Limit: 100}, {After: last - 10, Through: last, Limit: 4}, {After: last, Through: last, Limit: 9},
			{After: last - 12, Through: last, Limit: 3, Trial: new(core.TrialNo)}} {
			want, wantNext, err := Page(dir, w)
			if err != nil {
				t.Fatal(err)
			}
			got, next, ok := tail.Page(machine, w)
			if !ok || next != wantNext || texts(t, got) != texts(t, want) {
				t.Errorf("%s, %+v: %v %d\n%s\nwant %d\n%s", name, w, ok, next, texts(t, got), wantNext, texts(t, want))
			}
			verdicts += strings.Count(texts(t, got), `"verdict"`)
		}
		for _, w := range []Wanted{{After: last - 13, Through: last, Limit: 9}, {Through: 1, Limit: 9},
			{After: last, Through: last + 1, Limit: 9}} {
			if _, _, ok := tail.Page(machine, w); ok {
				t.Errorf("%s: a page of %+v, and entries from %d to %d are kept", name, w, last-11, last)
			}
		}
	}
	if verdicts == 0 {
		t.Error("none of the records ends with a decision about a result")
	}
}

func follow(t *testing.T, dir storage.Dir, tail *Tail) *core.Machine {
	t.Helper()
	h, err := history.Open(dir.Journal())
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	err = h.Each(func(s *history.Step) error {
		tail.After(s)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return h.Machine()
}

func texts(t *testing.T, list []*Entry) string {
	t.Helper()
	var b strings.Builder
	for _, e := range list {
		line, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		b.Write(append(line, '\n'))
	}
	return b.String()
}
