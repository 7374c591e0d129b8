package nodefiles

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"sync"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/agent/link"
	"github.com/tunehost/tunehost/host/agent/message"
	"github.com/tunehost/tunehost/host/attempt"
	"github.com/tunehost/tunehost/host/exec"
	"github.com/tunehost/tunehost/host/exec/remote"
	"github.com/tunehost/tunehost/host/hostlog"
	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/host/storage/mirror"
	"github.com/tunehost/tunehost/host/storage/nolink"
)

// Options are what [Files] needs.
type Options struct {
	Sessions remote.Sessions
	Storage  storage.Dir
	Log      *hostlog.Log
	// Nodes is the place for checkpoints that nodes write to the experiment's storage; nil if that is no URL.
	Nodes *mirror.Nodes
	// Tell records how checkpoints travel; it is called only if there are Nodes.
	Tell func(core.Event)
	// Uploads makes sure that the node of a connection has the uploaded files, and returns where they are
	// instead of where the first bundle of the lease has them. It may be nil.
	Uploads func(ctx context.Context, lease core.LeaseID, s link.Session) ([]remote.Move, error)
}

// Files implements attempt.Checkpoints.
type Files struct {
	Options
	here  attempt.SharedFiles
	large int64           // bytes; see warnLarge
	pause time.Duration   // see route.fails
	until context.Context // when it ends, nothing waits for a node any more
	close context.CancelFunc

	mu      sync.Mutex
	known   map[link.Session]node
	routes  map[link.Session]*route
	told    map[core.LeaseID]bool // what was recorded about the lease: whether its node uses the storage
	output  map[string]*output    // of attempts, by the trial's directory on the node
	gangs   map[gangKey]*gang
	current map[core.LeaseID]*gang // the newest on each lease
}

var (
	_ attempt.Checkpoints = (*Files)(nil)
	_ remote.Ranks        = (*Files)(nil)
)

// New returns the files of an experiment's trials.
func New(o Options) *Files {
	f := &Files{Options: o, known: map[link.Session]node{}, routes: map[link.Session]*route{},
		told: map[core.LeaseID]bool{}, large: large, pause: firstPause, output: map[string]*output{},
		gangs: map[gangKey]*gang{}, current: map[core.LeaseID]*gang{}}
	f.here = attempt.SharedFiles{Storage: o.Storage, Bring: f.bring}
	f.until, f.close = context.WithCancel(context.Background())
	return f
}

// Close implements attempt.Placer.
func (f *Files) Close() { f.close() }

// node is what the host knows about a node.
type node struct {
	// shared: it sees the experiment's directory.
	shared bool
	// trials is the folder there with the directories of trials.
	trials string
}

// dir is the directory of a trial on the node; host is its directory on the host.
func (n node) dir(host string) string { return filepath.Join(n.trials, filepath.Base(host)) }

// moved converts a path in the trial's directory to the path on the node; "" stays "".
func (n node) moved(path, host string) (string, error) {
	if path == "" {
		return "", nil
	}
	rel, err := filepath.Rel(host, path)
	if err == nil && !filepath.IsLocal(rel) {
		err = fmt.Errorf("%s is not in %s", path, host)
	}
	return filepath.Join(n.dir(host), rel), err
}

// at returns the connection to a place, and what the host knows about its node. Without a lease the place is
// the host's machine.
func (f *Files) at(p exec.Place) (link.Session, node, error) {
	if p.Lease == 0 {
		return nil, node{shared: true}, nil
	}
	return f.bundle(p.Lease, 0)
}

func (f *Files) bundle(lease core.LeaseID, bundle int) (link.Session, node, error) {
	s, err := f.Sessions.Session(f.until, lease, bundle)
	if err != nil {
		return nil, node{}, err
	}
	f.mu.Lock()
	n, known := f.known[s]
	f.mu.Unlock()
	if known {
		return s, n, nil
	}
	if n, err = f.probe(s); err != nil {
		return s, n, err
	}
	f.mu.Lock()
	f.known[s] = n
	f.mu.Unlock()
	context.AfterFunc(s.Context(), func() {
		f.mu.Lock()
		delete(f.known, s)
		f.mu.Unlock()
		if f.until.Err() != nil {
			return
		}
		if _, err := f.Sessions.Session(f.until, lease, bundle); err != nil {
			f.forgetLease(lease)
		}
	})
	return s, n, nil
}

// forgetLease forgets a lease that has ended.
func (f *Files) forgetLease(lease core.LeaseID) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.told, lease)
	delete(f.current, lease)
	maps.DeleteFunc(f.gangs, func(key gangKey, _ *gang) bool { return key.lease == lease })
}

// probe finds out whether a node sees the experiment's directory.
func (f *Files) probe(s link.Session) (node, error) {
	file := filepath.Join(f.Storage.Path(), ".probe-"+rand.Text())
	content := rand.Text()
	if err := nolink.WriteFile(file, []byte(content), 0o600); err != nil {
		return node{}, err
	}
	defer func() { _ = nolink.Remove(file) }()
	var found message.Probed
	conn, err := remote.Ask(f.until, s, message.StreamProbe, message.Probe{Path: file}, &found)
	if err != nil {
		return node{}, err
	}
	_ = conn.Close()
	n := node{shared: found.Content == content, trials: found.Trials}
	if !n.shared && (!filepath.IsAbs(n.trials) || filepath.Clean(n.trials) != n.trials) {
		return n, errors.New("its agent has no folder for trials")
	}
	return n, nil
}

// ask sends a request to a node, and returns the path in its answer.
func (f *Files) ask(s link.Session, want message.Files) (string, error) {
	var placed message.Placed
	conn, err := remote.Ask(f.until, s, message.StreamFiles, want, &placed)
	if err != nil {
		return "", err
	}
	return placed.Path, conn.Close()
}
