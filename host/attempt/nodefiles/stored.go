package nodefiles

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"sync"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/agent/link"
	"github.com/tunehost/tunehost/host/agent/message"
	"github.com/tunehost/tunehost/host/attempt"
	"github.com/tunehost/tunehost/host/exec/remote"
	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/host/storage/nolink"
	"github.com/tunehost/tunehost/host/untrusted"
)

// blobs is the folder of the storage with the files of checkpoints that the host has copied there.
const blobs = "blobs"

// maxWhy bounds the reason why a node does not use the storage.
const maxWhy = 300

// route says how checkpoints travel to and from a node that does not see the experiment's directory.
type route struct {
	mu     sync.Mutex // also while the way is found out
	direct bool       // the node uses the storage itself
	failed bool       // the last try to use the storage
	again  time.Time  // when it is tried again, if it failed
	pause  time.Duration
}

// The storage is tried again at the first checkpoint after these times: it may have been away for a while.
const (
	firstPause = time.Minute
	lastPause  = 10 * time.Minute
)

// fails notes that a node could not use the storage. r.mu is held.
func (r *route) fails(first time.Duration) {
	r.direct, r.failed = false, true
	r.pause = min(max(2*r.pause, first), lastPause)
	r.again = time.Now().Add(r.pause)
}

// direct reports whether the node of a connection uses the storage itself. The first call asks the node. If the storage
// could not be used, a later call asks again.
func (f *Files) direct(s link.Session, lease core.LeaseID) bool {
	if f.Nodes == nil {
		return false
	}
	r := f.route(s)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.direct || r.failed && time.Now().Before(r.again) {
		return r.direct
	}
	switch err := f.reach(s); {
	case err == nil:
		r.direct = true
		if !r.failed { // else it is told when a checkpoint is there
			f.tell(lease, true, "")
		}
	case lost(s):
		r.fails(f.pause)
	default:
		r.fails(f.pause)
		f.tell(lease, false, err.Error())
	}
	return r.direct
}

// worked notes that a checkpoint is in the storage.
func (f *Files) worked(s link.Session, lease core.LeaseID) {
	r := f.route(s)
	r.mu.Lock()
	r.failed, r.pause = false, 0
	r.mu.Unlock()
	f.tell(lease, true, "")
}

func (f *Files) route(s link.Session) *route {
	f.mu.Lock()
	defer f.mu.Unlock()
	r := f.routes[s]
	if r == nil {
		r = &route{}
		f.routes[s] = r
		context.AfterFunc(done{s}, func() {
			f.mu.Lock()
			delete(f.routes, s)
			f.mu.Unlock()
		})
	}
	return r
}

// indirect sends the next checkpoints of a node over the connection, for a while.
func (f *Files) indirect(s link.Session, lease core.LeaseID, why error) {
	r := f.route(s)
	r.mu.Lock()
	r.fails(f.pause)
	r.mu.Unlock()
	f.tell(lease, false, why.Error())
}

// tell records how the checkpoints of a lease travel, once for each answer.
func (f *Files) tell(lease core.LeaseID, direct bool, why string) {
	f.mu.Lock()
	was, told := f.told[lease]
	f.told[lease] = direct
	f.mu.Unlock()
	if told && was == direct {
		return
	}
	why = untrusted.Line(why, maxWhy)
	if direct {
		f.Log.Info(fmt.Sprintf("lease %d: its node writes checkpoints to %s itself", lease, f.Nodes.URL()))
	} else {
		f.Log.Once("no storage on nodes: "+why, fmt.Sprintf("lease %d: its node has %s; its checkpoints go over the "+
			"connection to this host, and the storage is tried again now and then", lease, why))
	}
	f.Tell(&core.LeaseRouted{Lease: lease, Direct: direct, Why: why})
}

// reach asks a node whether it reaches the storage of this host.
func (f *Files) reach(s link.Session) error {
	key, text, err := f.Nodes.Mark(f.until)
	if err != nil {
		return err
	}
	defer func() { _ = f.Nodes.Unmark(f.until, key) }() // if this fails, the next host removes it
	var mark message.Mark
	err = f.use(s, message.Store{Op: message.OpMark, Key: key}, func(conn net.Conn) error {
		return message.Expect(conn, message.Yes, &mark)
	})
	if err == nil && mark.Text != text {
		err = errors.New("it sees another storage under that name")
	}
	return err
}

