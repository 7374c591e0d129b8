package command

import (
	"io"
	"os"
	"testing"
)

// Output before a report is processed first, even if nobody has started to read.
func TestIntake(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	in := &intake{}
	in.idle.L = &in.mu
	in.file = r
	if _, err := w.WriteString("first"); err != nil {
		t.Fatal(err)
	}
	dealt, awaited := false, make(chan bool)
	go func() {
		in.await()
		awaited <- dealt
	}()
	b := make([]byte, 64)
	if n, err := in.read(r, b); err != nil || string(b[:n]) != "first" {
		t.Fatalf("%q, %v", b[:n], err)
	}
	dealt = true
	w.Close()
	if _, err := in.read(r, b); err != io.EOF {
		t.Error(err)
	}
	in.end()
	if !<-awaited {
		t.Error("it did not wait for what was in the pipe")
	}
	in.await() // nothing more will arrive
}
