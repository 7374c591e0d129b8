package mirror

import (
	"fmt"
	"slices"

	"github.com/tunehost/tunehost/host/storage"
)

// blobError says that a file of a checkpoint is not in the store, or another one is in its place. It is [ErrNone].
type blobError struct{ url, file, what string }

func (e *blobError) Error() string {
	return fmt.Sprintf("%s, which has its file %s, %s", e.url, e.file, e.what)
}

// Is makes it ErrNone: what the store has of the file is of no use.
func (e *blobError) Is(target error) bool { return target == ErrNone }

func (s *Store) blobURL(m *storage.Manifest, f storage.File) string { return Join(s.url, keyOf(m, f)) }

// lack notes that a checkpoint lacks a file in the store.
func (s *Store) lack(checkpoint string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lacks = append(s.lacks, fmt.Sprintf("the checkpoint %s is damaged in the storage: %v", checkpoint, err))
}

// Lacks says which checkpoints were found damaged since the last call: which of them, what of it, and where; "" if all
// are whole.
func (s *Store) Lacks() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.lacks) == 0 {
		return ""
	}
	all := s.lacks
	s.lacks = nil
	slices.Sort(all)
	more := ""
	if n := len(all) - 1; n > 0 {
		more = fmt.Sprintf(" (and %d more)", n)
	}
	return all[0] + more + "; put it back from a copy, or trials that need it continue from an older one, or " +
		"from their beginning"
}
