package journal_test

import (
	"testing"

	"github.com/tunehost/tunehost/core/journal"
	"github.com/tunehost/tunehost/core/journal/journaltest"
)

// three returns a journal that was closed three times, with three events each, in segments that begin with 1, 4 and 7.
func three(t *testing.T) *journaltest.FS {
	t.Helper()
	fs := journaltest.New(1)
	j := mustCreate(t, fs)
	for i := range 3 {
		if i > 0 {
			var err error
			j, _, err = journal.Open(fs, testOpts, nil)
			must(t, err)
		}
		mustAppend(t, j, 3)
		must(t, j.Close())
	}
	return fs
}

// B-086: where files do not follow each other, the error names the one that is missing, or the one that is too many;
// nothing is wrong with the one before it.
func TestGaps(t *testing.T) {
	const first, second, third = "00000000000000000001.tj", "00000000000000000004.tj", "00000000000000000007.tj"
	const gone, stray = ": this file is missing, and the events from ", ": this file does not continue the record: "
	const restore = "; nothing was changed: restore this file from a copy"
	const away = "; nothing was changed: move this file away, or restore it and those before it from a copy"
	for name, c := range map[string]struct {
		damage func(fs *journaltest.FS)
		text   string
	}{
		"first missing": {func(fs *journaltest.FS) { fs.Delete(first) },
			first + ": damaged at byte 0, event 1" + gone + "4 on are there" + restore},
		"second missing": {func(fs *journaltest.FS) { fs.Delete(second) },
			second + ": damaged at byte 0, event 4" + gone + "7 on are there" + restore},
		"empty file more": {func(fs *journaltest.FS) { fs.WriteBytes("00000000000000000998.tj", nil) },
			"00000000000000000998.tj: damaged at byte 0, event 10" + stray + "the segment header is cut short" + away},
		"copy of the third more": {func(fs *journaltest.FS) {
			fs.WriteBytes("00000000000000000999.tj", fs.ReadBytes(third))
		}, "00000000000000000999.tj: damaged at byte 32, event 10" + stray + "the file holds events from 7, which " +
			"does not match its name" + away},
		"empty file in between": {func(fs *journaltest.FS) { fs.WriteBytes("00000000000000000005.tj", nil) },
			"00000000000000000005.tj: damaged at byte 0, event "},
		"empty file before": {func(fs *journaltest.FS) { fs.WriteBytes("00000000000000000000.tj", nil) },
			"00000000000000000000.tj: damaged at byte 0, event 1" + stray},
	} {
		t.Run(name, func(t *testing.T) {
			fs := three(t)
			c.damage(fs)
			before := snapshot(fs)
			_, _, err := journal.Open(fs, testOpts, nil)
			wantError(t, err, journal.ErrCorrupt)
			wantText(t, err, c.text)
			if snapshot(fs) != before {
				t.Error("files were changed")
			}
			var all [][]byte
			err = readAll(journal.NewReader(fs), &all)
			if err == nil && name == "empty file in between" && len(all) == 9 {
				return // it looks at no file whose events it has
			}
			wantError(t, err, journal.ErrCorrupt)
			wantText(t, err, c.text)
		})
	}
}
