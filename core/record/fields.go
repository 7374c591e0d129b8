package record

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
)

// Wire types.
const (
	varint  = 0
	counted = 2
)

// ErrMalformed is returned for bytes that are not a record.
var ErrMalformed = errors.New("record: malformed")

// ErrNewer is returned for a record with unknown contents.
var ErrNewer = errors.New("the record was written by a newer version of tunehost: use that one")

// fields visits the fields of one message, in the order of their numbers, and either writes or
// reads each of them. Both use the same list of fields, so they cannot differ.
type fields struct {
	reading bool
	out     []byte // writing: the output
	start   int    // writing: of the list's present element

	// reading: the rest, and the last field; number 0: none
	rest   []byte
	number int
	kind   uint64
	u      uint64
	b      []byte
	outer  []byte // what follows the list's present element
	err    error
}

// end reports unread fields, which are unknown here.
func (f *fields) end() error {
	if f.err == nil && f.number != 0 {
		return ErrNewer
	}
	return f.err
}

// nothingMore reports that there is no further field to read, so that a function that visits rare ones may return.
func (f *fields) nothingMore() bool { return f.reading && f.number == 0 }

func (f *fields) hit(number int, kind uint64) bool { return f.number == number && f.kind == kind }

func (f *fields) tag(number int, kind uint64) {
	f.out = binary.AppendUvarint(f.out, uint64(number)<<3|kind)
}

func (f *fields) u64(number int, v *uint64) {
	if f.reading {
		if f.hit(number, varint) {
			*v = f.u
			f.next()
		}
	} else if *v != 0 {
		f.tag(number, varint)
		f.out = binary.AppendUvarint(f.out, *v)
	}
}

// i64 uses zigzag encoding, as sint64 does.
func (f *fields) i64(number int, v *int64) {
	u := uint64(*v)<<1 ^ uint64(*v>>63)
	f.u64(number, &u)
	if f.reading {
		*v = int64(u>>1) ^ -int64(u&1)
	}
}

func (f *fields) boolean(number int, v *bool) {
	u := uint64(0)
	if *v {
		u = 1
	}
	f.u64(number, &u)
	if f.reading {
		*v = u != 0
	}
}

// number32 handles all types of 32 bits or fewer.
func number32[T ~uint8 | ~uint32](f *fields, number int, v *T) {
	u := uint64(*v)
	f.u64(number, &u)
	if !f.reading {
		return
	}
	if *v = T(u); uint64(*v) != u {
		f.fail(nil)
	}
}

func (f *fields) blob(number int, v *[]byte) {
	if f.reading {
		if f.hit(number, counted) {
			*v = f.b
			f.next()
		}
	} else if len(*v) > 0 {
		f.bytes(number, *v)
	}
}

func (f *fields) str(number int, v *string) {
	if f.reading {
		if f.hit(number, counted) {
			*v = string(f.b)
			f.next()
		}
	} else if *v != "" {
		f.tag(number, counted)
		f.out = binary.AppendUvarint(f.out, uint64(len(*v)))
		f.out = append(f.out, *v...)
	}
}

// bytes writes a length-prefixed field.
func (f *fields) bytes(number int, b []byte) {
	f.tag(number, counted)
	f.out = binary.AppendUvarint(f.out, uint64(len(b)))
	f.out = append(f.out, b...)
}

// element begins the i-th message of a list, which over ends; false: there are no more. A function that calls another
// one for each message would be shorter, but then the fields of every record would be on the heap.
func element[T any](f *fields, number, i int, v *[]T) bool {
	if !f.reading {
		if i == len(*v) {
			return false
		}
		f.start = f.begin(number)
		return true
	}
	if !f.hit(number, counted) {
		return false
	}
	var zero T
	*v = append(*v, zero)
	f.outer = f.enter()
	return true
}

// over ends an element.
func (f *fields) over() {
	if f.reading {
		f.leave(f.outer)
	} else {
		f.count(f.start)
	}
}

// begin begins to write a message in a field, and returns where it starts.
func (f *fields) begin(number int) (start int) {
	f.tag(number, counted)
	f.out = append(f.out, 0)
	return len(f.out)
}

// enter begins to read the message in the present field, and returns what follows the field.
func (f *fields) enter() (rest []byte) {
	rest, f.rest = f.rest, f.b
	f.next()
	return rest
}

// leave ends enter, and reads the field after that message.
func (f *fields) leave(rest []byte) {
	err := f.end()
	f.rest = rest
	f.next()
	if err != nil {
		f.stop(err)
	}
}

// texts reads or writes repeated strings, which may be empty.
func texts(f *fields, number int, v *[]string) {
	if !f.reading {
		for _, text := range *v {
			f.bytes(number, []byte(text))
		}
		return
	}
	for f.hit(number, counted) {
		*v = append(*v, string(f.b))
		f.next()
	}
}

// count writes the length of the message that begins at start into the byte before it; a longer
// length moves the message.
func (f *fields) count(start int) {
	n := uint64(len(f.out) - start)
	if n < 0x80 {
		f.out[start-1] = byte(n)
		return
	}
	f.out = slices.Insert(f.out, start, make([]byte, uvarintLen(n)-1)...)
	binary.PutUvarint(f.out[start-1:], n)
}

// fail stops reading at an invalid field.
func (f *fields) fail(why error) {
	if why == nil {
		f.stop(ErrMalformed)
		return
	}
	f.stop(fmt.Errorf("%w: %w", ErrMalformed, why))
}

func (f *fields) stop(err error) {
	if f.err == nil {
		f.err = err
	}
	f.rest, f.number = nil, 0
}

// next reads the next field.
func (f *fields) next() {
	if f.number = 0; len(f.rest) == 0 {
		return
	}
	tag, b, ok := uvarint(f.rest)
	if !ok || tag < 1<<3 || tag>>3 > math.MaxInt32 {
		f.fail(nil)
		return
	}
	f.number, f.kind = int(tag>>3), tag&7
	if f.rest, ok = f.value(b); !ok {
		f.fail(nil)
	}
}

func (f *fields) value(b []byte) (rest []byte, ok bool) {
	switch f.kind {
	case varint:
		f.u, b, ok = uvarint(b)
	case counted:
		var n uint64
		if n, b, ok = uvarint(b); ok && n <= uint64(len(b)) {
			f.b = b[:n:n]
			return b[n:], true
		}
		return nil, false
	}
	return b, ok
}

// uvarint is short, so that the compiler can put it where it is called: most numbers have one byte.
func uvarint(b []byte) (uint64, []byte, bool) {
	if len(b) > 0 && b[0] < 0x80 {
		return uint64(b[0]), b[1:], true
	}
	return longUvarint(b)
}

func longUvarint(b []byte) (uint64, []byte, bool) {
	u, n := binary.Uvarint(b)
	if n <= 0 {
		return 0, nil, false
	}
	return u, b[n:], true
}
