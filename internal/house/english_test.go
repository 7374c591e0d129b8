package house

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// texts are the kinds of files that people read.
var texts = regexp.MustCompile(`\.(go|md|py|rs|js|ts|c|h|txt|txtar|yaml|proto)$`)

// foreignTexts are files that others have written, that a program writes, or that quote the phrases.
var foreignTexts = regexp.MustCompile(`(^|/)(node_modules|released|fuzz|_proto|target|\.[a-z]+)/|` +
	`sequence/directions\.txt$|house/testdata/phrases\.txt$`)

// Texts are plain English: none uses a phrase of testdata/phrases.txt, which says what to write instead.
func TestPhrases(t *testing.T) {
	banned := readPhrases(t)
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		name := filepath.ToSlash(strings.TrimPrefix(path, root+string(filepath.Separator)))
		if err != nil || d.IsDir() && (path == root || !foreignTexts.MatchString(name+"/")) {
			return err
		}
		if d.IsDir() {
			return fs.SkipDir
		}
		if !d.Type().IsRegular() || !texts.MatchString(name) || foreignTexts.MatchString(name) {
			return nil
		}
		text, err := os.ReadFile(path)
		lower := bytes.ToLower(text)
		for _, b := range banned {
			if !bytes.Contains(lower, b.word) { // much faster than the expression
				continue
			}
			for _, at := range b.phrase.FindAllIndex(text, -1) {
				t.Errorf("%s:%d: %q; %s", name, 1+bytes.Count(text[:at[0]], []byte("\n")), text[at[0]:at[1]], b.instead)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

type bannedPhrase struct {
	word    []byte // its first word
	phrase  *regexp.Regexp
	instead string
}

// readPhrases reads lines of the form "phrase: advice". A space in a phrase also matches the end of a line.
func readPhrases(t *testing.T) (all []bannedPhrase) {
	t.Helper()
	list, err := os.ReadFile("testdata/phrases.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(list)) {
		phrase, instead, ok := strings.Cut(strings.TrimSpace(line), ": ")
		if strings.HasPrefix(line, "#") || !ok {
			continue
		}
		pattern := strings.ReplaceAll(regexp.QuoteMeta(phrase), " ", `(?: |\s*\n\s*(?://[/!]?|#|\*)?\s*)`)
		word, _, _ := strings.Cut(phrase, " ")
		all = append(all, bannedPhrase{[]byte(word), regexp.MustCompile(`(?i)\b` + pattern + `\b`), instead})
	}
	return all
}
