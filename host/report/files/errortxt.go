package files

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/tunehost/tunehost/host/storage/nolink"
	"github.com/tunehost/tunehost/host/view"
)

const errorFile = "error.txt"

// maxErrors is larger than the messages of all attempts of a trial.
const maxErrors = 64 << 20

// addFailure appends a failed attempt to the trial's error.txt, unless it is there. An incomplete
// paragraph of a crash is removed; what a program has written into the file stays (B-155).
func addFailure(e *view.Event, why string) error {
	path := filepath.Join(e.Trial.Dir, errorFile)
	old, err := nolink.ReadFile(path, maxErrors)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	whole := bytes.LastIndex(old, []byte("\n\n")) + 1
	if whole > 0 {
		whole++
	}
	begin := ""
	if rest := string(old[whole:]); rest != "" && !isTitle(rest) {
		whole, begin = len(old), "\n\n"
	}
	title := fmt.Sprintf("attempt %d (event %d) failed at ", e.Trial.Attempt, e.Number)
	if hasLine(old[:whole], title) {
		return nil
	}
	text := title + e.Time.UTC().Format(time.RFC3339) + "\n" + indent(why) + "\n\n"
	return writeAt(path, int64(whole), begin+text)
}

// titleParts are the texts at the beginning of a paragraph, with numbers in between.
var titleParts = []string{"attempt ", " (event ", ") failed at "}

func isTitle(text string) bool { return begins(text, titleParts) }

// begins reports whether a text begins with the parts, with numbers in between, or is itself a
// beginning of them.
func begins(text string, parts []string) bool {
	for i, part := range parts {
		if i > 0 {
			text = strings.TrimLeft(text, "0123456789")
		}
		if strings.HasPrefix(part, text) {
			return true
		}
		var ok bool
		if text, ok = strings.CutPrefix(text, part); !ok {
			return false
		}
	}
	return true
}

func hasLine(text []byte, start string) bool {
	return bytes.HasPrefix(text, []byte(start)) || bytes.Contains(text, []byte("\n"+start))
}

// indent separates a message from titles and from the empty lines between paragraphs.
func indent(message string) string {
	return "  " + strings.ReplaceAll(strings.TrimSpace(message), "\n", "\n  ")
}

func writeAt(path string, at int64, text string) error {
	f, err := nolink.OpenFile(path, os.O_WRONLY|os.O_CREATE, fileMode)
	if err != nil {
		return err
	}
	err = f.Truncate(at)
	if err == nil {
		_, err = f.WriteAt([]byte(text), at)
	}
	return errors.Join(err, f.Close())
}
