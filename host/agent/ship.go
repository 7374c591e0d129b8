package agent

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/tunehost/tunehost/host/agent/message"
	"github.com/tunehost/tunehost/host/agent/upload"
	"github.com/tunehost/tunehost/host/storage/nolink"
)

// uploads is the folder of the trees that the host has uploaded.
const uploads = "files"

// shipped are the trees that are here, by their digests, each with its folder.
type shipped struct {
	mu      sync.Mutex
	folders map[string]string
	cache   *upload.Cache // nil: not opened yet
}

// ship makes sure that a tree of the host is here, and answers with its place.
func (a *Agent) ship(s *stream) error {
	var want message.Ship
	if err := s.ask(&want); err != nil {
		return err
	}
	if a.Dir == "" {
		return errors.New("this agent has no folder for files")
	}
	a.shipped.mu.Lock()
	defer a.shipped.mu.Unlock()
	if path := a.shipped.folders[want.Digest]; path != "" {
		return s.placed(path, nil)
	}
	if err := s.placed("", nil); err != nil {
		return err
	}
	t, err := upload.Read(s.Conn, want.Root)
	if err != nil {
		return err
	}
	if got := t.Digest(); got != want.Digest {
		return errors.New("the list of files is not the one that was announced")
	}
	path, err := a.placeTree(s, &t)
	if err != nil {
		return err
	}
	if a.shipped.folders == nil {
		a.shipped.folders = map[string]string{}
	}
	a.shipped.folders[want.Digest] = path
	return s.placed(path, nil)
}

// placeTree returns the place of a tree: the host's own path, or a new folder.
func (a *Agent) placeTree(s *stream, t *upload.Tree) (path string, err error) {
	if t.Here() {
		return t.Root, s.Writer.Write(message.End, nil) // nothing is missing
	}
	path = filepath.Join(a.Dir, uploads, strconv.Itoa(len(a.shipped.folders)))
	if err := errors.Join(nolink.RemoveAll(path), nolink.MkdirAll(path, dirMode)); err != nil {
		return "", err
	}
	if err = upload.Place(s.Conn, t, path, a.cache()); err != nil {
		_ = nolink.RemoveAll(path)
	}
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		// The host must not take this for an error of its own disk.
		return "", fmt.Errorf("the disk of the node is full: %s needs %.1f MB in %s", t.Root, float64(t.Size())/1e6,
			a.Dir)
	}
	return path, err
}

// cache opens the cache of the node.
func (a *Agent) cache() *upload.Cache {
	if a.shipped.cache == nil {
		c, err := upload.OpenCache(os.TempDir())
		if err != nil {
			a.Log("files that the host uploads are kept for no other agent: " + err.Error())
		}
		c.Clean(time.Now())
		a.shipped.cache = c
	}
	return a.shipped.cache
}

func (s *shipped) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cache != nil {
		s.cache.Close()
	}
}
