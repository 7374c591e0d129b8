package toolchain

import (
	"fmt"
	"hash/fnv"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
)

// Tunehost builds the program and returns its path, in a folder without other programs. All tests of a checkout share
// it: go build links a program again only if it would be another.
var Tunehost = sync.OnceValues(func() (path string, err error) {
	kind := fnv.New64a()
	fmt.Fprintf(kind, "%s %s %s", root(), os.Getenv("GOFLAGS"), os.Getenv("CGO_ENABLED"))
	dir := fmt.Sprintf("tunehost-test-program-%d-%x", os.Getuid(), kind.Sum64())
	path = filepath.Join(os.TempDir(), dir, "tunehost")
	build := exec.Command("go", "build", "-o", path, "./cmd/tunehost")
	build.Dir = root()
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return path, nil
})
