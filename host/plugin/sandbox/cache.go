package sandbox

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/tetratelabs/wazero"

	"github.com/tunehost/tunehost/internal/lazily"
)

// unusedAfter is the age at which a compiled module is removed. Use does not make an entry younger, so
// that each module is compiled again from time to time.
const unusedAfter = 60 * 24 * time.Hour

// openCache opens the directory of compiled modules. Its content is executed, so that it must be
// private to the user; without a cache, modules are compiled at each start.
func openCache(dir string, log hclog.Logger) wazero.CompilationCache {
	if dir == "" {
		return nil
	}
	err := private(dir)
	if err == nil {
		sweep(dir)
		var cache wazero.CompilationCache
		if cache, err = wazero.NewCompilationCacheWithDir(dir); err == nil {
			return cache
		}
	}
	log.Warn("modules are compiled at each start, because their cache cannot be used: " + err.Error())
	return nil
}

// private makes a directory that only we can use, or says why one is not.
func private(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !info.IsDir():
		return &fs.PathError{Op: "use", Path: dir, Err: errors.New("it is not a directory")}
	case !ok || int(owner.Uid) != os.Geteuid():
		return &fs.PathError{Op: "use", Path: dir, Err: errors.New("it belongs to another user")}
	case info.Mode().Perm()&0o077 != 0:
		return &fs.PathError{Op: "use", Path: dir, Err: errors.New("others may use it; make it private (chmod 700)")}
	}
	return nil
}

// sweep removes what was compiled long ago, and nothing else (B-155).
func sweep(dir string) {
	files, _ := filepath.Glob(filepath.Join(dir, "wazero-*", "*"))
	for _, file := range files {
		info, err := os.Lstat(file)
		if err == nil && info.Mode().IsRegular() && time.Since(info.ModTime()) > unusedAfter && isCompiled(file) {
			_ = os.Remove(file)
		}
	}
}

// compiledName and compiledStart recognise a compiled module.
var compiledName = lazily.Regexp(`^[0-9a-f]{64}$`)

const compiledStart = "WAZEVO"

func isCompiled(file string) bool {
	if !compiledName().MatchString(filepath.Base(file)) {
		return false
	}
	f, err := os.Open(file)
	if err != nil {
		return false
	}
	defer f.Close()
	start := make([]byte, len(compiledStart))
	_, err = io.ReadFull(f, start)
	return err == nil && string(start) == compiledStart
}
