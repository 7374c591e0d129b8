package storage

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A file in the place of a directory is a PlaceError, which commands report as a mistake of the user.
func TestPlaceOfNoDirectory(t *testing.T) {
	dir := t.TempDir()
	file, link := filepath.Join(dir, "file"), filepath.Join(dir, "link")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(dir, "nowhere"), link); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		filepath.Join(file, "b"):                       "cannot be there: " + file + " is not a directory",
		filepath.Join(link, "b"):                       link + " is a link that leads nowhere: remove it",
		filepath.Join(dir, strings.Repeat("long", 99)): "file name too long",
	} {
		_, err := At(path)
		isPlace(t, err, want)
	}
}

// A file in the place of the experiment's own directory is none that could be trusted; a link to one may be.
func TestFileInPlace(t *testing.T) {
	file, link := filepath.Join(t.TempDir(), "file"), filepath.Join(t.TempDir(), "link")
	if err := errors.Join(os.WriteFile(file, nil, 0o600), os.Symlink(t.TempDir(), link)); err != nil {
		t.Fatal(err)
	}
	for path, trusted := range map[string]bool{file: false, link: true} {
		d := Dir{path: path}
		if err := d.Usable(true); (err == nil) != trusted {
			t.Errorf("%s, trusted: %v", path, err)
		}
		err := d.Usable(false)
		if err == nil || strings.Contains(err.Error(), "--trust-dir") != trusted {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// The error names the directory that a permission closes, and the reason. Other errors stay as they
// are.
func TestClosed(t *testing.T) {
	dir := t.TempDir()
	denied := &fs.PathError{Op: "open", Path: dir, Err: fs.ErrPermission}
	isPlace(t, Closed(dir, denied), dir+": permission denied (the mode of "+dir+" is 0")
	if err := Closed(dir, fs.ErrNotExist); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

func isPlace(t *testing.T, err error, want string) {
	t.Helper()
	var place *PlaceError
	if !errors.As(err, &place) || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, not a PlaceError with %q", err, want)
	}
}
