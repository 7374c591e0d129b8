package agent

import (
	"errors"
	"path/filepath"

	"github.com/tunehost/tunehost/host/agent/message"
	"github.com/tunehost/tunehost/host/storage/nolink"
)

// maxProbe is the size of the largest file that a probe reads, in bytes.
const maxProbe = 256

// probe reads a small file of the host. If it is there, both sides see the same file system.
func (a *Agent) probe(s *stream) error {
	var p message.Probe
	if err := s.ask(&p); err != nil {
		return err
	}
	if !filepath.IsAbs(p.Path) {
		return errors.New("the path is not absolute")
	}
	text, err := nolink.ReadFile(p.Path, maxProbe)
	if err != nil {
		text = nil // the file does not exist, or is another one
	}
	info, err := nolink.Lstat(p.Path)
	return s.Put(message.Yes, message.Probed{Content: string(text), Trials: filepath.Join(a.Dir, trials),
		Folder: err == nil && info.IsDir()})
}
