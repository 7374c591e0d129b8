package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// aboutSearcher does not match names of other experiments that run at the same time, which a warning has.
var aboutSearcher = regexp.MustCompile(`\bsearcher\b`)

// An experiment without a searcher that began when that was random keeps random: it is replayed, and the
// same file continues it, without a warning, with the trials of one that names random. B-083
func TestReleasedWithoutSearcher(t *testing.T) {
	t.Parallel()
	for _, version := range versions(t)[:2] { // later ones had another searcher from the beginning
		named, nameless := clone(t, version+"/simple"), clone(t, version+"/simple")
		file := filepath.Join(nameless, "experiment.yaml")
		text, err := os.ReadFile(file)
		if err != nil || !strings.Contains(string(text), "searcher: random\n") {
			t.Fatalf("%s: %v", text, err)
		}
		text = []byte(strings.Replace(string(text), "searcher: random\n", "", 1))
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
		for _, dir := range []string{named, nameless} {
			exit, said := tunehost(dir, "", "run", filepath.Join(dir, "experiment.yaml"), "--storage",
				filepath.Dir(dir), "--name", "simple", "--set", "trials=6", "--resources", "cpu=1", "-v", "1")
			if exit != 0 || aboutSearcher.MatchString(said) {
				t.Fatalf("%s: exit status %d: %s", version, exit, said)
			}
			if exit, said := tunehost(dir, "", "replay", dir); exit != 0 {
				t.Errorf("%s: replay: exit status %d: %s", version, exit, said)
			}
		}
		if want, got := trialsOf(t, named), trialsOf(t, nameless); len(got) != 7 || !slices.Equal(got, want) {
			t.Errorf("%s: the trials are\n%s\nwant\n%s", version, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}
