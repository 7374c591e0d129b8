package scaffold

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A user who has only the documents can follow their links: to each other, or to the sources on the web.
func TestLinksOfDocuments(t *testing.T) {
	dir, found := t.TempDir(), 0
	for _, d := range Documents() {
		if err := d.WriteTo(dir); err != nil {
			t.Fatal(err)
		}
	}
	links := regexp.MustCompile(`\]\(([^)#]*)(#[^)]*)?\)`)
	err := filepath.WalkDir(dir, func(file string, e fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(file) != ".md" {
			return err
		}
		text, err := os.ReadFile(file)
		for _, m := range links.FindAllStringSubmatch(string(text), -1) {
			to, web := strings.CutPrefix(m[1], sources)
			at := filepath.Join(filepath.Dir(file), m[1])
			if web {
				at = filepath.Join("../..", to)
			} else if strings.Contains(to, "://") {
				continue
			}
			found++
			if _, err := os.Stat(at); err != nil {
				t.Errorf("%s: %s leads nowhere: %v", file, m[1], err)
			}
		}
		return err
	})
	if err != nil || found < 20 {
		t.Errorf("%d links, %v", found, err)
	}
}
