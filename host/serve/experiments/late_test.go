package experiments

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tunehost/tunehost/host/view/viewtest"
)

const finished = "finished"

// write writes an experiment whose trials have so many results.
func write(root, name, trials string, iterations uint64) *viewtest.Writer {
	w := viewtest.New(filepath.Join(root, name), []byte(strings.Replace(source, "trials: 3", "trials: "+trials, 1)), 1)
	w.Iterations = iterations
	w.Start(1)
	w.Run(-1)
	return w
}

// three is the catalog of a folder with three experiments, of which large has a large record.
func three(t *testing.T) (c *Catalog, large *viewtest.Writer) {
	t.Helper()
	root := t.TempDir()
	write(root, "a", "3", 3).Close()
	write(root, "z", "3", 3).Close()
	large = write(root, "large", "80", 1000)
	large.Close()
	if n := bytesOf(large.Dir.Path()); n <= atOnce {
		t.Fatalf("the record has %d bytes", n)
	}
	c = New(root)
	t.Cleanup(c.Close)
	return c, large
}

// hold holds up who opens the experiment in a directory.
func hold(t *testing.T, c *Catalog, dir string) (release func()) {
	t.Helper()
	file, err := stamp(dir)
	if err != nil {
		t.Fatal(err)
	}
	p := place{id: filepath.Base(dir), dir: dir}
	s, held, over := c.claim(p, file), make(chan struct{}), make(chan struct{})
	go s.once.Do(func() {
		close(held)
		<-over
		s.opened = s.begin(p)
	})
	<-held
	return func() {
		close(over)
		c.release(s)
	}
}

// listed returns the line of an experiment, of three.
func listed(t *testing.T, c *Catalog, id string) Item {
	t.Helper()
	list, err := c.List()
	if err != nil || len(list) != 3 {
		t.Fatal(list, err)
	}
	for _, x := range list {
		if x.ID == id {
			return x
		}
	}
	t.Fatalf("%s is not listed", id)
	return Item{}
}

// read lists until the experiment is read.
func read(t *testing.T, c *Catalog, id string) Item {
	t.Helper()
	for {
		if x := listed(t, c, id); !x.Reading {
			return x
		}
	}
}

// A list does not wait for an experiment with a large record: that is in it as one that is being read, the others are
// as they are. It is there once it is read, although nobody has opened it.
func TestListDoesNotWait(t *testing.T) {
	c, large := three(t)
	release := hold(t, c, large.Dir.Path())
	for range 3 {
		if x := listed(t, c, "large"); !x.Reading || x.Error != "" || x.State != "" || x.Name != "large" ||
			x.Dir != large.Dir.Path() {
			t.Errorf("while it is being read: %+v", x)
		}
	}
	for _, id := range []string{"a", "z"} {
		if x := listed(t, c, id); x.Reading || x.Trials != 3 || x.State != finished {
			t.Errorf("another: %+v", x)
		}
	}
	release()
	if x := read(t, c, "large"); x.Trials != 80 || x.State != finished || x.Error != "" {
		t.Errorf("when it is read: %+v", x)
	}
}

// While a large record is read again, the list has what was read before, and says so.
func TestListKeepsWhatItHas(t *testing.T) {
	c, large := three(t)
	read(t, c, "large")
	c.Tidy(time.Now().Add(2 * unused))
	settings := filepath.Join(large.Dir.Path(), "run.json")
	changed := time.Now().Add(time.Hour) // as if its settings were others
	if err := os.Chtimes(settings, changed, changed); err != nil {
		t.Fatal(err)
	}
	release := hold(t, c, large.Dir.Path())
	if x := listed(t, c, "large"); !x.Reading || x.Trials != 80 || x.State != finished {
		t.Errorf("while it is read again: %+v", x)
	}
	release()
	if x := read(t, c, "large"); x.Trials != 80 {
		t.Errorf("when it is read again: %+v", x)
	}
}

// The list says what is wrong with a large record, once that was read.
func TestListOfLargeDamage(t *testing.T) {
	c, large := three(t)
	parts, err := filepath.Glob(filepath.Join(large.Dir.Journal(), "*.tj"))
	if err != nil || len(parts) == 0 {
		t.Fatal(parts, err)
	}
	text, err := os.ReadFile(parts[0])
	if err != nil {
		t.Fatal(err)
	}
	text[len(text)/2] ^= 1
	if err := os.WriteFile(parts[0], text, 0o600); err != nil {
		t.Fatal(err)
	}
	if x := read(t, c, "large"); !strings.Contains(x.Error, "damaged") || x.State != "" {
		t.Errorf("%+v", x)
	}
	if x := listed(t, c, "large"); x.Reading || x.Error == "" {
		t.Errorf("once more: %+v", x)
	}
}
