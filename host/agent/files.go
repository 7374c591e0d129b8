package agent

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/tunehost/tunehost/host/agent/message"
	"github.com/tunehost/tunehost/host/agent/tree"
	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/host/storage/nolink"
)

const (
	dirMode  = 0o700
	fileMode = 0o600
)

// trials is the folder of the directories of trials.
const trials = "trials"

// files carries out an operation on the files of a trial.
func (a *Agent) files(s *stream) error {
	var f message.Files
	if err := s.ask(&f); err != nil {
		return err
	}
	dir, err := a.trialDir(f.Trial)
	if err != nil {
		return err
	}
	switch f.Op {
	case message.OpMake:
		return s.placed(dir, makeTrial(dir, &f))
	case message.OpStage:
		path, err := storage.Stage(dir, f.ID)
		return s.placed(path, err)
	case message.OpTake:
		return s.placed(storage.Staged(dir, f.ID), storage.Take(dir, f.ID, f.Path))
	}
	if err := below(dir, f.Path); err != nil {
		return err
	}
	switch f.Op {
	case message.OpGet:
		return s.get(f)
	case message.OpPut:
		return s.put(f.Path, f.Continue)
	case message.OpRemove:
		return s.placed(f.Path, nolink.RemoveAll(f.Path))
	}
	return fmt.Errorf("this agent cannot %q files: it is older than its host", f.Op)
}

// trialDir returns the directory of a trial here.
func (a *Agent) trialDir(name string) (string, error) {
	if a.Dir == "" {
		return "", errors.New("this agent has no folder for files")
	}
	if !filepath.IsLocal(name) || filepath.Base(name) != name || name == "." {
		return "", fmt.Errorf("%.100q cannot be the name of a trial's directory", name)
	}
	return filepath.Join(a.Dir, trials, name), nil
}

// below refuses paths outside of a folder. Package nolink refuses links in them.
func below(dir, path string) error {
	rel, err := filepath.Rel(dir, path)
	if err != nil || rel == "." || !filepath.IsLocal(rel) || filepath.Clean(path) != path {
		return fmt.Errorf("%.200q is not in the trial's directory", path)
	}
	return nil
}

func makeTrial(dir string, f *message.Files) error {
	if err := nolink.MkdirAll(dir, dirMode); err != nil {
		return err
	}
	for _, name := range f.Folders {
		if !filepath.IsLocal(name) {
			return fmt.Errorf("%.100q is not in the trial's directory", name)
		}
		if err := nolink.MkdirAll(filepath.Join(dir, name), dirMode); err != nil {
			return err
		}
	}
	return nolink.WriteFile(filepath.Join(dir, "params.json"), append(f.Params, '\n'), fileMode)
}

// placed answers with a path, or returns the error.
func (s *stream) placed(path string, err error) error {
	if err != nil {
		return err
	}
	return s.Put(message.Yes, message.Placed{Path: path})
}

// get sends a tree.
func (s *stream) get(f message.Files) error {
	folder, err := nolink.OpenDir(f.Path)
	if err != nil {
		return err
	}
	_ = folder.Close()
	if err := s.placed(f.Path, nil); err != nil {
		return err
	}
	_, err = tree.Send(context.Background(), s.Writer, f.Path, f.Have)
	return err
}

// put receives a tree, which replaces what is there, or the rest of one.
func (s *stream) put(path string, rest bool) error {
	if err := clear(path, rest); err != nil {
		return err
	}
	if err := nolink.MkdirAll(path, dirMode); err != nil {
		return err
	}
	have, err := tree.Sizes(path)
	if err == nil {
		err = s.Put(message.Yes, message.Placed{Path: path, Have: have})
	}
	if err != nil {
		return err
	}
	if _, err := tree.Receive(s.Conn, path, nil); err != nil {
		return err
	}
	return s.placed(path, nil)
}

// clear removes what is in the place of a tree, unless only the rest of the tree will be received.
func clear(path string, rest bool) error {
	if rest {
		return nil
	}
	err := nolink.RemoveAll(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
