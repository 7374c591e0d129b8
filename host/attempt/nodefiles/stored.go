package nodefiles

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"path"
	"slices"
	"strings"
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
		context.AfterFunc(s.Context(), func() {
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

// commitStored lets the nodes write a checkpoint to the storage, each its part, and then commits its manifest. It
// reports whether that was possible. If it was not possible, the files are still on the nodes.
func (f *Files) commitStored(x attempt.Item, m storage.Manifest) (bytes int64, possible bool, err error) {
	m.Stored = f.Nodes.Folder(trialOf(x.Dir), x.ID, m.Attempt, uint32(x.Place.Lease))
	parts, err := f.saveOnNodes(x, &m)
	if err == nil {
		err = f.Nodes.Check(f.until, &m)
	}
	if err != nil {
		_ = f.Nodes.Drop(f.until, m.Stored) // if this fails, the next host removes it
		if x.Saving.Err() != nil {
			return 0, true, err
		}
		for _, p := range parts {
			if p.session == nil || lost(p.session) {
				return 0, true, err
			}
		}
		f.indirect(blamed(parts), x.Place.Lease, err)
		return 0, false, nil
	}
	if bytes, err = f.Storage.CommitAway(x.Dir, x.ID, m); err != nil {
		return 0, true, err
	}
	for _, p := range parts {
		f.worked(p.session, x.Place.Lease)
	}
	go f.removeTaken(x, storage.Staged(x.Dir, x.ID))
	return bytes, true, nil
}

// blamed is the connection to the first node that could not write its part, or to that of rank 0.
func blamed(parts []part) link.Session {
	if i := slices.IndexFunc(parts, func(p part) bool { return p.err != nil }); i >= 0 {
		return parts[i].session
	}
	return parts[0].session
}

// allDirect reports whether the nodes of all bundles that have parts of a checkpoint use the storage themselves. s is
// the connection to the first.
func (f *Files) allDirect(x attempt.Item, s link.Session) bool {
	if f.Nodes == nil || !f.direct(s, x.Place.Lease) {
		return false
	}
	for _, bundle := range f.partsOf(x) {
		s, _, err := f.bundle(x.Place.Lease, bundle)
		if err != nil || !f.direct(s, x.Place.Lease) {
			return false
		}
	}
	return true
}

// part is what the node of a bundle has written to the storage.
type part struct {
	bundle  int
	session link.Session // the last one; nil: there is none
	files   []storage.File
	err     error
}

// saveOnNodes lets all nodes that have a part of a checkpoint write it to the storage, and fills in the list of files.
func (f *Files) saveOnNodes(x attempt.Item, m *storage.Manifest) ([]part, error) {
	parts := []part{{}}
	for _, bundle := range f.partsOf(x) {
		parts = append(parts, part{bundle: bundle})
	}
	var all sync.WaitGroup
	for i := range parts {
		all.Go(func() { f.saveOnNode(x, m.Stored, &parts[i]) })
	}
	all.Wait()
	for _, p := range parts {
		if p.err != nil {
			return parts, p.of(p.err)
		}
	}
	var extra []storage.File
	var err error
	if m.Files, extra, err = union(parts); err == nil {
		err = f.Nodes.Trim(f.until, m, extra)
	}
	return parts, err
}

func (p *part) of(err error) error {
	if p.bundle == 0 {
		return err
	}
	return fmt.Errorf("the part of rank %d: %w", p.bundle, err)
}

// union returns the files of all parts. Of files with the same name, the one of the lowest rank counts, and the others
// are extra.
func union(parts []part) (files, extra []storage.File, err error) {
	taken := map[string]bool{}
	for _, p := range parts {
		for _, file := range p.files {
			if taken[file.Path] {
				extra = append(extra, file)
				continue
			}
			taken[file.Path] = true
			files = append(files, file)
		}
	}
	for _, file := range files {
		for dir := path.Dir(file.Path); dir != "."; dir = path.Dir(dir) {
			if taken[dir] {
				return nil, nil, fmt.Errorf("%s is a file of one rank and a folder of another", dir)
			}
		}
	}
	slices.SortFunc(files, func(a, b storage.File) int { return strings.Compare(a.Path, b.Path) })
	return files, extra, nil
}

// saveOnNode lets the node of a bundle write what its program has saved to a folder of the storage. If the connection
// is lost, the transfer continues on the next connection to the same agent.
func (f *Files) saveOnNode(x attempt.Item, folder string, p *part) {
	for range maxTries {
		var n node
		var from string
		if p.session, n, p.err = f.bundle(x.Place.Lease, p.bundle); p.err != nil {
			p.session = nil
			return
		}
		if from, p.err = n.moved(storage.Staged(x.Dir, x.ID), x.Dir); p.err != nil {
			return
		}
		want := message.Store{Op: message.OpSave, Folder: folder, Trial: trialOf(x.Dir), Path: from}
		p.err = f.use(p.session, want, func(conn net.Conn) (err error) {
			defer x.Saving.AtEnd(func() { _ = conn.Close() })()
			defer x.Saving.Unseen()() // the node gives it up if nothing moves
			p.files, err = message.ReadStored(conn)
			return err
		})
		if p.err == nil || !lost(p.session) {
			return
		}
	}
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
func (f *Files) bring(ctx context.Context, checkpoint string) error {
	if f.Nodes == nil {
		return nil
	}
	_, err := nolink.Lstat(storage.FilesOf(checkpoint))
	if errors.Is(err, fs.ErrNotExist) {
		ctx, end := context.WithCancel(ctx)
		defer end()
		defer context.AfterFunc(f.until, end)()
		return f.Nodes.Bring(ctx, checkpoint)
	}
	return err
}
