package nodefiles

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/agent/link"
	"github.com/tunehost/tunehost/host/agent/message"
	"github.com/tunehost/tunehost/host/agent/tree"
	"github.com/tunehost/tunehost/host/exec"
	"github.com/tunehost/tunehost/host/exec/remote"
	"github.com/tunehost/tunehost/host/storage"
)

// Fetch implements attempt.Fetcher.
func (f *Files) Fetch(at exec.Place, checkpoint, path string, s *storage.Saving) error {
	session, n, err := f.at(at)
	if g := f.gangOf(at.Lease); g != nil {
		g.checkpoint, g.restore = checkpoint, path
	}
	switch {
	case err != nil:
		return unreachable(session, err)
	case n.shared:
		return f.here.Fetch(at, checkpoint, path, s)
	}
	trial, err := n.trialAt(path)
	if err != nil {
		return err
	}
	return f.fetch(copying{lease: at.Lease, checkpoint: checkpoint, trial: trial, path: path, saving: s})
}

// copying is a checkpoint that is being copied to a path of a node.
type copying struct {
	lease       core.LeaseID
	bundle      int
	checkpoint  string
	manifest    storage.Manifest
	trial, path string
	// rest says that the node may have a part of it already.
	rest   bool
	saving *storage.Saving // ends when the copy is given up; nil: it is not
}

// fetch lets the node read a checkpoint from the storage if it can. Otherwise the host sends the checkpoint. If the
// connection is lost, the transfer continues on the next connection to the same agent.
func (f *Files) fetch(c copying) (err error) {
	if c.manifest, err = storage.ReadManifest(c.checkpoint); err != nil {
		return err
	}
	var s link.Session
	for range maxTries {
		if s, _, err = f.bundle(c.lease, c.bundle); err != nil {
			break
		}
		if err = f.fetchOnce(s, &c); err == nil || !lost(s) {
			break
		}
	}
	return unreachable(s, err)
}

func (f *Files) fetchOnce(s link.Session, c *copying) error {
	if !c.rest && f.direct(s, c.lease) {
		if done, err := f.loadOnNode(s, c); done || err != nil {
			return err
		}
	}
	if err := f.bring(c.saving.Context(), c.checkpoint); err != nil {
		return err
	}
	f.warnLarge(c.manifest.Size())
	err := f.put(s, c)
	if err != nil && c.rest && !lost(s) && c.saving.Err() == nil { // perhaps the node had other files there
		c.rest = false
		err = f.put(s, c)
	}
	c.rest = true
	return err
}

// put sends a checkpoint to a path of the node.
func (f *Files) put(s link.Session, c *copying) error {
	put := message.Files{Op: message.OpPut, Trial: c.trial, Path: c.path, Continue: c.rest}
	var placed message.Placed
	conn, err := remote.Ask(f.until, s, message.StreamFiles, put, &placed)
	if err != nil {
		return err
	}
	defer conn.Close()
	stop := context.AfterFunc(f.until, func() { _ = conn.Close() })
	defer stop()
	defer c.saving.AtEnd(func() { _ = conn.Close() })()
	sums, err := tree.Send(f.until, message.NewWriter(conn), storage.FilesOf(c.checkpoint), placed.Have)
	if err == nil {
		err = same(c.checkpoint, c.manifest, sums)
	}
	if err != nil {
		return err
	}
	return message.Expect(conn, message.Yes, nil)
}

// trialAt returns the name of the trial in whose directory a path of the node is.
func (n node) trialAt(path string) (string, error) {
	rel, err := filepath.Rel(n.trials, path)
	if err != nil || !filepath.IsLocal(rel) || rel == "." {
		return "", errors.New(path + " is in no directory of a trial on its node")
	}
	for filepath.Dir(rel) != "." {
		rel = filepath.Dir(rel)
	}
	return rel, nil
}

// same compares the files that were sent with the manifest.
func same(checkpoint string, m storage.Manifest, sums map[string]string) error {
	for _, f := range m.Files {
		if sums[f.Path] != f.SHA256 {
			return &storage.DamagedError{Dir: checkpoint, What: f.Path + " is not what was saved"}
		}
	}
	if len(sums) != len(m.Files) {
		return &storage.DamagedError{Dir: checkpoint, What: "it has files that were not saved"}
	}
	return nil
}

// Discard implements attempt.Fetcher.
func (f *Files) Discard(at exec.Place, path string) error {
	f.forget(at.Lease, path)
	s, n, err := f.at(at)
	if err != nil {
		return nil // the node is gone, with the copy
	}
	if n.shared {
		return f.here.Discard(at, path)
	}
	trial, err := n.trialAt(path)
	if err != nil {
		return err
	}
	if _, err = f.ask(s, message.Files{Op: message.OpRemove, Trial: trial, Path: path}); lost(s) {
		return nil
	}
	return err
}
