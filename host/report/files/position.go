package files

import (
	"errors"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/tunehost/tunehost/host/storage/nolink"
)

const positionFile = ".reported"

// Position returns the path of the file with the number that Reported returns.
func Position(dir string) string { return filepath.Join(dir, positionFile) }

// Reported returns the number of the last event that the files of the experiment in dir are known to
// contain; 0 if unknown. The host repeats to a Reporter what comes after it, or everything.
func Reported(dir string) uint64 {
	text, err := nolink.ReadFile(Position(dir), 64)
	if err != nil {
		return 0
	}
	line, whole := strings.CutSuffix(string(text), "\n")
	n, err := strconv.ParseUint(line, 10, 64)
	if err != nil || !whole {
		return 0
	}
	return n
}

// setReported replaces the number; the events up to it must be on disk.
func setReported(dir string, number uint64) error {
	path := Position(dir)
	f, err := nolink.Temporary(path, fileMode)
	if err != nil {
		return err
	}
	_, err = f.WriteString(strconv.FormatUint(number, 10) + "\n")
	return nolink.Settle(f, path, errors.Join(err, f.Sync()))
}
