package sandbox

import (
	"github.com/tetratelabs/wazero/experimental"
	"golang.org/x/sys/unix"
)

// memory is the memory of an instance: a range of addresses that is reserved once, and made usable as
// the module grows. Growing copies nothing. When the instance ends, the memory goes back to the system
// at once; a Go slice would wait for a garbage collection.
type memory struct{ all []byte }

// newMemory reserves a range of max bytes.
func newMemory(_, max uint64) experimental.LinearMemory {
	all, err := unix.Mmap(-1, 0, int(max), unix.PROT_NONE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return &memory{}
	}
	return &memory{all}
}

// Reallocate implements experimental.LinearMemory. The addresses stay the same.
func (m *memory) Reallocate(size uint64) []byte {
	if size == 0 {
		return m.all[:0]
	}
	if size > uint64(len(m.all)) || unix.Mprotect(m.all[:size], unix.PROT_READ|unix.PROT_WRITE) != nil {
		return nil
	}
	return m.all[:size:size]
}

// Free implements experimental.LinearMemory.
func (m *memory) Free() {
	if m.all != nil {
		_ = unix.Munmap(m.all)
		m.all = nil
	}
}
