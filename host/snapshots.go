package host

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/hostlog"
	"github.com/tunehost/tunehost/host/plugin"
	"github.com/tunehost/tunehost/host/seeds"
	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/wire"
)

// snapshotEvery is how many events a plugin is told between two snapshots, at
// least; in a long history it is a tenth of it.
const snapshotEvery = 2000

// keptSnapshots is how many are kept of a plugin: the scheduler's newest may be
// of events that its recorded answers do not cover yet.
const keptSnapshots = 2

// snapshots are those of a searcher or scheduler: what a later host opens it with
// instead of telling it the whole history. They are a help, never the truth: one
// that is damaged, of another plugin or too new is passed over.
type snapshots struct {
	shelf Shelf // nil: they are not kept for later hosts
	kind  sdk.Kind
	of    string // what they are of; see snapshotsOf
	every uint64
	log   *hostlog.Log
	// later does something when the record is safe.
	later func(func())

	at  uint64 // of the last one
	off bool   // the plugin could not make one
}

// Shelf keeps snapshots by their names.
type Shelf interface {
	// List has the names, in any order.
	List() []string
	Read(name string) ([]byte, error)
	// Write keeps one: after a crash it is whole or not there.
	Write(name string, contents []byte) error
	Remove(name string) error
}

// snapshotHead is the first line of a snapshot's file; the state follows.
type snapshotHead struct {
	Of     string `json:"of"`
	At     uint64 `json:"at"`
	Bytes  int    `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// snapshots finds those of a plugin; what they are of is the run, the plugin, its
// program, its options and its problem.
func (o *opener) snapshots(kind sdk.Kind, ref config.PluginRef, use seeds.Purpose) *snapshots {
	problem, err := proto.MarshalOptions{Deterministic: true}.Marshal(wire.ProblemToProto(o.problem(use)))
	if err != nil {
		problem = []byte(err.Error()) // a name that is no text; it is the same the next time
	}
	h := sha256.New()
	for _, part := range [][]byte{[]byte(o.run), []byte(kind), []byte(ref.Name), []byte(o.program(kind, ref)), ref.Options, problem} {
		fmt.Fprintf(h, "%d %s ", len(part), part)
	}
	return &snapshots{shelf: o.shelf, kind: kind, of: hex.EncodeToString(h.Sum(nil)), every: o.snapshotEvery, log: o.log}
}

// program tells one release of a plugin from the next.
func (o *opener) program(kind sdk.Kind, ref config.PluginRef) string {
	p, err := o.loader.Load(kind, ref)
	if err != nil {
		return "" // it will not start, either
	}
	return p.Release()
}

// newest is the state after the last event up to one of which there is a whole
// snapshot; nil when there is none.
func (s *snapshots) newest(through uint64) (state []byte, at uint64) {
	for _, n := range slices.Backward(s.list()) {
		if n > through {
			continue
		}
		state, err := s.read(n)
		if err == nil {
			s.at = n
			return state, n
		}
		s.log.Info(fmt.Sprintf("a snapshot of the %s is not used: %v", s.kind, err))
	}
	return nil, 0
}

// list has the events of which there are files, in order.
func (s *snapshots) list() (list []uint64) {
	if s.shelf == nil {
		return nil
	}
	for _, name := range s.shelf.List() {
		if text, ok := strings.CutPrefix(name, string(s.kind)+"-"); ok {
			if n, err := strconv.ParseUint(text, 10, 64); err == nil {
				list = append(list, n)
			}
		}
	}
	slices.Sort(list)
	return list
}

func (s *snapshots) name(at uint64) string { return fmt.Sprintf("%s-%d", s.kind, at) }

func (s *snapshots) read(at uint64) ([]byte, error) {
	file := s.name(at)
	text, err := s.shelf.Read(file)
	if err != nil {
		return nil, err
	}
	line, state, _ := bytes.Cut(text, []byte{'\n'})
	var head snapshotHead
	if err := json.Unmarshal(line, &head); err != nil {
		return nil, fmt.Errorf("%s is damaged: %w", file, err)
	}
	sum := sha256.Sum256(state)
	switch {
	case head.SHA256 != hex.EncodeToString(sum[:]) || head.Bytes != len(state) || head.At != at:
		return nil, fmt.Errorf("%s is damaged", file)
	case head.Of != s.of:
		return nil, fmt.Errorf("%s is of another plugin, or of other settings", file)
	}
	return state, nil
}

// due says whether it is time for one, after an event.
func (s *snapshots) due(p plugin.Instance, told uint64) bool {
	return !s.off && told >= s.at+max(s.every, s.at/10) && p.Snapshots()
}

// take asks the plugin, which has been told all up to an event, for its state,
// which is kept once that is safe.
func (s *snapshots) take(ctx context.Context, p plugin.Instance, told uint64) {
	state, err := p.Snapshot(ctx)
	if err != nil {
		s.off = true
		if ctx.Err() == nil {
			s.log.Warn(fmt.Sprintf("the %s is asked for no more snapshots, so that taking up a long experiment takes longer: %v", s.kind, err))
		}
		return
	}
	s.at = told
	if s.shelf != nil && len(state) > 0 {
		s.later(func() {
			if err := s.write(told, state); err != nil {
				s.log.Info("a snapshot cannot be kept: " + err.Error())
			}
		})
	}
}

func (s *snapshots) write(at uint64, state []byte) error {
	sum := sha256.Sum256(state)
	head, err := json.Marshal(snapshotHead{Of: s.of, At: at, Bytes: len(state), SHA256: hex.EncodeToString(sum[:])})
	if err != nil {
		return err
	}
	if err := s.shelf.Write(s.name(at), slices.Concat(head, []byte{'\n'}, state)); err != nil {
		return err
	}
	list := s.list()
	for _, old := range list[:max(len(list)-keptSnapshots, 0)] {
		err = errors.Join(err, s.shelf.Remove(s.name(old)))
	}
	return err
}

// folderShelf keeps snapshots in a folder, which it makes when the first comes.
type folderShelf string

// maxSnapshotFile is larger than any that is written.
const maxSnapshotFile = 17 << 20

func (d folderShelf) file(name string) string { return filepath.Join(string(d), name) }

// List implements Shelf.
func (d folderShelf) List() (names []string) {
	entries, _ := os.ReadDir(string(d)) // no directory, no snapshots
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// Read implements Shelf.
func (d folderShelf) Read(name string) ([]byte, error) {
	file := d.file(name)
	info, err := os.Lstat(file)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxSnapshotFile {
		return nil, fmt.Errorf("%s is no snapshot", file)
	}
	return os.ReadFile(file)
}

// Write implements Shelf.
func (d folderShelf) Write(name string, contents []byte) error {
	if err := os.Mkdir(string(d), 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	return storage.WriteFile(d.file(name), contents)
}

// Remove implements Shelf.
func (d folderShelf) Remove(name string) error { return os.Remove(d.file(name)) }
