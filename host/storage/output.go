package storage

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/tunehost/tunehost/host/storage/nolink"
	"github.com/tunehost/tunehost/host/storage/ownership"
)

// Output is a file that the user has named with -o.
type Output struct {
	// named is the path as the user wrote it.
	named string
	// path is absolute; its folder has no links.
	path string
	// old is the file that is replaced; nil: there is none.
	old fs.FileInfo
}

// FindOutput returns the file with a path. It is a [*PlaceError] if the file may not be written: links are not
// followed, and only a plain file of this user is replaced.
func FindOutput(file string) (*Output, error) {
	o := &Output{named: file}
	folder, err := o.folder()
	if err != nil {
		return nil, err
	}
	o.path = filepath.Join(folder, filepath.Base(file))
	if err := o.checkFolder(folder); err != nil {
		return nil, err
	}
	o.old, err = os.Lstat(o.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return o, nil
	case err != nil:
		return nil, o.failed(err)
	}
	return o, o.checkOld()
}

// Name returns the path as the user wrote it.
func (o *Output) Name() string { return o.named }

// Write writes the file, which only this user can read: it has what an experiment's directory has. One that exists is
// replaced once the new one is complete, and keeps its mode. The place is
// checked again, because making the content takes a while.
func (o *Output) Write(b []byte) error {
	o, err := FindOutput(o.named)
	if err != nil {
		return err
	}
	f, err := nolink.Temporary(o.path, fileMode)
	if err != nil {
		return o.failed(err)
	}
	_, err = f.Write(b)
	if o.old != nil {
		err = errors.Join(err, f.Chmod(o.old.Mode().Perm()))
	}
	if err = nolink.Settle(f, o.path, err); err != nil {
		return o.failed(err)
	}
	return nil
}

// folder returns the folder of the file, without links.
func (o *Output) folder() (path string, err error) {
	named := filepath.Dir(o.named)
	if path, err = filepath.Abs(named); err == nil {
		path, err = filepath.EvalSymlinks(path)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return "", o.refused("there is no folder %s", named)
	}
	if err != nil {
		return "", o.failed(err)
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return "", o.failed(err)
	case !info.IsDir():
		return "", o.refused("%s is not a folder", named)
	}
	return path, nil
}

// checkFolder refuses folders of devices and of experiments, where a file could replace a record.
func (o *Output) checkFolder(folder string) error {
	if at := folder + "/"; strings.HasPrefix(at, "/dev/") && !strings.HasPrefix(at, "/dev/shm/") {
		return o.refused("/dev is for devices; write to another folder")
	}
	for at := folder; ; at = filepath.Dir(at) {
		if ofExperiment(at) {
			return o.refused("this is in the directory of the experiment %s, which is for its own files; write to "+
				"another folder", filepath.Base(at))
		}
		if at == filepath.Dir(at) {
			return nil
		}
	}
}

// ofExperiment reports whether a folder is the directory of an experiment, also of one that has lost a file. The folder
// of a user's experiment.yaml is none: it has no record.
func ofExperiment(folder string) bool {
	found := 0
	for _, name := range []string{"experiment.yaml", "run.json", "journal"} {
		if _, err := os.Lstat(filepath.Join(folder, name)); err == nil {
			found++
		}
	}
	return found > 1
}

// checkOld refuses to replace what is not a plain file, or not one that this user may write.
func (o *Output) checkOld() error {
	mode := o.old.Mode()
	if !mode.IsRegular() {
		return o.refused("this is %s; expected a plain file, or a name that is not used", nolink.KindOf(mode))
	}
	if err := o.checkOwner(os.Geteuid()); err != nil {
		return err
	}
	if mode&0o200 == 0 {
		return o.refused("the file is read-only (its mode is %04o); choose another name or run chmod u+w", mode.Perm())
	}
	return nil
}

// checkOwner refuses to replace a file of another user than me.
func (o *Output) checkOwner(me int) error {
	if owner, _, known := ownership.Of(o.old); known && owner != me {
		return o.refused("the file belongs to another user, %d (you are %d); choose another name", owner, me)
	}
	return nil
}

func (o *Output) refused(format string, args ...any) error {
	return &PlaceError{Text: "-o " + o.named + ": " + fmt.Sprintf(format, args...)}
}

// failed says which file an error of the system is about.
func (o *Output) failed(err error) error {
	return &PlaceError{Text: fmt.Sprintf("-o %s: %v", o.named, reason(err)), Err: err}
}
