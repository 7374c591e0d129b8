package repeat

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/tunehost/tunehost/host/storage/nolink"
)

// store keeps requests in a file that all servers of a user share: a line when one begins, and another one with its
// answer. A server reads what the others have written, and writes, while it has the lock of another file. Each server
// holds the lock of a third file while it lives.
type store struct {
	path  string
	owner string // names this server in lines
	file  *os.File
	guard *os.File // its lock is for reading and writing
	alive *os.File
	read  int64 // as far as this server has read
	torn  bool  // what follows has no end: its server was killed
}

// line is a line of the file.
type line struct {
	Name  string    `json:"name"`
	Sum   []byte    `json:"sum"`
	Began time.Time `json:"began"`
	// Owner is the server that carries the request out.
	Owner string `json:"owner"`
	// Done says that the answer is there.
	Done   bool   `json:"done,omitempty"`
	Failed bool   `json:"failed,omitempty"` // it may be sent again
	Status int    `json:"status,omitempty"`
	Media  string `json:"media,omitempty"`
	Answer []byte `json:"answer,omitempty"`
}

const (
	// mostStored is when the file is written anew, in bytes; maxStored is longer than any.
	mostStored = 16 << 20
	maxStored  = 256 << 20
)

// The lock is held for the time of a few reads and writes; a server that was stopped may have it for longer.
const (
	lockRetry = 5 * time.Millisecond
	lockTries = 1000
)

var errBusy = errors.New("another server does not release them; try again")

const fileName = "serve-requests"

// openStore opens the file in a folder.
func openStore(dir string) (_ *store, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	s := &store{path: filepath.Join(dir, fileName), owner: rand.Text()}
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	if s.guard, err = nolink.OpenFile(s.path+".lock", os.O_RDWR|os.O_CREATE, 0o600); err != nil {
		return nil, err
	}
	if s.alive, err = nolink.OpenFile(s.aliveFile(s.owner), os.O_RDWR|os.O_CREATE, 0o600); err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(s.alive.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, err
	}
	s.sweep()
	return s, s.reopen()
}

func (s *store) aliveFile(owner string) string { return s.path + "." + owner + ".alive" }

// lives reports whether a server has not ended.
func (s *store) lives(owner string) bool {
	if owner == s.owner {
		return true
	}
	if owner == "" || strings.ContainsAny(owner, "/.") {
		return false
	}
	f, err := nolink.Open(s.aliveFile(owner))
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
	defer f.Close()
	return errors.Is(syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB), syscall.EWOULDBLOCK)
}

// sweep removes what servers have left that were killed.
func (s *store) sweep() {
	names, err := filepath.Glob(s.path + ".*.alive")
	if err != nil {
		return
	}
	for _, name := range names {
		owner := strings.TrimSuffix(strings.TrimPrefix(name, s.path+"."), ".alive")
		if !s.lives(owner) {
			_ = os.Remove(name)
		}
	}
}

