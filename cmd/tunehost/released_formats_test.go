package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/journal"
	"github.com/tunehost/tunehost/core/record"
	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/plugin/lockfile"
	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/host/storage/runfile"
)

// Today's program writes the formats of the newest released experiments: a change of a format needs
// new ones.
func TestReleasedFormats(t *testing.T) {
	t.Parallel()
	list := versions(t)
	held(t, list[len(list)-1], "formats.txt", formats(t))
}

// Each kind of event is in a released record, except those that no command causes.
func TestReleasedHaveEveryEvent(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{
		"*core.NodeLeft":     true, // the only node stays
		"*core.PluginFailed": true, // needs a plugin that fails three times; the bundled ones do not
		"*core.Ticked":       true, // a timer of minutes
		"*core.LeaseRouted":  true, // needs a node that does not see the files of this machine
	}
	for _, version := range versions(t) {
		for _, dir := range whole(t, version) {
			eachRecord(t, filepath.Join(dir, "journal"), func(e core.Event) { seen[fmt.Sprintf("%T", e)] = true })
		}
	}
	eachKind(t, func(_ int, e core.Event) {
		if name := fmt.Sprintf("%T", e); !seen[name] {
			t.Errorf("no released record has a %s: let testdata/released/make.sh bring one about", name)
		}
	})
}

func eachRecord(t *testing.T, path string, do func(core.Event)) {
	t.Helper()
	dir, err := journal.OpenDir(path)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	_, err = journal.Verify(dir, journal.Options{}, func(_ uint64, records [][]byte) error {
		for _, b := range records {
			_, e, err := record.Parse(b)
			if err != nil {
				return err
			}
			do(e)
		}
		return nil
	})
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

// eachKind calls do with every kind of event, by its number.
func eachKind(t *testing.T, do func(kind int, e core.Event)) {
	t.Helper()
	for kind := 1; ; kind++ {
		_, e, err := record.Parse(binary.AppendUvarint([]byte{0}, uint64(kind)))
		if errors.Is(err, record.ErrNewer) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		do(kind, e)
	}
}

// formats lists the types in an experiment's files, a line each.
func formats(t *testing.T) string {
	t.Helper()
	var out strings.Builder
	fmt.Fprintf(&out, "journal: format %d\n", journalFormat(t))
	fmt.Fprintf(&out, "run.json: %s\n", layout(reflect.TypeFor[runfile.File]()))
	fmt.Fprintf(&out, "tunehost.lock: version %d %s\n", lockfile.New("", nil).Version,
		layout(reflect.TypeFor[lockfile.File]()))
	fmt.Fprintf(&out, "MANIFEST.json: %s\n", layout(reflect.TypeFor[storage.Manifest]()))
	eachKind(t, func(kind int, e core.Event) {
		fmt.Fprintf(&out, "event %d: %T %s\n", kind, e, layout(reflect.TypeOf(e).Elem()))
	})
	return out.String()
}

// journalFormat is the version of the journals that are made today.
func journalFormat(t *testing.T) uint16 {
	t.Helper()
	path := t.TempDir()
	dir, err := journal.MakeDir(path)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	j, err := journal.Create(dir, journal.Options{RunID: journal.RunID{1}})
	if err = errors.Join(err, j.Close()); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(path + "/*.tj")
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	b, err := os.ReadFile(files[0])
	if err != nil || len(b) < 10 {
		t.Fatal(len(b), err)
	}
	return binary.LittleEndian.Uint16(b[8:])
}

// layout describes a type as far as it is written: the names and types of its fields.
func layout(of reflect.Type) string {
	switch of.Kind() {
	case reflect.Pointer:
		return layout(of.Elem())
	case reflect.Slice:
		return "[]" + layout(of.Elem())
	case reflect.Struct:
		if of.NumField() == 0 || of.PkgPath() == "time" {
			return of.Name()
		}
	default:
		return of.Kind().String()
	}
	var fields []string
	for i := range of.NumField() {
		f := of.Field(i)
		if !f.IsExported() {
			continue
		}
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" && f.Anonymous { // its fields are written as those of the whole
			fields = append(fields, strings.TrimSuffix(strings.TrimPrefix(layout(f.Type), "{"), "}"))
			continue
		}
		if name == "" {
			name = f.Name
		}
		fields = append(fields, name+" "+layout(f.Type))
	}
	return "{" + strings.Join(fields, ", ") + "}"
}

// The experiment files of released experiments are valid today.
func TestReleasedFilesAreValid(t *testing.T) {
	t.Parallel()
	for _, version := range versions(t) {
		for _, dir := range whole(t, version) {
			source, err := os.ReadFile(filepath.Join(dir, "experiment.yaml"))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := config.Parse("experiment.yaml", source, config.WithoutTrainable()); err != nil {
				t.Errorf("%s: %v", dir, err)
			}
		}
	}
}
