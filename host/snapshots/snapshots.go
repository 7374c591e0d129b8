// Package snapshots keeps states of searchers and schedulers: what a later host opens
// a plugin with instead of telling it the whole history. They are a help, never the
// truth: one that is damaged, of another plugin or too new is passed over.
package snapshots

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tunehost/tunehost/host/hostlog"
	"github.com/tunehost/tunehost/host/plugin"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// Every is how many events a plugin is told between two snapshots, at
// least; in a long history it is a tenth of it.
const Every = 2000

// kept is how many are kept of a plugin: the scheduler's newest may be
// of events that its recorded answers do not cover yet.
const kept = 2

// Snapshots are those of one plugin. Those without a shelf are none.
type Snapshots struct {
	shelf Shelf // nil: they are not kept for later hosts
	kind  sdk.Kind
	of    string // what they are of
	every uint64
	log   *hostlog.Log
	// Later does something when the record is safe.
	Later func(func())

	at  uint64 // of the last one
	off bool   // the plugin could not make one
}

// New are the snapshots of a plugin that are on the shelf. Those that count are of
// the same thing: of is a text that says all that a state depends on.
func New(shelf Shelf, kind sdk.Kind, of string, every uint64, log *hostlog.Log) *Snapshots {
	return &Snapshots{shelf: shelf, kind: kind, of: of, every: every, log: log}
}

// head is the first line of a snapshot's file; the state follows.
type head struct {
	Of     string `json:"of"`
	At     uint64 `json:"at"`
	Bytes  int    `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// Newest is the state after the last event up to one of which there is a whole
// snapshot; nil when there is none.
func (s *Snapshots) Newest(through uint64) (state []byte, at uint64) {
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
func (s *Snapshots) list() (list []uint64) {
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

func (s *Snapshots) name(at uint64) string { return fmt.Sprintf("%s-%d", s.kind, at) }

func (s *Snapshots) read(at uint64) ([]byte, error) {
	file := s.name(at)
	text, err := s.shelf.Read(file)
	if err != nil {
		return nil, err
	}
	line, state, _ := bytes.Cut(text, []byte{'\n'})
	var h head
	if err := json.Unmarshal(line, &h); err != nil {
		return nil, fmt.Errorf("%s is damaged: %w", file, err)
	}
	sum := sha256.Sum256(state)
	switch {
	case h.SHA256 != hex.EncodeToString(sum[:]) || h.Bytes != len(state) || h.At != at:
		return nil, fmt.Errorf("%s is damaged", file)
	case h.Of != s.of:
		return nil, fmt.Errorf("%s is of another plugin, or of other settings", file)
	}
	return state, nil
}

// Due says whether it is time for one, after an event.
func (s *Snapshots) Due(p plugin.Instance, told uint64) bool {
	return !s.off && told >= s.at+max(s.every, s.at/10) && p.Snapshots()
}

// Take asks the plugin, which has been told all up to an event, for its state,
// which is kept once that is safe.
func (s *Snapshots) Take(ctx context.Context, p plugin.Instance, told uint64) {
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
		s.Later(func() {
			if err := s.write(told, state); err != nil {
				s.log.Info("a snapshot cannot be kept: " + err.Error())
			}
		})
	}
}

func (s *Snapshots) write(at uint64, state []byte) error {
	sum := sha256.Sum256(state)
	first, err := json.Marshal(head{Of: s.of, At: at, Bytes: len(state), SHA256: hex.EncodeToString(sum[:])})
	if err != nil {
		return err
	}
	if err := s.shelf.Write(s.name(at), slices.Concat(first, []byte{'\n'}, state)); err != nil {
		return err
	}
	list := s.list()
	for _, old := range list[:max(len(list)-kept, 0)] {
		err = errors.Join(err, s.shelf.Remove(s.name(old)))
	}
	return err
}
