package guard

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/tunehost/tunehost/host/storage/nolink"
)

// URLName is the name of the file with the URL of the server, in the folder of the tokens. A program that sends its
// token to a fixed address gives it to any program that listens there; one that reads this file sends it to the server.
const URLName = "serve-url"

// maxURL is longer than any URL of a server, in bytes.
const maxURL = 1 << 10

// announceEvery is how often a server looks whether the file is still there: another server removes it at its end.
const announceEvery = time.Second

// announced is a listener whose URL is in a file until it is closed.
type announced struct {
	net.Listener
	path, url string
	once      sync.Once
	over      chan struct{}
	left      sync.WaitGroup
}

// Announce writes the URL of a listener into a folder, and removes it when the listener is closed. Of several servers,
// the one that began last has the file; when it ends, one of the others writes its own URL.
func Announce(l net.Listener, folder, url string) (net.Listener, error) {
	a := &announced{Listener: l, path: filepath.Join(folder, URLName), url: url, over: make(chan struct{})}
	if err := a.write(); err != nil {
		return nil, err
	}
	a.left.Go(a.stay)
	return a, nil
}

func (a *announced) write() error {
	f, err := nolink.Temporary(a.path, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(a.url + "\n")
	return nolink.Settle(f, a.path, err)
}

// stay writes the file again when there is none.
func (a *announced) stay() {
	ticks := time.NewTicker(announceEvery)
	defer ticks.Stop()
	for {
		select {
		case <-a.over:
			return
		case <-ticks.C:
			if _, err := os.Lstat(a.path); errors.Is(err, fs.ErrNotExist) {
				_ = a.write() // the folder may be gone, too
			}
		}
	}
}

// Close implements net.Listener.
func (a *announced) Close() error {
	a.once.Do(func() {
		close(a.over)
		a.left.Wait()
		if text, err := nolink.ReadFile(a.path, maxURL); err == nil && string(text) == a.url+"\n" {
			_ = nolink.Remove(a.path) // the user may have removed it
		}
	})
	return a.Listener.Close()
}
