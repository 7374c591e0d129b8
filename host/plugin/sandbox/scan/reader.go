package scan

import (
	"errors"
	"fmt"
	"math"
)

// reader reads the binary format. After an error everything reads as zero.
type reader struct {
	data []byte
	err  error
}

var errCut = errors.New("it ends in the middle")

func (r *reader) fail(err error) {
	if r.err == nil {
		r.err = err
	}
	r.data = nil
}

// end returns the error, or one about bytes that are left.
func (r *reader) end() error {
	if r.err == nil && len(r.data) > 0 {
		return fmt.Errorf("%d bytes are left over", len(r.data))
	}
	return r.err
}

func (r *reader) bytes(n int) []byte {
	if n > len(r.data) {
		r.fail(errCut)
		return nil
	}
	b := r.data[:n]
	r.data = r.data[n:]
	return b
}

func (r *reader) byte() byte {
	if len(r.data) == 0 {
		r.fail(errCut)
		return 0
	}
	b := r.data[0]
	r.data = r.data[1:]
	return b
}

// u32 reads an unsigned LEB128 number.
func (r *reader) u32() uint32 {
	n := r.leb(5)
	if n > math.MaxUint32 {
		r.fail(errors.New("a number is larger than 32 bits"))
		return 0
	}
	return uint32(n)
}

// leb reads a LEB128 number of at most so many bytes.
func (r *reader) leb(most int) (n uint64) {
	for i, b := range r.data[:min(most, len(r.data))] {
		n |= uint64(b&0x7f) << (7 * i)
		if b < 0x80 {
			r.data = r.data[i+1:]
			return n
		}
	}
	if len(r.data) < most {
		r.fail(errCut)
	} else {
		r.fail(errors.New("a number has too many bytes"))
	}
	return 0
}

// count reads the number of things that follow, each of at least size bytes, and refuses more than the
// remaining bytes can hold.
func (r *reader) count(what string, size, most int) int {
	n := r.u32()
	switch left := len(r.data); {
	case r.err != nil:
	case uint64(n)*uint64(size) > uint64(left):
		r.fail(fmt.Errorf("%d %s cannot be in the %d bytes left", n, what, left))
	case int(n) > most:
		r.fail(tooMany(what, n, most))
	default:
		return int(n)
	}
	return 0
}

// sub reads a size and returns a reader of so many bytes.
func (r *reader) sub() *reader {
	n := r.u32()
	if uint64(n) > uint64(len(r.data)) {
		r.fail(fmt.Errorf("%d bytes are announced, %d are left", n, len(r.data)))
	}
	if r.err != nil {
		return &reader{err: r.err}
	}
	return &reader{data: r.bytes(int(n))}
}

// name reads a string, shortened to a readable length.
func (r *reader) name() string {
	in := r.sub()
	if in.err != nil {
		r.fail(in.err)
	}
	return string(in.data)
}
