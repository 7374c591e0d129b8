package files

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"

	"github.com/tunehost/tunehost/host/storage/nolink"
)

// mend moves the lines that this reporter has not written to a file beside the table's, and repeated rows too: somebody
// has added them, and rows after them would be added again. A line of ours has a later event than those before it.
func (t *table) mend() error {
	some := false
	err := t.others(func([]byte) error { some = true; return nil })
	if err != nil || !some {
		return err
	}
	to, err := t.aside()
	if err == nil {
		err = t.copyOthers(to)
	}
	if err != nil {
		return err
	}
	t.moved(t.path, to)
	own := t.sorter()
	return t.rewrite(func(to, line []byte) []byte {
		if own(line) {
			return append(to, line...)
		}
		return to
	}, nil)
}

// copyOthers writes all lines that are not ours to a new file.
func (t *table) copyOthers(to string) error {
	f, err := nolink.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	err = t.others(func(line []byte) error {
		_, err := w.Write(line)
		return err
	})
	return errors.Join(err, w.Flush(), f.Sync(), f.Close())
}

// others calls do with each line that is not ours.
func (t *table) others(do func(line []byte) error) error {
	own := t.sorter()
	return eachLine(t.file, t.size, func(line []byte) error {
		if own(line) {
			return nil
		}
		return do(line)
	})
}

// sorter returns a function that tells of each line of the file, in order, whether it is ours.
func (t *table) sorter() func(line []byte) bool {
	header, last := t.format == CSV, uint64(0)
	return func(line []byte) bool {
		if header {
			header = false
			return true
		}
		m, ok := readMark(line, before[t.format])
		ok = ok && m.event > last && (t.format == CSV || bytes.HasSuffix(line, []byte("}\n")))
		if ok {
			last = m.event
		}
		return ok
	}
}

// aside returns a free name for what is not ours.
func (t *table) aside() (string, error) {
	to := t.path + ".old"
	for n := 2; ; n++ {
		if _, err := nolink.Lstat(to); errors.Is(err, os.ErrNotExist) {
			return to, nil
		} else if err != nil {
			return "", err
		}
		to = fmt.Sprintf("%s.old%d", t.path, n)
	}
}
