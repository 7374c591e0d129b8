package agent

import (
	"context"
	"net"
	"os"
	"path/filepath"

	"github.com/tunehost/tunehost/host/agent/link"
	"github.com/tunehost/tunehost/host/agent/message"
	"github.com/tunehost/tunehost/host/storage/runtimedir"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// ranks is the socket on which trainables here request processes on other nodes of their lease. The host
// forwards the requests; agents do not connect to each other.
type ranks struct {
	folder   *runtimedir.Folder
	listener net.Listener
}

func (r *ranks) close() {
	if r != nil {
		_, _ = r.listener.Close(), r.folder.Remove()
	}
}

func (r *ranks) path() string { return filepath.Join(r.folder.Path(), "ranks") }

// ranksVariable is the variable that names the socket; nothing if there can be none.
func (a *Agent) ranksVariable() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ranks == nil && !a.closed {
		r, err := openRanks()
		if err != nil {
			a.Log("programs on other nodes cannot be started: " + err.Error())
			return nil
		}
		a.ranks = r
		go a.passRanks(r)
	}
	if a.ranks == nil {
		return nil
	}
	return []string{sdk.RanksVariable + "=" + a.ranks.path()}
}

func openRanks() (r *ranks, err error) {
	r = &ranks{}
	if r.folder, err = runtimedir.Make(); err != nil {
		return nil, err
	}
	if r.listener, err = net.Listen("unix", r.path()); err == nil {
		err = os.Chmod(r.path(), fileMode)
	}
	if err != nil {
		_ = r.folder.Remove()
		return nil, err
	}
	return r, nil
}

// passRanks connects the trainables' requests with the host.
func (a *Agent) passRanks(r *ranks) {
	for {
		conn, err := r.listener.Accept()
		if err != nil {
			return
		}
		a.mu.Lock()
		s := a.session
		a.mu.Unlock()
		go func() {
			defer conn.Close()
			ctx, cancel := context.WithTimeout(context.Background(), askTime)
			to, err := s.Open(ctx, link.Purpose{Kind: message.StreamRank})
			cancel()
			if err != nil {
				_ = message.NewWriter(conn).Put(message.No, message.RefusalOf(err))
				return
			}
			link.Splice(conn, to)
		}()
	}
}
