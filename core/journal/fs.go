package journal

import "io"

// ReadFS is a directory, as readers need it. Names have no slashes.
type ReadFS interface {
	// List returns the names of the regular files, in any order.
	List() ([]string, error)
	// Open opens a file for reading.
	Open(name string) (ReadFile, error)
}

// ReadFile is a file open for reading. ReadAt may be called while another process writes.
type ReadFile interface {
	io.ReaderAt
	io.Closer
	Size() (int64, error)
}

// FS is a directory, as the writer needs it. Package journaltest has one that crashes and fails.
type FS interface {
	ReadFS
	// Create creates a file, or truncates an existing one.
	Create(name string) (File, error)
	// Rename renames a file and replaces an existing one.
	Rename(from, to string) error
	// Remove removes a file.
	Remove(name string) error
	// SyncDir makes all current names durable.
	SyncDir() error
}

// File is a file open for writing.
type File interface {
	io.WriterAt
	io.Closer
	Truncate(size int64) error
	// Sync makes contents and size durable (fdatasync).
	Sync() error
}
