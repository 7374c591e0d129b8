package fake

import (
	"path/filepath"
	"reflect"
	"testing"

	"github.com/tunehost/tunehost/host/plugin/lockfile"
	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/host/storage/mirror"
	"github.com/tunehost/tunehost/host/storage/runfile"
)

// A plugin does not import the host, so that it has a copy of the names that the host uses in an
// experiment's directory: no path of the host may be missing in it.
func TestHostFiles(t *testing.T) {
	path := t.TempDir()
	dir, err := storage.At(path)
	if err != nil {
		t.Fatal(err)
	}
	used := []string{runfile.Path(dir), lockfile.Path(dir), filepath.Join(path, mirror.OwnerFile),
		filepath.Join(path, "LOCK"), filepath.Join(path, ".reported")}
	methods := reflect.ValueOf(dir)
	for i := range methods.NumMethod() {
		f, ok := methods.Method(i).Interface().(func() string)
		if name := methods.Type().Method(i).Name; ok && name != "Path" {
			used = append(used, f())
		}
	}
	if len(used) < 14 {
		t.Fatalf("only %d paths: %q", len(used), used)
	}
	for _, file := range used {
		if !ofHost(path, file) {
			t.Errorf("the state may be in %s, which the host uses", file)
		}
	}
}
