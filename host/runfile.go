package host

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/tunehost/tunehost/core/journal"
	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/storage"
)

// RunFile is run.json: what an experiment is beside its file.
type RunFile struct {
	Version int    `json:"version"`
	RunID   string `json:"run_id"`
	Seed    uint64 `json:"seed"`
	Name    string `json:"name"`
	// Overrides are settings beside the file, as KEY=VALUE, in order.
	Overrides []string `json:"overrides"`
	// File is where the experiment file was; programs in it are relative to
	// its directory.
	File    string    `json:"file"`
	Created time.Time `json:"created"`
}

func newRunFile(e *config.Experiment, now time.Time) (RunFile, error) {
	var id journal.RunID
	if _, err := rand.Read(id[:]); err != nil {
		return RunFile{}, err
	}
	file, err := filepath.Abs(e.File)
	r := RunFile{Version: 1, RunID: hex.EncodeToString(id[:]), Name: e.Name, Overrides: e.Overrides, File: file, Created: now.UTC()}
	if e.Seed != nil {
		r.Seed = *e.Seed
	} else {
		r.Seed = drawSeed()
	}
	return r, err
}

// drawSeed draws a seed that people can type: 32 bits of randomness.
func drawSeed() uint64 {
	var b [4]byte
	if _, err := rand.Read(b[:]); err != nil {
		panic(err) // crypto/rand does not fail
	}
	return uint64(binary.LittleEndian.Uint32(b[:]))
}

func (r *RunFile) id() (id journal.RunID, err error) {
	b, err := hex.DecodeString(r.RunID)
	if err != nil || len(b) != len(id) {
		return id, fmt.Errorf("run.json: run_id %q is not %d bytes in hexadecimal", r.RunID, len(id))
	}
	return journal.RunID(b), nil
}

func runPath(d storage.Dir) string { return filepath.Join(d.Path(), "run.json") }

func (r *RunFile) write(d storage.Dir) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return storage.WriteFile(runPath(d), append(text, '\n'))
}

// ReadRun reads the experiment that a directory holds, as it was recorded.
func ReadRun(d storage.Dir) (*RunFile, *config.Experiment, error) {
	text, err := os.ReadFile(runPath(d))
	if err != nil {
		return nil, nil, fmt.Errorf("%s: there is no experiment here (%w)", d.Path(), err)
	}
	r := &RunFile{}
	decoder := json.NewDecoder(bytes.NewReader(text))
	if err := decoder.Decode(r); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", runPath(d), err)
	}
	if r.Version != 1 {
		return nil, nil, fmt.Errorf("%s: version %d was written by a newer tunehost; use that one", runPath(d), r.Version)
	}
	source, err := os.ReadFile(d.Experiment())
	if err != nil {
		return nil, nil, err
	}
	e, err := r.parse(source)
	return r, e, err
}

func (r *RunFile) parse(source []byte) (*config.Experiment, error) {
	e, err := config.Parse(r.File, source, config.WithSet(r.Overrides...), config.WithoutTrainable())
	if err != nil {
		return nil, fmt.Errorf("the recorded experiment cannot be read: %w", err)
	}
	e.Name = r.Name
	return e, nil
}
