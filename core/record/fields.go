package record

import (
	"encoding/binary"
	"errors"
	"math"
)

// Wire types.
const (
	varint  = 0
	bytes8  = 1
	counted = 2
)

// ErrMalformed is returned for bytes that are no record.
var ErrMalformed = errors.New("record: malformed")

// ErrNewer is returned for a record with something that this version does not
// know.
var ErrNewer = errors.New("record: written by a newer version of tunehost")

// fields goes through the fields of one message: writing all of them, or
// reading the one that is at hand. One list of fields serves both, so that they
// cannot differ.
type fields struct {
	reading bool
	out     []byte // writing: what was written

	// reading: the field at hand, and whether somebody knew it
	number int
	kind   uint64
	u      uint64
	b      []byte
	known  bool
	err    error
}

func (f *fields) hit(number int, kind uint64) bool {
	if f.number != number || f.kind != kind {
		return false
	}
	f.known = true
	return true
}

func (f *fields) tag(number int, kind uint64) {
	f.out = binary.AppendUvarint(f.out, uint64(number)<<3|kind)
}

func (f *fields) u64(number int, v *uint64) {
	if f.reading {
		if f.hit(number, varint) {
			*v = f.u
		}
	} else if *v != 0 {
		f.tag(number, varint)
		f.out = binary.AppendUvarint(f.out, *v)
	}
}

// i64 is zigzag, as in sint64.
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

// number32 serves every type of 32 bits or fewer.
func number32[T ~uint8 | ~uint32](f *fields, number int, v *T) {
	u := uint64(*v)
	f.u64(number, &u)
	if !f.reading {
		return
	}
	if *v = T(u); uint64(*v) != u {
		f.err = ErrMalformed
	}
}

func (f *fields) blob(number int, v *[]byte) {
	if f.reading {
		if f.hit(number, counted) {
			*v = f.b
		}
	} else if len(*v) > 0 {
		f.tag(number, counted)
		f.out = binary.AppendUvarint(f.out, uint64(len(*v)))
		f.out = append(f.out, *v...)
	}
}

func (f *fields) str(number int, v *string) {
	if f.reading {
		if f.hit(number, counted) {
			*v = string(f.b)
		}
	} else if *v != "" {
		f.tag(number, counted)
		f.out = binary.AppendUvarint(f.out, uint64(len(*v)))
		f.out = append(f.out, *v...)
	}
}

// list serves repeated messages.
func list[T any](f *fields, number int, v *[]T, each func(*fields, *T)) {
	if f.reading {
		if f.hit(number, counted) {
			var item T
			f.err = errors.Join(f.err, read(f.b, func(g *fields) { each(g, &item) }))
			*v = append(*v, item)
		}
		return
	}
	for i := range *v {
		item := fields{}
		each(&item, &(*v)[i])
		f.tag(number, counted)
		f.out = binary.AppendUvarint(f.out, uint64(len(item.out)))
		f.out = append(f.out, item.out...)
	}
}

// read hands each field of a message to visit.
func read(b []byte, visit func(*fields)) error {
	f := fields{reading: true}
	for len(b) > 0 {
		if b = f.next(b); f.err != nil {
			return f.err
		}
		f.known = false
		visit(&f)
		if f.err != nil {
			return f.err
		}
		if !f.known {
			return ErrNewer
		}
	}
	return nil
}

// next takes the field at the beginning of b and returns the rest.
func (f *fields) next(b []byte) []byte {
	tag, b, ok := uvarint(b)
	f.number, f.kind = int(tag>>3), tag&7
	if !ok || tag>>3 > math.MaxInt32 {
		f.err = ErrMalformed
		return nil
	}
	switch f.kind {
	case varint:
		f.u, b, ok = uvarint(b)
	case bytes8:
		if ok = len(b) >= 8; ok {
			f.u, b = binary.LittleEndian.Uint64(b), b[8:]
		}
	case counted:
		var n uint64
		if n, b, ok = uvarint(b); ok {
			if ok = n <= uint64(len(b)); ok {
				f.b, b = b[:n:n], b[n:]
			}
		}
	default:
		ok = false
	}
	if !ok {
		f.err = ErrMalformed
		return nil
	}
	return b
}

func uvarint(b []byte) (uint64, []byte, bool) {
	u, n := binary.Uvarint(b)
	if n <= 0 {
		return 0, nil, false
	}
	return u, b[n:], true
}
