package unrecorded

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/host/report/files"
	"github.com/tunehost/tunehost/host/storage"
)

// A number in the file of the position that somebody has put there is not taken for a record that has lost its end, and
// what cannot be read is said.
func TestChangedPosition(t *testing.T) {
	for text, want := range map[string]struct{ event, doubt string }{
		"3\n":          {},
		"999\n":        {event: "none of them has one after event 5"},
		"999 123abc\n": {doubt: "its number does not fit its checksum"},
		"\x00\xff":     {doubt: "does not have the number of an event"},
	} {
		d, err := storage.At(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(files.Position(d.Path()), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		written := Written(d)
		err, doubt := Event(d, written, 5), Doubt(d, written)
		if (err != nil) != (want.event != "") || err != nil && !strings.Contains(err.Error(), want.event) {
			t.Errorf("%q: %v", text, err)
		}
		if (doubt != "") != (want.doubt != "") || !strings.Contains(doubt, want.doubt) ||
			strings.Contains(doubt, "\n") {
			t.Errorf("%q: %s", text, doubt)
		}
	}
}

// Where the results of a trial have a later event, the record has lost its end, also by a number without a checksum.
func TestLostEnd(t *testing.T) {
	d, err := storage.At(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir := d.Trial("00000_61xnvb1")
	const line = `{"iteration":1,"attempt":1,"event_number":5,"done":false,"loss":1,"trial_id":"61xnvb1",` +
		`"time_total_s":0.05,"pid":30077}` + "\n"
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, files.JSONL.File()), []byte(line), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Event(d, files.Noted{Event: 9}, 1); err == nil ||
		!strings.Contains(err.Error(), "its last entries are gone") {
		t.Error(err)
	}
}