// reopen opens the file from its beginning.
func (s *store) reopen() error {
	f, err := nolink.OpenFile(s.path, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	if s.file != nil {
		_ = s.file.Close()
	}
	s.file, s.read, s.torn = f, 0, false
	return nil
}

// hold waits for the lock, and calls f with the lines that other servers have written in the meantime.
func (s *store) hold(f func(*line)) (release func(), err error) {
	for range lockTries {
		err = syscall.Flock(int(s.guard.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			break
		}
		err = errBusy
		time.Sleep(lockRetry)
	}
	if err != nil {
		return nil, err
	}
	release = func() { _ = syscall.Flock(int(s.guard.Fd()), syscall.LOCK_UN) }
	if err := s.news(f); err != nil {
		release()
		return nil, err
	}
	return release, nil
}

// news calls f with what this server has not read.
func (s *store) news(f func(*line)) error {
	held, err := s.file.Stat()
	if err != nil {
		return err
	}
	now, err := nolink.Lstat(s.path)
	if err != nil || !os.SameFile(held, now) || held.Size() < s.read { // it was written anew
		if err := s.reopen(); err != nil {
			return err
		}
	}
	text, err := io.ReadAll(io.NewSectionReader(s.file, s.read, maxStored))
	if err != nil {
		return err
	}
	whole := bytes.LastIndexByte(text, '\n') + 1
	s.torn = whole < len(text)
	s.read += int64(whole)
	for one := range bytes.Lines(text[:whole]) {
		var x line
		if json.Unmarshal(one, &x) == nil && len(x.Sum) == sha256.Size {
			f(&x)
		}
	}
	return nil
}

// put appends a line. The caller holds the lock and has read everything.
func (s *store) put(x *line) error {
	text, err := json.Marshal(x)
	if err != nil {
		return err
	}
	if text = append(text, '\n'); s.torn {
		text = append([]byte{'\n'}, text...) // what is torn stays a line of its own
	}
	n, err := s.file.Write(text)
	if err != nil {
		s.torn = s.torn || n > 0
		return err
	}
	s.torn = false
	s.read, err = s.file.Seek(0, io.SeekEnd)
	return err
}

// replace writes the file anew. The caller holds the lock.
func (s *store) replace(lines []line) error {
	f, err := nolink.Temporary(s.path, 0o600)
	if err != nil {
		return err
	}
	next := &store{file: f}
	for i := range lines {
		err = errors.Join(err, next.put(&lines[i]))
	}
	if err := nolink.Settle(f, s.path, err); err != nil {
		return err
	}
	if err := s.reopen(); err != nil {
		return err
	}
	return s.news(func(*line) {})
}

func (s *store) close() {
	for _, f := range []*os.File{s.file, s.guard, s.alive} {
		if f != nil {
			_ = f.Close() // everything is written
		}
	}
	if s.alive != nil {
		_ = os.Remove(s.aliveFile(s.owner))
	}
}

// Open is New with keys that are kept in a folder: all servers of a user share them, those of the same time and the
// next ones. where names what a request is about, such as the directory of an experiment, which has other names
// at other servers. If the folder cannot be used, requests with a key are refused.
func Open(dir string, where func(path string) string, next handler, now func() time.Time) *Repeats {
	x := New(next, now)
	x.where = where
	s, err := openStore(dir)
	if err == nil {
		x.store = s
		var release func()
		if release, err = s.hold(x.remember); err == nil {
			release()
		}
	}
	if err != nil {
		x.broken = fmt.Errorf("the keys of requests cannot be kept: %w", err)
	}
	return x
}

// remember takes a line of another server, or of an earlier one.
func (x *Repeats) remember(l *line) {
	if x.now().Sub(l.Began) >= keptFor {
		return
	}
	if l.Failed {
		delete(x.known, l.Name)
		return
	}
	if x.known[l.Name] == nil {
		x.order = append(x.order, l.Name)
	}
	x.known[l.Name] = &request{sum: [sha256.Size]byte(l.Sum), began: l.Began, owner: l.Owner, done: l.Done,
		status: l.Status, media: l.Media, answer: l.Answer}
}

// lines are those of all known requests.
func (x *Repeats) lines() (list []line) {
	for _, name := range x.order {
		if r := x.known[name]; r != nil {
			list = append(list, *r.line(name))
		}
	}
	return list
}

func (r *request) line(name string) *line {
	return &line{Name: name, Sum: r.sum[:], Began: r.began, Owner: r.owner, Done: r.done, Status: r.status,
		Media: r.media, Answer: r.answer}
}

// hold has the requests of all servers for this one alone, until release is called.
func (x *Repeats) hold() (release func(), err error) {
	switch {
	case x.broken != nil:
		return nil, x.broken
	case x.store == nil:
		return func() {}, nil
	}
	if release, err = x.store.hold(x.remember); err != nil {
		return nil, fmt.Errorf("the keys of requests cannot be read: %w", err)
	}
	return release, nil
}

// keep writes a line. The caller holds the requests.
func (x *Repeats) keep(l *line) error {
	if x.store == nil {
		return nil
	}
	if x.store.read > mostStored {
		if err := x.store.replace(x.lines()); err != nil {
			return err
		}
	}
	return x.store.put(l)
}

// Close gives the files back.
func (x *Repeats) Close() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.store != nil {
		x.store.close()
		x.store, x.broken = nil, errClosed
	}
}

var errClosed = errors.New("the server ends")
