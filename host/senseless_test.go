package host

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/journal"
	"github.com/tunehost/tunehost/host/opening"
	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// B-086: an event that no host records is an error for a plugin that is told again, too.
func TestSenselessEvent(t *testing.T) {
	o, _ := quick(t, search("space: {x: {uniform: [0, 1]}}\ntrials: 3\n"))
	d, err := storage.At(filepath.Join(t.TempDir(), "copy"))
	if err == nil {
		err = os.CopyFS(d.Path(), os.DirFS(finish(t, o).Dir))
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
	h := &opening.Redelivery{Past: opening.PastIn(d.Journal()),
		Encode: func([]byte) (space.Point, error) { return nil, nil }}
	err = h.Tell(core.ToSearcher, func() sdk.Traits { return sdk.Traits{} })(0, 1<<40,
		func([]sdk.Event) error { return nil })
	if !errors.Is(err, journal.ErrCorrupt) {
		t.Fatal(err)
	}
	contains(t, err.Error(), d.Journal()+": record ", "the record describes no experiment, though its checksums are "+
		"valid: core: a record begins with ExperimentStarted, once")
}
