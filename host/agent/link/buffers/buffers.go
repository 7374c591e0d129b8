// Package buffers lends buffers for frames. A connection needs one only while it sends or receives, and a host has a
// thousand connections.
package buffers

import "sync"

// Largest is the size of the largest buffer.
const Largest = 33 << 10

// smallest is enough for a result and for a decision. Were there large ones alone, a hundred goroutines that are
// interrupted while they have one would keep megabytes.
const smallest = 1 << 10

// Buffer is a buffer that was lent.
type Buffer struct {
	Bytes []byte
	from  *sync.Pool
}

var small, large = pool(smallest), pool(Largest)

func pool(size int) *sync.Pool {
	p := &sync.Pool{}
	p.New = func() any { return &Buffer{make([]byte, size), p} }
	return p
}

// Borrow lends a buffer of at least n bytes, and n is at most Largest.
func Borrow(n int) *Buffer {
	if n <= smallest {
		return small.Get().(*Buffer)
	}
	return large.Get().(*Buffer)
}

// Return gives it back.
func (b *Buffer) Return() { b.from.Put(b) }
