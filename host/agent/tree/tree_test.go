package tree

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/host/agent/message"
	"github.com/tunehost/tunehost/host/storage/sparse"
)

// folder makes a folder with files; a name that ends with / is a folder.
func folder(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(name, "/") {
			_ = os.MkdirAll(path, 0o700)
		} else if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func contents(t testing.TB, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(dir, path)
		if err != nil || rel == "." {
			return err
		}
		if d.IsDir() {
			found[rel+"/"] = ""
			return nil
		}
		text, err := os.ReadFile(path)
		found[rel] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

var files = map[string]string{"a": "", "b/": "", "b/c": strings.Repeat("0123456789", 20_000), "b/d/": "", "b/d/e": "x"}

func TestTree(t *testing.T) {
	var wire bytes.Buffer
	sums, err := Send(t.Context(), message.NewWriter(&wire), folder(t, files), nil)
	if err != nil || len(sums) != 3 {
		t.Fatal(sums, err)
	}
	to, said := t.TempDir(), int64(0)
	n, err := Receive(&wire, to, func(bytes int64) { said = bytes })
	if err != nil || n != 200_001 || said != n {
		t.Fatal(n, said, err)
	}
	if got := contents(t, to); !maps.Equal(got, files) {
		t.Errorf("%d entries arrived: %v", len(got), got)
	}
}

// A transfer that is interrupted anywhere is continued by the next one, with the same files.
func TestInterrupted(t *testing.T) {
	from := folder(t, files)
	var all bytes.Buffer
	if _, err := Send(t.Context(), message.NewWriter(&all), from, nil); err != nil {
		t.Fatal(err)
	}
	whole := all.Len()
	for at := 0; at < whole; at += 1 + whole/50 {
		to := t.TempDir()
		if _, err := Receive(bytes.NewReader(all.Bytes()[:at]), to, nil); err == nil {
			t.Fatalf("cut at %d: no error", at)
		}
		have, err := Sizes(to)
		if err != nil {
			t.Fatal(err)
		}
		var rest bytes.Buffer
		if _, err := Send(t.Context(), message.NewWriter(&rest), from, have); err != nil {
			t.Fatal(err)
		}
		if _, err := Receive(&rest, to, nil); err != nil {
			t.Fatalf("cut at %d: %v", at, err)
		}
		if got := contents(t, to); !maps.Equal(got, files) {
			t.Fatalf("cut at %d: %d entries", at, len(got))
		}
		if sent := whole - rest.Cap(); at > 150_000 && rest.Cap() > whole {
			t.Errorf("cut at %d: all was sent again, %d", at, sent)
		}
	}
}

// A differing part of the receiver is detected.
func TestOtherBeginning(t *testing.T) {
	to := folder(t, map[string]string{"a": "12X4"})
	var wire bytes.Buffer
	from := folder(t, map[string]string{"a": "1234567"})
	if _, err := Send(t.Context(), message.NewWriter(&wire), from, Have{"a": 4}); err != nil {
		t.Fatal(err)
	}
	_, err := Receive(&wire, to, nil)
	if _, changed := errors.AsType[*ChangedError](err); !changed {
		t.Errorf("%v", err)
	}
}

// Links are neither sent nor followed.
func TestLinks(t *testing.T) {
	secret := folder(t, map[string]string{"secret": "s"})
	from := folder(t, nil)
	if err := os.Symlink(filepath.Join(secret, "secret"), filepath.Join(from, "link")); err != nil {
		t.Fatal(err)
	}
	if _, err := Send(t.Context(), message.NewWriter(io.Discard), from, nil); err == nil {
		t.Error("a link was sent")
	}
	to := folder(t, nil)
	if err := os.Symlink(secret, filepath.Join(to, "out")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"out/new", "out/secret", "../x", "/x", "a/../../x", "", "."} {
		for _, from := range []int64{0, 1} {
			var wire bytes.Buffer
			w := message.NewWriter(&wire)
			_ = w.Put(message.Item, Entry{Path: name, Size: 1, From: from})
			_ = w.Write(message.Data, []byte("x"))
			if _, err := Receive(&wire, to, nil); err == nil {
				t.Errorf("%q was written", name)
			}
		}
	}
	if got := contents(t, secret); !maps.Equal(got, map[string]string{"secret": "s"}) {
		t.Errorf("outside there is %v", got)
	}
}

// Nothing is written outside of the folder, whatever the sender sends.
func FuzzReceive(f *testing.F) {
	var wire bytes.Buffer
	from := folder(f, map[string]string{"a": "1", "b/c": "2"})
	if _, err := Send(context.Background(), message.NewWriter(&wire), from, nil); err != nil {
		f.Fatal(err)
	}
	f.Add(wire.Bytes())
	wire.Reset()
	w := message.NewWriter(&wire)
	_ = w.Put(message.Item, Entry{Path: "x/../../y", Size: 1 << 40})
	_ = w.Put(message.No, message.Refusal{Why: "no"})
	f.Add(wire.Bytes())
	f.Fuzz(func(t *testing.T, sent []byte) {
		top := t.TempDir()
		to := filepath.Join(top, "to")
		if err := os.Mkdir(to, 0o700); err != nil {
			t.Fatal(err)
		}
		_, _ = Receive(bytes.NewReader(sent), to, nil)
		if list, _ := os.ReadDir(top); len(list) != 1 {
			t.Errorf("%d entries beside the folder", len(list))
		}
	})
}

// What has holes, such as the file of a database, takes as little room where it is received.
func TestHoles(t *testing.T) {
	from := folder(t, map[string]string{"data": "x"})
	if err := os.Truncate(filepath.Join(from, "data"), 8<<20); err != nil {
		t.Fatal(err)
	}
	var wire bytes.Buffer
	if _, err := Send(t.Context(), message.NewWriter(&wire), from, nil); err != nil {
		t.Fatal(err)
	}
	to := t.TempDir()
	if _, err := Receive(&wire, to, nil); err != nil {
		t.Fatal(err)
	}
	taken := func(dir string) int64 {
		f, err := os.Open(filepath.Join(dir, "data"))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		holes, err := sparse.Hole(f)
		if err != nil {
			t.Fatal(err)
		}
		return 8<<20 - holes
	}
	if before, now := taken(from), taken(to); now > before+1<<16 {
		t.Errorf("it takes %d bytes, and %d where it comes from", now, before)
	}
}
