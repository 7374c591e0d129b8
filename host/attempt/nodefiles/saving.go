package nodefiles

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"github.com/tunehost/tunehost/host/agent/link"
	"github.com/tunehost/tunehost/host/agent/message"
	"github.com/tunehost/tunehost/host/agent/tree"
	"github.com/tunehost/tunehost/host/attempt"
	"github.com/tunehost/tunehost/host/exec/remote"
	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/host/storage/nolink"
)

// large is the size of a checkpoint, in bytes, for which the user is told that a storage that nodes
// reach by themselves is better.
const large = 1 << 30

// maxTries is how often a transfer continues after the connection to its node was lost.
const maxTries = 20

// trialOf is the name of a trial's directory.
func trialOf(dir string) string { return filepath.Base(dir) }

// Stage implements attempt.Saver.
func (f *Files) Stage(x attempt.Item, quick bool) (dir string, done bool, err error) {
	if x.Place.Lease != 0 && quick {
		return "", false, nil
	}
	s, n, err := f.at(x.Place)
	if err != nil {
		return "", true, err
	}
	if n.shared {
		return f.here.Stage(x, quick)
	}
	dir, err = f.ask(s, message.Files{Op: message.OpStage, Trial: trialOf(x.Dir), ID: x.ID})
	return dir, true, err
}

// Take implements attempt.Saver.
func (f *Files) Take(x attempt.Item, path string, quick bool) (done bool, err error) {
	if x.Place.Lease != 0 && quick {
		return false, nil
	}
	s, n, err := f.at(x.Place)
	if err != nil {
		return true, err
	}
	if n.shared {
		if done, err = f.here.Take(x, path, quick); !done || err != nil {
			return done, err
		}
		return true, f.takeParts(x, path)
	}
	defer x.Saving.Unseen()() // the node moves or copies it
	if _, err = f.ask(s, message.Files{Op: message.OpTake, Trial: trialOf(x.Dir), ID: x.ID, Path: path}); err != nil {
		return true, err
	}
	return true, f.takeParts(x, path)
}

// Commit implements attempt.Saver.
func (f *Files) Commit(x attempt.Item, m storage.Manifest) (bytes int64, err error) {
	s, n, err := f.at(x.Place)
	if err != nil {
		return 0, err
	}
	if n.shared {
		if err := f.gather(x, storage.Staged(x.Dir, x.ID)); err != nil {
			return 0, err
		}
		bytes, err = f.here.Commit(x, m)
		if err == nil && len(f.partsOf(x)) > 0 {
			go f.removeTaken(x, storage.Staged(x.Dir, x.ID))
		}
		return bytes, err
	}
	if x.Format == "" && f.allDirect(x, s) {
		if bytes, possible, err := f.commitStored(x, m); possible {
			return bytes, err
		}
	}
	return f.commitOnHost(x, m)
}

// commitOnHost copies a checkpoint or a model to the host, and completes it there.
func (f *Files) commitOnHost(x attempt.Item, m storage.Manifest) (bytes int64, err error) {
	folder := storage.Staged(x.Dir, x.ID)
	if x.Format != "" {
		folder = filepath.Join(storage.NewExports(x.Dir), x.Format)
		err = errors.Join(nolink.RemoveAll(folder), nolink.MkdirAll(folder, 0o700))
	} else {
		_, err = storage.Stage(x.Dir, x.ID)
	}
	if err == nil {
		err = f.get(x, 0, folder, folder)
	}
	if err == nil {
		err = f.gather(x, folder)
	}
	if err == nil {
		bytes, err = f.here.Commit(x, m)
	}
	if err == nil {
		go f.removeTaken(x, folder)
	}
	return bytes, err
}

// removeTaken removes what a commit has copied to the host from the nodes.
func (f *Files) removeTaken(x attempt.Item, folder string) {
	if x.Format == "" {
		defer f.saved(x)
	}
	for _, bundle := range append([]int{0}, f.partsOf(x)...) {
		s, n, err := f.bundle(x.Place.Lease, bundle)
		if err != nil || n.shared {
			continue
		}
		if path, err := n.moved(folder, x.Dir); err == nil {
			_, _ = f.ask(s, message.Files{Op: message.OpRemove, Trial: trialOf(x.Dir), Path: path})
		}
	}
}

// gather adds the parts of a checkpoint that other ranks have written on their nodes. Of files with the same name, the
// one of the lowest rank counts.
func (f *Files) gather(x attempt.Item, folder string) error {
	for _, bundle := range f.partsOf(x) {
		part := filepath.Join(filepath.Dir(folder), fmt.Sprintf("rank%d", bundle))
		err := nolink.MkdirAll(part, 0o700)
		if err == nil {
			err = f.get(x, bundle, folder, part)
		}
		if err == nil {
			err = merge(part, folder)
		}
		if err = errors.Join(err, nolink.RemoveAll(part)); err != nil {
			return fmt.Errorf("the part of rank %d: %w", bundle, err)
		}
	}
	return nil
}

// merge moves the files of a folder into another one, unless they are there.
func merge(from, to string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, rel)
		if d.IsDir() {
			return nolink.MkdirAll(target, 0o700)
		}
		if _, err := nolink.Lstat(target); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nolink.Rename(path, target)
	})
}

// get copies what a trainable has saved on the node of a bundle into a folder of the host. saved is the host's path for
// where it is. If the connection is lost, the transfer continues on the next connection to the same agent.
func (f *Files) get(x attempt.Item, bundle int, saved, folder string) (err error) {
	for range maxTries {
		var s link.Session
		var n node
		if s, n, err = f.bundle(x.Place.Lease, bundle); err != nil {
			return err
		}
		path, errP := n.moved(saved, x.Dir)
		if errP != nil {
			return errP
		}
		want := message.Files{Op: message.OpGet, Trial: trialOf(x.Dir), Path: path}
		if err = f.getOnce(x, s, want, folder); err == nil || !lost(s) {
			return err
		}
	}
	return err
}

// lost reports whether a connection has ended.
func lost(s link.Session) bool {
	select {
	case <-s.Done():
		return true
	default:
		return false
	}
}

func (f *Files) getOnce(x attempt.Item, s link.Session, want message.Files, folder string) (err error) {
	if want.Have, err = tree.Sizes(folder); err != nil {
		return err
	}
	conn, err := remote.Ask(f.until, s, message.StreamFiles, want, nil)
	if err != nil {
		return err
	}
	defer conn.Close()
	defer x.Saving.AtEnd(func() { _ = conn.Close() })()
	_, err = tree.Receive(io.TeeReader(conn, x.Saving), folder, f.warnLarge)
	return err
}

func (f *Files) warnLarge(bytes int64) {
	if bytes > f.large {
		f.Log.Once("large checkpoint", fmt.Sprintf("checkpoints of more than 1 GiB go over the connection "+
			"between the host and the nodes, which takes long: nodes that share the file system of %s copy nothing, "+
			"and if storage is a URL that nodes reach with their own credentials, they use it themselves",
			f.Storage.Path()))
	}
}
