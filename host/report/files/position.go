package files

import (
	"bytes"
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

// LastEvent returns the number of the last event in the result files of a trial, which are in its directory: 0 if there
// are none, or others than a host has written for the trial. A trial's program may have made some.
func LastEvent(dir, id string) (number uint64) {
	for format := range Format(len(before)) {
		if f, err := nolink.Open(filepath.Join(dir, format.File())); err == nil {
			number = max(number, lastEvent(&table{format: format, file: f}, id))
			_ = f.Close()
		}
	}
	return number
}

func lastEvent(t *table, id string) uint64 {
	if ours, err := t.hasOurHeader(); err != nil || !ours {
		return 0
	}
	last, err := readTail(t.file)
	if err != nil || !bytes.Contains(last.line, []byte(map[Format]string{JSONL: `,"trial_id":"` + id + `",`,
		CSV: "," + id + ","}[t.format])) {
		return 0
	}
	m, _ := readMark(last.line, before[t.format])
	return m.event
}
