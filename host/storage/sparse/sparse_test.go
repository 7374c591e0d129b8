package sparse

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
)

const hole = 3 << 20

// holed makes a file with data at these places, and of this size.
func holed(t *testing.T, size int64, at ...int64) *os.File {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "f"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	if err := f.Truncate(size); err != nil {
		t.Fatal(err)
	}
	for _, x := range at {
		if _, err := f.WriteAt([]byte("data"), x); err != nil {
			t.Fatal(err)
		}
	}
	return f
}

// A file has the same content and the same holes after it is copied, wherever the holes are.
func TestHoles(t *testing.T) {
	for name, f := range map[string]*os.File{
		"empty": holed(t, 0), "dense": holed(t, 4, 0), "nothing but a hole": holed(t, hole),
		"at the end": holed(t, hole, 0), "at the beginning": holed(t, hole, hole-4),
		"on both sides": holed(t, 2*hole, hole), "several": holed(t, 5*hole, 0, hole, 3*hole),
	} {
		want, err := io.ReadAll(f)
		if err != nil {
			t.Fatal(err)
		}
		holes, err := Hole(f)
		if err != nil || len(want) > 4 && holes < hole/2 || len(want) <= 4 && holes != 0 {
			t.Errorf("%s: %d bytes of holes, %v", name, holes, err)
		}
		var read, told bytes.Buffer
		if n, err := Read(&read, f); err != nil || n != int64(len(want)) || !bytes.Equal(read.Bytes(), want) {
			t.Errorf("%s: %d bytes are read, of %d: %v", name, n, len(want), err)
		}
		for _, others := range [][]io.Writer{nil, {&told}} {
			out := holed(t, 0)
			if _, err := f.Seek(0, io.SeekStart); err != nil {
				t.Fatal(err)
			}
			if n, err := Copy(out, f, others...); err != nil || n != int64(len(want)) {
				t.Errorf("%s: %d bytes are copied, of %d: %v", name, n, len(want), err)
			}
			if _, err := out.Seek(0, io.SeekStart); err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(out)
			if left, _ := Hole(out); err != nil || !bytes.Equal(got, want) || left < holes {
				t.Errorf("%s: the copy has %d bytes, of %d, and %d in holes, of %d", name, len(got), len(want), left,
					holes)
			}
		}
		if !bytes.Equal(told.Bytes(), want) {
			t.Errorf("%s: the copy tells %d bytes, of %d", name, told.Len(), len(want))
		}
	}
}

// What is written through a Writer is the same file, in which long runs of zeros take no room.
func TestWriter(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		var want []byte
		for range r.IntN(6) {
			part := make([]byte, r.IntN(100_000))
			if r.IntN(2) == 0 {
				for i := range part {
					part[i] = byte(r.IntN(3))
				}
			}
			want = append(want, part...)
		}
		f, err := os.Create(filepath.Join(t.TempDir(), "f"))
		if err != nil {
			t.Fatal(err)
		}
		w := NewWriter(f)
		for left := want; len(left) > 0; {
			n := 1 + r.IntN(len(left))
			if m, err := w.Write(left[:n]); m != n || err != nil {
				t.Fatal(m, err)
			}
			left = left[n:]
		}
		if err := errors.Join(w.End(), f.Close()); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(f.Name()); err != nil || !bytes.Equal(got, want) {
			t.Fatalf("%d bytes, want %d: %v", len(got), len(want), err)
		}
	}
}

// A mebibyte of zeros takes no room, also at the end of a file.
func TestWriterLeavesHoles(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "f"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w := NewWriter(f)
	_, first := w.Write(append([]byte("data"), make([]byte, 1<<20)...))
	_, second := w.Write(make([]byte, 1<<20))
	if err := errors.Join(first, second, w.End()); err != nil {
		t.Fatal(err)
	}
	holes, err := Hole(f)
	if err != nil || holes > 0 && holes < 2<<20-2*block { // 0: the file system has no holes
		t.Errorf("%d bytes are in holes, %v", holes, err)
	}
}
