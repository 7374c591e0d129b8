//go:build unix

package storage

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// FuzzManifest checks that a manifest is refused as damaged, or that exactly the listed files are
// restored, and that nothing is made elsewhere.
func FuzzManifest(f *testing.F) {
	f.Add([]byte(`{"trial":1,"attempt":1,"iteration":3,"files":[{"path":"w","bytes":3,` +
		`"sha256":"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"}]}`))
	for _, path := range []string{"../w", "/etc/passwd", "a/../../w", "w/x", ".", "", "a//w", `..\\w`, "a/w\u0000"} {
		f.Add([]byte(`{"files":[{"path":"` + path +
			`","bytes":3,"sha256":"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"}]}`))
	}
	root := f.TempDir()
	dir := filepath.Join(root, "000001")
	err := errors.Join(os.MkdirAll(filepath.Join(dir, contents, "a"), dirMode),
		os.WriteFile(filepath.Join(dir, contents, "w"), []byte("abc"), fileMode),
		os.WriteFile(filepath.Join(dir, contents, "a", "w"), []byte("abc"), fileMode))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if _, err := parseManifest(text); err != nil {
			return // as ReadManifest does; no need for the disk
		}
		to := filepath.Join(root, "restored", "1")
		if err := errors.Join(os.WriteFile(filepath.Join(dir, manifest), text, fileMode),
			os.RemoveAll(filepath.Join(root, "restored"))); err != nil {
			t.Fatal(err)
		}
		var damaged *DamagedError
		_, checked := CheckCheckpoint(dir, true)
		err := Restore(dir, to)
		if err != nil && !errors.As(err, &damaged) || err != nil && strings.Contains(err.Error(), "\n") {
			t.Fatalf("%T %q", err, err)
		}
		if (err == nil) != (checked == nil) {
			t.Fatalf("restored: %v, checked: %v", err, checked)
		}
		if err == nil {
			asListed(t, dir, to)
		}
		if found, _ := os.ReadDir(filepath.Join(root, "restored")); len(found) > 1 {
			t.Fatalf("%v", found)
		}
	})
}

// asListed checks that the restored files are those listed.
func asListed(t *testing.T, dir, to string) {
	m, err := ReadManifest(dir)
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{}
	for _, f := range m.Files {
		listed[filepath.FromSlash(f.Path)] = true
	}
	err = filepath.WalkDir(to, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(to, path)
		if !listed[rel] {
			t.Errorf("%s is not listed", rel)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
