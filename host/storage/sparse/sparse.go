// Package sparse reads and copies files with holes, which have a size and take no room, such as the files of databases
// that are mapped into memory. Holes are not read, and are holes in the copy, too. On file systems that do not say
// where holes are, all of a file is data.
package sparse

import (
	"io"
	"os"
)

// extent is a part of a file that has data.
type extent struct{ from, to int64 }

// Read writes the content of a file to out, from its beginning: zeros for holes.
func Read(out io.Writer, in *os.File) (n int64, err error) {
	return walk(in, func(hole, data int64) error {
		if err := writeZeros(out, hole); err != nil {
			return err
		}
		_, err := io.CopyN(out, in, data)
		return err
	}, func() (int64, error) { return io.Copy(out, in) })
}

// Copy copies a file into an empty one, and writes its content to each of the others, too.
func Copy(out, in *os.File, others ...io.Writer) (n int64, err error) {
	all := io.MultiWriter(append([]io.Writer{out}, others...)...)
	if len(others) == 0 {
		all = out // the kernel copies
	}
	n, err = walk(in, func(hole, data int64) error {
		if err := writeZeros(io.MultiWriter(others...), hole); err != nil {
			return err
		}
		if _, err := out.Seek(hole, io.SeekCurrent); err != nil {
			return err
		}
		_, err := io.CopyN(all, in, data)
		return err
	}, func() (int64, error) { return io.Copy(all, in) })
	if err != nil {
		return n, err
	}
	return n, out.Truncate(n) // a hole at the end
}

// Hole returns how many bytes of a file are in holes.
func Hole(f *os.File) (int64, error) {
	parts, size, err := extents(f)
	for _, x := range parts {
		size -= x.to - x.from
	}
	return size, err
}

// walk calls part for each hole with the data after it, at the beginning of which the file then is; whole for a file
// without holes. It returns the size.
func walk(f *os.File, part func(hole, data int64) error, whole func() (int64, error)) (int64, error) {
	parts, size, err := extents(f)
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		return 0, err
	}
	if len(parts) == 1 && parts[0] == (extent{0, size}) || size == 0 {
		return whole() // it may grow meanwhile
	}
	at := int64(0)
	for _, x := range append(parts, extent{size, size}) {
		if _, err := f.Seek(x.from, io.SeekStart); err != nil {
			return at, err
		}
		if err := part(x.from-at, x.to-x.from); err != nil {
			return at, err
		}
		at = x.to
	}
	return size, nil
}

var zeros [1 << 20]byte

func writeZeros(out io.Writer, n int64) error {
	for n > 0 {
		m, err := out.Write(zeros[:min(n, int64(len(zeros)))])
		if err != nil {
			return err
		}
		n -= int64(m)
	}
	return nil
}

// all is the extent of a file that is taken to be without holes.
func all(f *os.File) ([]extent, int64, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, 0, err
	}
	return []extent{{0, info.Size()}}, info.Size(), nil
}
