package guard

import (
	"path/filepath"
	"strings"
)

// ours is the path of packages whose frames are hidden from authors.
const ours = "github.com/tunehost/tunehost/plugins/sdk/"

// Frames returns the frames of the author's code in the stack of a panic, deepest first, and
// FILE:LINE of the deepest, or "".
func Frames(stack []byte) (frames, place string) {
	lines := strings.Split(strings.TrimSpace(string(stack)), "\n")
	var kept []string
	panicked := false
	for i := 1; i+1 < len(lines); i += 2 {
		call, at := lines[i], lines[i+1]
		switch {
		case strings.HasPrefix(call, "panic("):
			panicked, kept = true, nil // of two panics the first one is the cause
		case !panicked || strings.HasPrefix(call, "runtime."):
		case strings.HasPrefix(call, ours) && !strings.HasSuffix(fileOf(at), "_test.go"):
			return strings.Join(kept, "\n"), placeOf(kept)
		default:
			kept = append(kept, call, at)
		}
	}
	return strings.Join(kept, "\n"), placeOf(kept)
}

// fileOf returns the file of a frame's second line, "\t/dir/main.go:33 +0x1d".
func fileOf(at string) string {
	file, _, _ := strings.Cut(strings.TrimSpace(at), ":")
	return file
}

func placeOf(frames []string) string {
	if len(frames) < 2 {
		return ""
	}
	at, _, _ := strings.Cut(strings.TrimSpace(frames[1]), " ")
	return filepath.Base(at)
}
