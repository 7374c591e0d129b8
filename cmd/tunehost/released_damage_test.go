package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/core/journal"
)

// harm has the damage that was done to copies of released experiments; -rewrite makes the missing
// ones of the newest version. dir is the copy, others the folder of the undamaged ones.
var harm = []struct {
	name, of string
	do       func(dir, others string) error
}{
	{"torn", "simple", func(dir, _ string) error { return last(dir, func(b []byte) []byte { return b[:len(b)-60] }) }},
	{"bit-flipped", "extended", func(dir, _ string) error {
		return first(dir, func(b []byte) []byte { b[len(b)/2] ^= 4; return b })
	}},
	{"cut-in-the-middle", "extended", func(dir, _ string) error {
		return first(dir, func(b []byte) []byte { return b[:len(b)/2] })
	}},
	{"segment-missing", "extended", func(dir, _ string) error { return os.Remove(segments(dir)[0]) }},
	{"segments-swapped", "extended", func(dir, _ string) error {
		s := segments(dir)
		return errors.Join(os.Rename(s[0], s[0]+"x"), os.Rename(s[1], s[0]), os.Rename(s[0]+"x", s[1]))
	}},
	{"frame-of-another-run", "simple", func(dir, others string) error {
		other, err := os.ReadFile(segments(filepath.Join(others, "asktell"))[0])
		return errors.Join(err, last(dir, func(b []byte) []byte { return append(b, other[64:]...) }))
	}},
	{"frame-of-another-run-within", "simple", func(dir, others string) error {
		other, err := os.ReadFile(segments(filepath.Join(others, "asktell"))[0])
		return errors.Join(err, last(dir, func(b []byte) []byte {
			end := 64 + 40 + int(binary.LittleEndian.Uint32(b[64+12:]))
			return slices.Concat(b[:end], other[64:64+40+int(binary.LittleEndian.Uint32(other[64+12:]))], b[end:])
		}))
	}},
	{"journal-of-another-run", "simple", func(dir, others string) error {
		path := filepath.Join(dir, "journal")
		return errors.Join(os.RemoveAll(path), os.CopyFS(path, os.DirFS(filepath.Join(others, "asktell", "journal"))))
	}},
	{"length-of-4-gib", "simple", func(dir, _ string) error {
		return first(dir, func(b []byte) []byte { binary.LittleEndian.PutUint32(b[64+12:], 1<<32-1); return b })
	}},
	{"newer-journal", "simple", func(dir, _ string) error {
		return first(dir, func(b []byte) []byte {
			binary.LittleEndian.PutUint16(b[8:], 99)
			binary.LittleEndian.PutUint32(b[60:], crc32.Checksum(b[:60], crc32.MakeTable(crc32.Castagnoli)))
			return b
		})
	}},
	{"newer-event", "simple", func(dir, _ string) error { return addRecord(dir, []byte{0, 99}) }},
	// it begins once more
	{"senseless-event", "simple", func(dir, _ string) error { return addRecord(dir, []byte{0, 1}) }},
	{"newer-run-json", "simple", func(dir, _ string) error {
		return alter(filepath.Join(dir, "run.json"), replacing(`"version": 1`, `"version": 99`))
	}},
	{"newer-lock", "simple", func(dir, _ string) error {
		return alter(filepath.Join(dir, "tunehost.lock"), replacing(`"version": 1`, `"version": 99`))
	}},
	{"run-json-cut", "simple", func(dir, _ string) error {
		return alter(filepath.Join(dir, "run.json"), func(b []byte) []byte { return b[:40] })
	}},
	{"experiment-yaml-cut", "simple", func(dir, _ string) error {
		return alter(filepath.Join(dir, "experiment.yaml"), func(b []byte) []byte { return b[:40] })
	}},
}

