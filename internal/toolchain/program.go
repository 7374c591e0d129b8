package toolchain

import (
	"fmt"
	"hash/fnv"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
)

// Tunehost builds the program as it is released, without C, and returns its path, in a folder without other programs.
// All tests of a checkout share it: go build links a program again only if it would be another.
var Tunehost = sync.OnceValues(func() (path string, err error) {
	kind := fnv.New64a()
	_, _ = kind.Write([]byte(os.Getenv("GOFLAGS")))
	path = filepath.Join(root(), ".tools", fmt.Sprintf("program-%x", kind.Sum64()), "tunehost")
	build := exec.Command("go", "build", "-o", path, "./cmd/tunehost")
	build.Dir, build.Env = root(), append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return path, nil
})
