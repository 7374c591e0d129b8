// Package snapshots keeps states of searchers and schedulers: a later host opens a plugin with one
// instead of telling it the whole history. The record stays the truth: a snapshot that is damaged, of
// another plugin or too new is ignored.
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

// Every is the least number of events between two snapshots; in a long history it is a tenth of its
// length.
const Every = 2000

// kept is how many snapshots are kept of a plugin: the scheduler's newest may include events whose
// decisions are not recorded yet.
const kept = 2

// Snapshots are the snapshots of one plugin. Without a shelf there are none.
type Snapshots struct {
	shelf Shelf // nil: not kept for later hosts
	kind  sdk.Kind
	of    string // what the states depend on
	every uint64
	log   *hostlog.Log
	// Later calls a function when the record is safe.
	Later func(func())

	at  uint64 // the event of the last one
	off bool   // the plugin could not make one
}

// New opens the snapshots of a plugin on the shelf. Only those with the same text of count: it has
// everything that a state depends on.
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

// Newest returns the state after the last event up to through with a complete snapshot; nil if there
// is none.
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

// list returns the events with files, in order.
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

// Due reports whether it is time for a snapshot after an event.
func (s *Snapshots) Due(p plugin.Instance, told uint64) bool {
	return !s.off && told >= s.at+max(s.every, s.at/10) && p.Snapshots()
}

// Take asks the plugin, which has been told everything up to an event, for its state, and keeps it
// once the record is safe.
func (s *Snapshots) Take(ctx context.Context, p plugin.Instance, told uint64) {
	state, err := p.Snapshot(ctx)
	if err != nil {
		s.off = true
		if ctx.Err() == nil {
			s.log.Warn(fmt.Sprintf("the %s is not asked for snapshots any more, so that resuming a long experiment "+
				"takes longer: %v", s.kind, err))
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
