package pluginset

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/tunehost/tunehost/host/agent/upload"
	"github.com/tunehost/tunehost/host/exec/remote"
)

// uploads returns the files that are sent to nodes without the experiment's files: those that the file names in upload,
// and those that the command of the trainable names.
func (p *Set) uploads(base string) *remote.Uploads {
	if p.shipped != nil {
		return p.shipped
	}
	e := p.setup.Plan.Experiment
	p.shipped = &remote.Uploads{Base: base, Skip: upload.Aside(base, p.setup.Dir.Path()), Large: p.large,
		Upload: append(named(base, e.Trainable.Command), e.Upload...)}
	if p.setup.Dir.Path() != "" { // it is kept
		p.shipped.Sent = p.compared(upload.Remember(p.setup.Dir.Uploads()))
	}
	return p.shipped
}

// compared warns of files that are not as they were when they were first sent: their trials cannot be compared.
func (p *Set) compared(m *upload.Memory) func([]string, *upload.Tree) {
	return func(names []string, tree *upload.Tree) {
		changed, err := m.Changes(names, tree)
		if err != nil {
			p.setup.Log.Once("memory of uploads", err.Error())
		}
		if len(changed) > 0 {
			p.setup.Log.Warn(upload.Warning(changed))
		}
	}
}

// named returns the files of a folder that a command names.
func named(base string, command []string) (files []string) {
	for _, word := range command {
		if !filepath.IsLocal(word) {
			continue
		}
		if info, err := os.Lstat(filepath.Join(base, word)); err == nil && info.Mode().IsRegular() {
			files = append(files, word)
		}
	}
	return files
}

func (p *Set) large(tree string, bytes int64) {
	p.setup.Log.Once("large upload "+tree, fmt.Sprintf("%d MiB of %s were sent to a node, and will be to each other "+
		"one: nodes that share the file system need not copy anything", bytes>>20, tree))
}
