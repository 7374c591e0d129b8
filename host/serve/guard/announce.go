package guard

import (
	"errors"
	"io/fs"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/tunehost/tunehost/host/storage/nolink"
)

// URLName is the name of the file with the URL of the server, in the folder of the tokens. A program that sends its
// token to a fixed address gives it to any program that listens there; one that reads this file sends it to the server.
const URLName = "serve-url"

// maxURL is longer than any URL of a server, in bytes.
const maxURL = 1 << 10

// announceEvery is how often a server looks whether the file is still there: another server removes it at its end. One
// that was killed does not: each leftEvery looks it is asked whether anybody listens there, for at most dialFor.
const (
	announceEvery = time.Second
	leftEvery     = 5
	dialFor       = 500 * time.Millisecond
)

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

// stay writes the file again when there is none, or when the server that it names is gone.
func (a *announced) stay() {
	ticks := time.NewTicker(announceEvery)
	defer ticks.Stop()
	replaced := map[string]bool{}
	for looks := 1; ; looks++ {
		select {
		case <-a.over:
			return
		case <-ticks.C:
			_, err := os.Lstat(a.path)
			if errors.Is(err, fs.ErrNotExist) || looks%leftEvery == 0 && a.isLeft(replaced) {
				_ = a.write() // the folder may be gone, too
			}
		}
	}
}

// isLeft reports whether the file has the URL of a server that is gone. Each URL is replaced once: on another machine
// with the same folder a server may be there, which would write it again, and so on.
func (a *announced) isLeft(replaced map[string]bool) bool {
	text, err := nolink.ReadFile(a.path, maxURL)
	is := string(text)
	if err != nil || is == a.url+"\n" || replaced[is] || !refuses(strings.TrimSpace(is)) {
		return false
	}
	replaced[is] = true
	return true
}

// refuses reports whether nobody listens at a URL.
func refuses(text string) bool {
	u, err := url.Parse(text)
	if err != nil {
		return false
	}
	c, err := net.DialTimeout("tcp", u.Host, dialFor)
	if err == nil {
		_ = c.Close()
	}
	return errors.Is(err, syscall.ECONNREFUSED)
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
