package host

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/journal"
	"github.com/tunehost/tunehost/host/runfile"
	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// B-086: an event that no host records is an error for those who read the record beside
// the host, too: for a reporter that is behind, and for a plugin that is told again.
func TestSenselessEvent(t *testing.T) {
	whole, _, events := recordOf(t)
	d, err := storage.At(filepath.Join(t.TempDir(), "copy"))
	if err == nil {
		err = os.CopyFS(d.Path(), os.DirFS(whole.Path()))
	}
	if err != nil {
		t.Fatal(err)
	}
	fs, err := journal.OpenDir(d.Journal())
	if err != nil {
		t.Fatal(err)
	}
	defer fs.Close()
	j, _, err := journal.Open(fs, journal.Options{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := j.Append([][]byte{{0, 1}}); err != nil || j.Close() != nil { // it begins once more
		t.Fatal(err)
	}
	const said = "the record is of no experiment, though its checksums are right: core: a record begins with ExperimentStarted, once"

	file, e, err := runfile.Read(d)
	if err != nil {
		t.Fatal(err)
	}
	f, err := follow(e, d, file.Seed)
	if err != nil {
		t.Fatal(err)
	}
	defer f.close()
	last := events[len(events)-1].Number
	for err == nil {
		_, err = f.next(t.Context(), last, last+1)
	}
	contains(t, err.Error(), d.Journal()+": record ", said)

	h := &history{read: walkIn(d.Journal()), encode: func([]byte) (space.Point, error) { return nil, nil }}
	err = h.tell(core.ToSearcher, func() sdk.Traits { return sdk.Traits{} })(0, 1<<40, func([]sdk.Event) error { return nil })
	if !errors.Is(err, journal.ErrCorrupt) {
		t.Fatal(err)
	}
	contains(t, err.Error(), d.Journal()+": record ", said)
}
