package agent

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/tunehost/tunehost/host/agent/message"
	"github.com/tunehost/tunehost/host/storage/nolink"
)

const (
	// logPause is how often the agent looks at files of output.
	logPause = 200 * time.Millisecond
	// maxLogs is how many files a trial's programs may print into.
	maxLogs = 4096
)

// logs sends the output in a trial's files when it is written.
func (a *Agent) logs(s *stream) error {
	var want message.Logs
	if err := s.ask(&want); err != nil {
		return err
	}
	dir, err := a.trialDir(want.Trial)
	if err != nil {
		return err
	}
	if len(want.Names) > maxLogs {
		return fmt.Errorf("%d files of output are more than %d", len(want.Names), maxLogs)
	}
	f := follower{stream: s, dir: dir, names: want.Names}
	for _, name := range want.Names {
		if err := below(dir, filepath.Join(dir, name)); err != nil {
			return err
		}
		f.at = append(f.at, f.size(name))
	}
	if err := s.Put(message.Yes, struct{}{}); err != nil {
		return err
	}
	return f.follow(s.ended())
}

// ended is closed when the host sends nothing more on the stream.
func (s *stream) ended() <-chan struct{} {
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = io.Copy(io.Discard, s.Conn)
	}()
	return done
}

// follower reads files that others write.
type follower struct {
	stream *stream
	dir    string
	names  []string
	at     []int64 // the number of bytes that were sent, of each file
	buffer [message.Chunk]byte
}

// size returns the length of an earlier attempt's output, which was sent then.
func (f *follower) size(name string) int64 {
	info, err := nolink.Lstat(filepath.Join(f.dir, name))
	if err != nil {
		return 0
	}
	return info.Size()
}

// follow sends new output until the host ends it.
func (f *follower) follow(enough <-chan struct{}) error {
	tick := time.NewTicker(logPause)
	defer tick.Stop()
	for last := false; ; {
		for i := range f.names {
			if err := f.file(i); err != nil {
				return err
			}
		}
		if last {
			return f.stream.Writer.Write(message.End, nil)
		}
		select {
		case <-tick.C:
		case <-enough:
			last = true
		}
	}
}

// file sends new output of a file. A missing or unreadable file counts as empty, because a trial's
// programs may put anything in its place.
func (f *follower) file(i int) error {
	in, err := nolink.OpenFile(filepath.Join(f.dir, f.names[i]), os.O_RDONLY, 0)
	if err != nil {
		return nil
	}
	defer in.Close()
	named := false
	for {
		n, err := in.ReadAt(f.buffer[:], f.at[i])
		if n == 0 || err != nil && err != io.EOF {
			return nil
		}
		if !named {
			if err := f.stream.Put(message.Log, message.LogFile{Name: f.names[i]}); err != nil {
				return err
			}
			named = true
		}
		f.at[i] += int64(n)
		if err := f.stream.Writer.Write(message.Data, f.buffer[:n]); err != nil {
			return err
		}
	}
}
