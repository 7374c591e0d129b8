// Package peers lets the servers of one user on one machine pass requests on to each other: an experiment for workers
// is open in one server alone, and programs speak with the server that began last.
//
// Each server listens at a socket in a private folder, and has a file in the user's folder that names it. Only this
// user can listen there and connect, so that no token is sent, and what is passed on cannot reach anybody else. What a
// server was passed it answers itself, so that no request goes in a circle.
package peers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/tunehost/tunehost/host/machine"
	"github.com/tunehost/tunehost/host/serve/guard"
	"github.com/tunehost/tunehost/host/steer/unixsock"
	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/host/storage/nolink"
)

// folderName is the folder of the servers' files, in that of the tokens.
const folderName = "servers"

// maxFile is longer than the file of a server is, in bytes.
const maxFile = 8 << 10

// patience is how long another server may take to say which experiments it has.
const patience = 5 * time.Second

// Wanted is an experiment for workers that a server has open: by its directory, or without one by its id.
type Wanted struct {
	Dir, ID string
	// Resting: nobody has it open, and the server would resume it.
	Resting bool
}

// Found is an experiment that a server has.
type Found struct {
	ID  string `json:"id"`
	Dir string `json:"dir"`
}

// Host knows the experiments for workers of a server.
type Host interface {
	// Hosted returns one of them; nil: it has not the one that is wanted.
	Hosted(Wanted) *Found
}

// address is what a server writes of itself.
type address struct {
	Machine string `json:"machine"`
	Socket  string `json:"socket"`
}

// Peers are a server and the others.
type Peers struct {
	folder, own string
	machine     string
	server      *http.Server
	remove      func()
	ended       chan struct{}
}

// Join makes a server known to the others of this user. h answers what they pass on.
func Join(tokens string, host Host, h http.Handler) (*Peers, error) {
	folder := filepath.Join(tokens, folderName)
	if err := nolink.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	l, remove, err := unixsock.Listen()
	if err != nil {
		return nil, err
	}
	p := &Peers{folder: folder, server: guard.Server(answering(host, h)), remove: remove, ended: make(chan struct{})}
	p.machine = Machine()
	if err := p.announce(l.Addr().String()); err != nil {
		_ = l.Close()
		remove()
		return nil, err
	}
	go func() {
		defer close(p.ended)
		_ = p.server.Serve(l) // until Close
	}()
	return p, nil
}

// Machine tells the machines apart whose users share a folder, also those of one name: a container or a clone of a
// machine would remove the files of the others, whose sockets it does not see. What a killed server has left is
// therefore removed until the machine starts again, and not after that.
func Machine() string {
	name, _ := os.Hostname() // without a name and the rest all servers are of one machine
	return name + " " + machine.Here()
}

// announce writes the file of this server. Its name is that of the folder of the process and of the one in it.
func (p *Peers) announce(socket string) error {
	text, err := json.Marshal(address{p.machine, socket})
	if err != nil {
		return err
	}
	home := filepath.Dir(socket)
	name := filepath.Base(filepath.Dir(home)) + "-" + filepath.Base(home)
	p.own = filepath.Join(p.folder, name)
	return nolink.WriteFile(p.own, append(text, '\n'), 0o600)
}

// Close leaves the others. What they have passed on is answered.
func (p *Peers) Close() {
	_ = nolink.Remove(p.own) // the user may have removed it
	soon, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if p.server.Shutdown(soon) != nil {
		_ = p.server.Close()
	}
	<-p.ended
	p.remove()
}

// hostedPath asks which experiment a server has.
const hostedPath = "/hosted"

// answering is what a server tells the others.
func answering(host Host, h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != hostedPath {
			h.ServeHTTP(w, r)
			return
		}
		q := r.URL.Query()
		found := host.Hosted(Wanted{q.Get("dir"), q.Get("id"), q.Has("resting")})
		_ = json.NewEncoder(w).Encode(found) // the other may be gone
	})
}

// Find returns another server that has an experiment; nil: none has, or they have several of that id.
func (p *Peers) Find(x Wanted) (other *Peer) {
	entries, _ := nolink.ReadDir(p.folder) // without the folder there are no others
	for _, e := range entries {
		path := filepath.Join(p.folder, e.Name())
		if path == p.own {
			continue
		}
		switch found, at := p.ask(path, x); {
		case found == nil:
		case other == nil:
			other = &Peer{*found, at}
		case other.Dir != found.Dir:
			return nil
		}
	}
	return other
}

// ask asks the server of a file; nil: it has not the experiment, or is none.
func (p *Peers) ask(path string, x Wanted) (found *Found, at *http.Transport) {
	var a address
	text, err := nolink.ReadFile(path, maxFile)
	if err != nil || !storage.Mine(path) || json.Unmarshal(text, &a) != nil || a.Machine != p.machine {
		return nil, nil
	}
	at = to(a.Socket)
	client := http.Client{Transport: at, Timeout: patience}
	q := url.Values{"dir": {x.Dir}, "id": {x.ID}}
	if x.Resting {
		q.Set("resting", "")
	}
	answer, err := client.Get("http://server" + hostedPath + "?" + q.Encode())
	if isGone(err) {
		_ = nolink.Remove(path) // it was killed
	}
	if err != nil {
		return nil, nil
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK || json.NewDecoder(answer.Body).Decode(&found) != nil {
		return nil, nil
	}
	return found, at
}

// isGone reports whether nobody listens at a socket any more.
func isGone(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED)
}

// to reaches the server at a socket.
func to(socket string) *http.Transport {
	dial := func(context.Context, string, string) (net.Conn, error) { return unixsock.Connect(socket) }
	return &http.Transport{DisableKeepAlives: true, DialContext: dial}
}

// Peer is another server, which has an experiment.
type Peer struct {
	Found
	transport http.RoundTripper
}

// path is that of a request about the experiment, for the other server. The original one begins with before and the id
// that the experiment has here.
func (p *Peer) path(before, whole string) (*url.URL, error) {
	rest, ok := strings.CutPrefix(whole, before)
	if !ok {
		return nil, fmt.Errorf("%.100q is no path of an experiment", whole)
	}
	_, rest, more := strings.Cut(rest, "/")
	if more {
		rest = "/" + rest
	}
	return url.Parse("http://server" + before + url.PathEscape(p.ID) + rest)
}
