package history

import "github.com/tunehost/tunehost/core/record"

// A batch has consecutive entries and, after them, the reason why there are no more: io.EOF, an
// error of the source, or one of the next entry, which is an *entryError.
type batch struct {
	entries []Entry
	end     error
	bytes   []byte // of the entries, where they are copies
	// pool has the memory of the events; nil: they take new memory.
	pool *record.Pool
}

// newBatch returns an empty batch, with a pool or without.
func newBatch(pooled bool) (b batch) {
	if pooled {
		b.pool = new(record.Pool)
	}
	return b
}

// empty returns a batch without entries, in the same memory.
func (b batch) empty() batch {
	b.pool.Free()
	return batch{entries: b.entries[:0], bytes: b.bytes[:0], pool: b.pool}
}

// read adds the next records of a source. It copies them: the source overwrites them when it is read
// again.
func (b *batch) read(s Source) {
	first, records, err := s.Next()
	if err != nil {
		b.end = err
		return
	}
	b.add(first, records, true)
}

// add adds records, or copies of them, up to the first one that is no entry.
func (b *batch) add(first uint64, records [][]byte, own bool) {
	number := first
	defer func() {
		if p := recover(); p != nil {
			b.end = &entryError{number, senseless(p)}
		}
	}()
	for _, r := range records {
		if own {
			from := len(b.bytes)
			b.bytes = append(b.bytes, r...)
			r = b.bytes[from:len(b.bytes):len(b.bytes)]
		}
		at, e, err := b.pool.Parse(r)
		if err != nil {
			b.end = &entryError{number, err}
			return
		}
		b.entries = append(b.entries, Entry{number, at, e, r})
		number++
	}
}
