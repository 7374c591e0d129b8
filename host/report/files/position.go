package files

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/tunehost/tunehost/host/storage/nolink"
)

const positionFile = ".reported"

// Position returns the path of the file with the number that Reported returns.
func Position(dir string) string { return filepath.Join(dir, positionFile) }

// Noted is what the file of the position says.
type Noted struct {
	Event uint64 // 0: it says nothing
	// Sealed says that the number has its checksum. A number alone was written by an earlier version, or by somebody
	// else.
	Sealed bool
	// Damaged is why it says nothing, though something is in its place.
	Damaged error
}

// ReadNoted reads the file of the position.
func ReadNoted(dir string) Noted {
	text, err := nolink.ReadFile(Position(dir), 64)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Noted{}
	case err != nil:
		return Noted{Damaged: err}
	}
	digits, sum, sealed := strings.Cut(strings.TrimSuffix(string(text), "\n"), " ")
	n, err := strconv.ParseUint(digits, 10, 64)
	switch {
	case err != nil || !strings.HasSuffix(string(text), "\n"):
		return Noted{Damaged: fmt.Errorf("%s does not have the number of an event", Position(dir))}
	case sealed && sum != sumOf(digits):
		return Noted{Damaged: fmt.Errorf("%s was changed: its number does not fit its checksum", Position(dir))}
	}
	return Noted{Event: n, Sealed: sealed}
}

// sumOf is the checksum of a number.
func sumOf(digits string) string {
	return fmt.Sprintf("%08x", crc32.Checksum([]byte(positionFile+" "+digits), crc32.MakeTable(crc32.Castagnoli)))
}

// Reported returns the number of the last event that the files of the experiment in dir are known to
// contain; 0 if unknown. The host repeats to a Reporter what comes after it, or everything.
func Reported(dir string) uint64 { return ReadNoted(dir).Event }

// setReported replaces the number; the events up to it must be on disk.
func setReported(dir string, number uint64) error {
	path := Position(dir)
	f, err := nolink.Temporary(path, fileMode)
	if err != nil {
		return err
	}
	digits := strconv.FormatUint(number, 10)
	_, err = f.WriteString(digits + " " + sumOf(digits) + "\n")
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
