package message

import (
	"bytes"
	"errors"
	"io/fs"
	"strings"
	"syscall"
	"testing"
)

func TestFrames(t *testing.T) {
	var b bytes.Buffer
	w := NewWriter(&b)
	if err := w.Put(Yes, Started{PID: 7}); err != nil {
		t.Fatal(err)
	}
	if err := w.Copy(Stdout, strings.NewReader(strings.Repeat("x", Chunk+1))); err != nil {
		t.Fatal(err)
	}
	var s Started
	if err := Expect(&b, Yes, &s); err != nil || s.PID != 7 {
		t.Errorf("%+v, %v", s, err)
	}
	for _, size := range []int{Chunk, 1} {
		if f, err := Read(&b, nil); err != nil || f.Kind != Stdout || len(f.Content) != size {
			t.Errorf("%q with %d bytes, %v; want %d", f.Kind, len(f.Content), err, size)
		}
	}
	if err := w.Write(Data, make([]byte, MaxFrame+1)); err == nil {
		t.Error("a frame that is too large was written")
	}
}

// A refusal crosses with what callers look for.
func TestRefusals(t *testing.T) {
	for _, c := range []struct{ err, is error }{
		{&fs.PathError{Op: "open", Path: "x", Err: syscall.ENOSPC}, syscall.ENOSPC},
		{&fs.PathError{Op: "open", Path: "x", Err: syscall.ENOENT}, fs.ErrNotExist},
		{errors.New("plain\x1b[31m"), nil},
	} {
		var b bytes.Buffer
		if err := NewWriter(&b).Put(No, RefusalOf(c.err)); err != nil {
			t.Fatal(err)
		}
		err := Expect(&b, Yes, nil)
		if err == nil || c.is != nil && !errors.Is(err, c.is) || strings.Contains(err.Error(), "\x1b") {
			t.Errorf("%v became %v", c.err, err)
		}
	}
}

// Data from another machine is read without a panic, and with no more memory than a frame may have.
func FuzzFrame(f *testing.F) {
	for _, content := range []string{`{"PID": 7}`, `{"Why": "no", "Errno": 28}`, `{"Code": 3}`, `{"Code": -1}`, ``} {
		var b bytes.Buffer
		for _, kind := range []Kind{Yes, No, Exit, 0} {
			if err := NewWriter(&b).Write(kind, []byte(content)); err != nil {
				f.Fatal(err)
			}
		}
		f.Add(b.Bytes())
	}
	f.Add([]byte{'y', 0xff, 0xff, 0xff, 0xff, '{'})
	f.Fuzz(func(t *testing.T, sent []byte) {
		r := bytes.NewReader(sent)
		for r.Len() > 0 {
			frame, err := Read(r, nil)
			if err != nil {
				return
			}
			if exit, err := ExitOf(frame.Content); err == nil && (exit.Code < 0 || exit.Code > 255 || exit.Signal < 0) {
				t.Errorf("%+v", exit)
			}
			var b bytes.Buffer
			if err := NewWriter(&b).Write(frame.Kind, frame.Content); err != nil {
				t.Fatal(err)
			}
			var s Started
			if err := Expect(&b, Yes, &s); err != nil && strings.ContainsAny(err.Error(), "\n\x1b") {
				t.Errorf("%q", err)
			}
		}
	})
}
