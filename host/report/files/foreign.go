package files

import (
	"bytes"
	"errors"
	"fmt"
	"os"

	"github.com/tunehost/tunehost/host/storage/nolink"
)

// mend moves the lines that this reporter has not written to a file beside the table's, and repeated rows too: somebody
// has added them, and rows after them would be added again. A line of ours has a later event than those before it.
func (t *table) mend() error {
	var others bytes.Buffer
	own := t.sorter()
	err := eachLine(t.file, t.size, func(line []byte) error {
		if !own(line) && others.Len() < maxLine {
			others.Write(line)
		}
		return nil
	})
	if err != nil || others.Len() == 0 {
		return err
	}
	to, err := t.aside()
	if err == nil {
		err = nolink.WriteFile(to, others.Bytes(), fileMode)
	}
	if err != nil {
		return err
	}
	t.moved(t.path, to)
	own = t.sorter()
	return t.rewrite(func(to, line []byte) []byte {
		if own(line) {
			return append(to, line...)
		}
		return to
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
