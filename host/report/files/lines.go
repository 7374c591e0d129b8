package files

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"

	"github.com/tunehost/tunehost/host/storage/nolink"
)

const tailBytes = 4096

// maxLine is longer than any row of a result. A program may have made a file of zeros that has no end of a line.
const maxLine = 64 << 20

// longLine is the error of a file with a longer line.
func longLine(f *os.File) error {
	return &nolink.Error{Path: f.Name(), Is: "a file with a line of more than 64 MiB",
		Do: "tunehost has a file of that name; write to another one"}
}

// tail is the end of a file: its last complete line, and where that ends.
type tail struct {
	line []byte // with its newline; nil when there is none
	end  int64
}

// readTail finds the last complete line that is not empty, from the end on.
func readTail(f *os.File) (tail, error) {
	info, err := f.Stat()
	if err != nil {
		return tail{}, err
	}
	for n := int64(tailBytes); ; n *= 4 {
		n = min(n, info.Size(), maxLine)
		b := make([]byte, n)
		if _, err := f.ReadAt(b, info.Size()-n); err != nil {
			return tail{}, err
		}
		if t, ok := lastLine(b, info.Size()-n); ok || n == info.Size() {
			return t, nil
		}
		if n == maxLine {
			return tail{}, longLine(f)
		}
	}
}

// lastLine finds the last complete line in b, which begins at an offset of the file; false if more of
// the file is needed.
func lastLine(b []byte, at int64) (tail, bool) {
	b = b[:bytes.LastIndexByte(b, '\n')+1]
	for bytes.HasSuffix(b, []byte("\n\n")) {
		b = b[:len(b)-1]
	}
	if len(b) <= 1 {
		return tail{}, false
	}
	start := bytes.LastIndexByte(b[:len(b)-1], '\n') + 1
	return tail{b[start:], at + int64(len(b))}, start > 0 || at == 0
}

// readHead returns the first line, as much of it as a line of ours may have.
func readHead(f *os.File) ([]byte, error) {
	line, err := bufio.NewReader(io.NewSectionReader(f, 0, maxLine)).ReadBytes('\n')
	if err == io.EOF {
		err = nil
	}
	return line, err
}

// eachLine calls do with each line of the file's first bytes, newlines included.
func eachLine(f *os.File, size int64, do func(line []byte) error) error {
	r := bufio.NewReader(io.NewSectionReader(f, 0, size))
	for {
		line, err := readLine(r)
		if errors.Is(err, bufio.ErrBufferFull) {
			return longLine(f)
		}
		if len(line) > 0 {
			if err := do(line); err != nil {
				return err
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// readLine is ReadBytes for lines that are not too long.
func readLine(r *bufio.Reader) (line []byte, err error) {
	for len(line) <= maxLine {
		part, err := r.ReadSlice('\n')
		if line = append(line, part...); !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
	return nil, bufio.ErrBufferFull
}

// rewrite atomically replaces the file by what edit makes of its lines, and more after them; edit appends to its first
// argument. The caller has flushed, or more is all of buf.
func (t *table) rewrite(edit func(to, line []byte) []byte, more []byte) error {
	tmp, err := nolink.Temporary(t.path, fileMode)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(tmp)
	var to []byte
	err = eachLine(t.file, t.size, func(line []byte) error {
		to = edit(to[:0], line)
		_, err := w.Write(to)
		return err
	})
	if err == nil {
		_, err = w.Write(more)
	}
	err = errors.Join(err, w.Flush(), tmp.Sync())
	if err == nil {
		err = t.close()
	}
	if err := nolink.Settle(tmp, t.path, err); err != nil {
		return err
	}
	if more != nil {
		t.wrote()
	}
	return t.learn()
}