// Damaged experiments give the same answers as always, and refused ones are not changed. In the
// journal: bit flip, cut, swapped or missing segment, frame of another run, future version, 4 GiB
// length. B-086
func TestReleasedDamaged(t *testing.T) {
	t.Parallel()
	for _, version := range versions(t) {
		if *rewrite && newest(t, version) {
			makeDamaged(t, version)
		}
		dirs, err := filepath.Glob(version + "/damaged/*")
		if err != nil || len(dirs) == 0 {
			t.Fatalf("%s has no damaged experiments: %v", version, err)
		}
		var got strings.Builder
		for _, dir := range dirs {
			fmt.Fprintf(&got, "== %s\n%s", filepath.Base(dir), answers(t, dir))
		}
		held(t, version, "damaged.txt", got.String())
	}
}

// answers has the output of the commands that read an experiment, and of the one that continues it.
func answers(t *testing.T, original string) string {
	t.Helper()
	var out strings.Builder
	dir := clone(t, original)
	for _, args := range [][]string{{"best", dir}, {"journal", dir}, {"replay", dir},
		{"resume", dir, "--resources", "cpu=1", "-v", "1"}} {
		before := sums(t, dir)
		exit, said := tunehost(dir, "", args...)
		// whose record was opened by then
		if exit != 0 && !slices.Equal(before, sums(t, dir)) && !strings.HasSuffix(original, "newer-lock") {
			t.Errorf("%s: %s has failed, and written", original, args[0])
		}
		fmt.Fprintf(&out, "%s: exit status %d\n%s", args[0], exit, complaints(said, exit))
	}
	return out.String()
}

// complaints are errors and warnings, without what differs from run to run.
func complaints(said string, exit int) string {
	var out strings.Builder
	for l := range strings.Lines(said) {
		if exit != 0 && strings.HasPrefix(l, "tunehost: ") || strings.Contains(l, "torn") ||
			strings.Contains(l, ".yaml:") {
			out.WriteString("  " + l)
		}
	}
	return out.String()
}

// sums are the checksums of all files but the log and the lock.
func sums(t *testing.T, dir string) (list []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == "host.log" || d.Name() == "LOCK" {
			return err
		}
		text, err := os.ReadFile(path)
		list = append(list, fmt.Sprintf("%s %x", path, sha256.Sum256(text)))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// makeDamaged makes the missing ones, of the record alone.
func makeDamaged(t *testing.T, version string) {
	t.Helper()
	for _, h := range harm {
		dir := filepath.Join(version, "damaged", h.name)
		if _, err := os.Stat(dir); err == nil {
			continue
		}
		of := clone(t, filepath.Join(version, h.of))
		err := errors.Join(os.RemoveAll(filepath.Join(of, "trials")), os.Remove(filepath.Join(of, ".reported")),
			os.CopyFS(dir, os.DirFS(of)), h.do(dir, version))
		if err != nil {
			t.Fatalf("%s: %v", h.name, err)
		}
	}
}

func segments(dir string) []string {
	list, _ := filepath.Glob(filepath.Join(dir, "journal", "*.tj"))
	return list
}

func first(dir string, by func([]byte) []byte) error { return alter(segments(dir)[0], by) }

func last(dir string, by func([]byte) []byte) error {
	s := segments(dir)
	return alter(s[len(s)-1], by)
}

func alter(path string, by func([]byte) []byte) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return os.WriteFile(path, by(b), 0o644)
}

func replacing(from, to string) func([]byte) []byte {
	return func(b []byte) []byte { return bytes.Replace(b, []byte(from), []byte(to), 1) }
}

// addRecord appends to the journal as a newer program would.
func addRecord(dir string, b []byte) error {
	d, err := journal.OpenDir(filepath.Join(dir, "journal"))
	if err != nil {
		return err
	}
	j, _, err := journal.Open(d, journal.Options{}, func(uint64, [][]byte) error { return nil })
	if err != nil {
		return err
	}
	_, err = j.Append([][]byte{b})
	return errors.Join(err, j.Close(), d.Close())
}
