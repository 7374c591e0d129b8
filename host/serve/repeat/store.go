package repeat

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/tunehost/tunehost/host/storage/nolink"
)

// store keeps requests in a file for the next server: a line when one begins, and another one with its answer.
type store struct {
	path string
	file *os.File
	size int64
}

// line is a line of the file.
type line struct {
	Name  string    `json:"name"`
	Sum   []byte    `json:"sum"`
	Began time.Time `json:"began"`
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

// errTaken says that another server has the file; it keeps the keys of its own requests.
var errTaken = errors.New("another server has the file")

// openStore opens the file for a scope, such as the folders of a server, in a folder.
func openStore(dir, scope string) (*store, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	sum := sha256.Sum256([]byte(scope))
	s := &store{path: filepath.Join(dir, "serve-requests-"+hex.EncodeToString(sum[:8]))}
	f, err := nolink.OpenFile(s.path, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := lock(f); err != nil {
		_ = f.Close()
		return nil, err
	}
	s.file = f
	return s, nil
}

func lock(f *os.File) error {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return errTaken
	}
	return err
}

// each calls f with the lines of the file. A torn last line is none.
func (s *store) each(f func(*line)) error {
	text, err := nolink.ReadFile(s.path, maxStored)
	if err != nil {
		return err
	}
	s.size = int64(len(text))
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, 2*maxAnswer)
	for lines.Scan() {
		var x line
		if json.Unmarshal(lines.Bytes(), &x) == nil && len(x.Sum) == sha256.Size {
			f(&x)
		}
	}
	return lines.Err()
}

// put appends a line.
func (s *store) put(x *line) error {
	text, err := json.Marshal(x)
	if err != nil {
		return err
	}
	n, err := s.file.Write(append(text, '\n'))
	s.size += int64(n)
	return err
}

// replace writes the file anew.
func (s *store) replace(lines []line) error {
	f, err := nolink.Temporary(s.path, 0o600)
	if err != nil {
		return err
	}
	next := &store{path: s.path, file: f}
	if err = lock(f); err == nil {
		for i := range lines {
			err = errors.Join(err, next.put(&lines[i]))
		}
	}
	if err != nil {
		return errors.Join(err, f.Close(), os.Remove(f.Name()))
	}
	if err := os.Rename(f.Name(), s.path); err != nil {
		return errors.Join(err, f.Close())
	}
	_ = s.file.Close()
	*s = *next
	return nil
}

// Open is New with keys that are kept in a folder for the next server of the same scope, such as its folders. If
// the folder cannot be used, requests with a key are refused.
func Open(dir, scope string, next handler, now func() time.Time) *Repeats {
	x := New(next, now)
	s, err := openStore(dir, scope)
	switch {
	case errors.Is(err, errTaken):
		return x
	case err == nil:
		x.store = s
		err = s.each(x.remember)
	}
	if err == nil && s.size > mostStored {
		err = s.replace(x.lines())
	}
	if err != nil {
		x.broken = fmt.Errorf("the keys of requests cannot be kept: %w", err)
	}
	return x
}

// remember takes a line of an earlier server.
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
	x.known[l.Name] = &request{sum: [sha256.Size]byte(l.Sum), began: l.Began, done: l.Done, lost: !l.Done,
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
	return &line{Name: name, Sum: r.sum[:], Began: r.began, Done: r.done, Status: r.status, Media: r.media,
		Answer: r.answer}
}

// keep writes a line.
func (x *Repeats) keep(l *line) error {
	if x.store == nil {
		return nil
	}
	if x.store.size > mostStored {
		if err := x.store.replace(x.lines()); err != nil {
			return err
		}
	}
	return x.store.put(l)
}

// Close gives the file back.
func (x *Repeats) Close() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.store != nil {
		_ = x.store.file.Close() // everything is written
		x.store = nil
	}
}
