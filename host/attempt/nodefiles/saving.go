package nodefiles

import (
	"errors"
	"fmt"
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
		return f.here.Take(x, path, quick)
	}
	_, err = f.ask(s, message.Files{Op: message.OpTake, Trial: trialOf(x.Dir), ID: x.ID, Path: path})
	return true, err
}

// Commit implements attempt.Saver.
func (f *Files) Commit(x attempt.Item, m storage.Manifest) (bytes int64, err error) {
	s, n, err := f.at(x.Place)
	if err != nil {
		return 0, err
	}
	if n.shared {
		return f.here.Commit(x, m)
	}
	if x.Format == "" && f.direct(s, x.Place.Lease) {
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
		err = f.get(x, folder)
	}
	if err != nil {
		return 0, err
	}
	return f.here.Commit(x, m)
}

// get copies what a trainable has saved into a folder of the host. If the connection is lost, the transfer
// continues on the next connection to the same agent.
func (f *Files) get(x attempt.Item, folder string) (err error) {
	for range maxTries {
		var s link.Session
		var n node
		if s, n, err = f.at(x.Place); err != nil {
			return err
		}
		path, errP := n.moved(folder, x.Dir)
		if errP != nil {
			return errP
		}
		if err = f.getOnce(s, message.Files{Op: message.OpGet, Trial: trialOf(x.Dir), Path: path}, folder); err == nil {
			go func() {
				_, _ = f.ask(s, message.Files{Op: message.OpRemove, Trial: trialOf(x.Dir), Path: path})
			}()
			return nil
		}
		if !lost(s) {
			return err
		}
	}
	return err
}

// lost reports whether a connection has ended.
func lost(s link.Session) bool { return done{s}.Err() != nil }

func (f *Files) getOnce(s link.Session, want message.Files, folder string) (err error) {
	if want.Have, err = tree.Sizes(folder); err != nil {
		return err
	}
	conn, err := remote.Ask(f.until, s, message.StreamFiles, want, nil)
	if err != nil {
		return err
	}
	defer conn.Close()
	_, err = tree.Receive(conn, folder, f.warnLarge)
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