// use asks an agent to use the storage. answer reads the agent's answers. The stream ends when the host ends.
func (f *Files) use(s link.Session, want message.Store, answer func(net.Conn) error) error {
	want.URL = f.Nodes.URL()
	conn, err := remote.Ask(f.until, s, message.StreamStore, want, nil)
	if err != nil {
		return err
	}
	defer conn.Close()
	stop := context.AfterFunc(f.until, func() { _ = conn.Close() })
	defer stop()
	return answer(conn)
}

// commitStored lets the node write a checkpoint to the storage, and then commits its manifest. It reports whether that
// was possible. If it was not possible, the files are still on the node.
func (f *Files) commitStored(x attempt.Item, m storage.Manifest) (bytes int64, possible bool, err error) {
	m.Stored = f.Nodes.Folder(trialOf(x.Dir), x.ID, m.Attempt, uint32(x.Place.Lease))
	s, err := f.saveOnNode(x, &m)
	if err == nil {
		err = f.Nodes.Check(f.until, &m)
	}
	if err != nil {
		_ = f.Nodes.Drop(f.until, m.Stored) // if this fails, the next host removes it
		if s == nil || lost(s) {
			return 0, true, err
		}
		f.indirect(s, x.Place.Lease, err)
		return 0, false, nil
	}
	if bytes, err = f.Storage.CommitAway(x.Dir, x.ID, m); err != nil {
		return 0, true, err
	}
	f.worked(s, x.Place.Lease)
	f.removeOnNode(s, x)
	return bytes, true, nil
}

// saveOnNode lets the node write what a trainable has saved to the storage, and fills in the list of files. If the
// connection is lost, the transfer continues on the next connection to the same agent. It returns the last connection;
// nil: there is none.
func (f *Files) saveOnNode(x attempt.Item, m *storage.Manifest) (s link.Session, err error) {
	for range maxTries {
		var n node
		if s, n, err = f.at(x.Place); err != nil {
			return nil, err
		}
		path, errP := n.moved(storage.Staged(x.Dir, x.ID), x.Dir)
		if errP != nil {
			return s, errP
		}
		want := message.Store{Op: message.OpSave, Folder: m.Stored, Trial: trialOf(x.Dir), Path: path}
		err = f.use(s, want, func(conn net.Conn) (err error) {
			m.Files, err = message.ReadStored(conn)
			return err
		})
		if err == nil || !lost(s) {
			return s, err
		}
	}
	return s, err
}

// removeOnNode removes files that are committed from the node.
func (f *Files) removeOnNode(s link.Session, x attempt.Item) {
	_, n, err := f.at(x.Place)
	if err != nil {
		return
	}
	path, err := n.moved(storage.Staged(x.Dir, x.ID), x.Dir)
	if err != nil {
		return
	}
	go func() {
		_, _ = f.ask(s, message.Files{Op: message.OpRemove, Trial: trialOf(x.Dir), Path: path})
	}()
}

// loadOnNode lets the node read a checkpoint from the storage. It reports whether the node did so.
func (f *Files) loadOnNode(s link.Session, c *copying) (bool, error) {
	want := message.Store{Op: message.OpLoad, Folder: c.manifest.Stored, Trial: c.trial, Path: c.path}
	if want.Folder == "" {
		want.Folder = blobs
	}
	err := f.use(s, want, func(conn net.Conn) error {
		if err := message.PutStored(message.NewWriter(conn), c.manifest.Files); err != nil {
			return err
		}
		return message.Expect(conn, message.Yes, nil)
	})
	switch {
	case err == nil:
		return true, nil
	case lost(s):
		return false, err
	case errors.Is(err, fs.ErrNotExist): // the host has not copied it yet, or it is gone, as the host will notice
		return false, nil
	}
	f.indirect(s, c.lease, err)
	return false, nil
}

// bring makes sure that the files of a checkpoint are on this machine.
func (f *Files) bring(checkpoint string) error {
	if f.Nodes == nil {
		return nil
	}
	_, err := nolink.Lstat(storage.FilesOf(checkpoint))
	if errors.Is(err, fs.ErrNotExist) {
		return f.Nodes.Bring(f.until, checkpoint)
	}
	return err
}
