package pluginset

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/host/agent/upload"
	"github.com/tunehost/tunehost/host/compose/setup"
	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/holding"
	"github.com/tunehost/tunehost/host/hostlog"
	"github.com/tunehost/tunehost/host/prepare"
	"github.com/tunehost/tunehost/host/storage"
)

// B-137: a file that is changed while the experiment runs, or between two hosts, is warned of once.
func TestChangedUploads(t *testing.T) {
	base := t.TempDir()
	dir, err := storage.At(filepath.Join(t.TempDir(), "results", "e"))
	if err != nil {
		t.Fatal(err)
	}
	if err := dir.Create(); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	host := func() func(...string) {
		e := &config.Experiment{Trainable: &config.Trainable{Command: []string{"sh", "train.sh"}}}
		e.Upload = []string{"data"}
		p := &Set{setup: &setup.Setup{Plan: &prepare.Plan{Experiment: e},
			Holding: &holding.Holding{Dir: dir, Log: hostlog.Open(&log, nil)}}}
		return func(want ...string) {
			t.Helper()
			log.Reset()
			c := p.uploads(base)
			tree, err := upload.Collect(base, c.Upload, c.Skip)
			if err != nil {
				t.Fatal(err)
			}
			c.Sent(c.Upload, &tree)
			got := log.String()
			if strings.Count(got, "\n") != len(want) || len(want) > 0 && !strings.Contains(got, want[0]) {
				t.Errorf("%q, want %q", got, want)
			}
		}
	}
	file := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(base, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(base, "data"), 0o700); err != nil {
		t.Fatal(err)
	}
	file("train.sh", "")
	file("data/x", "1")
	sent := host()
	sent()
	file("data/x", "7")
	sent("data/x has changed since the experiment began: trials that start on other nodes from now on get it as it " +
		"is now")
	sent()
	file("train.sh", "exit")
	file("data/y", "1")
	sent = host()
	sent("data/y and 1 more of the uploaded files have changed since the experiment began: trials that start on " +
		"other nodes from now on get them as they are now")
	sent()
}
