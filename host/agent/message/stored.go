package message

import (
	"fmt"
	"io"

	"github.com/tunehost/tunehost/host/storage"
)

// maxStored is more files than a checkpoint may have.
const maxStored = 100_000

// PutStored writes a list of files, and its end.
func PutStored(w *Writer, files []storage.File) error {
	for _, f := range files {
		if err := w.Put(Item, Stored{f.Path, f.Bytes, f.SHA256}); err != nil {
			return err
		}
	}
	return w.Write(End, nil)
}

// ReadStored reads a list of files, or the refusal that came instead of its end.
func ReadStored(r io.Reader) (files []storage.File, err error) {
	var buffer []byte
	for {
		f, err := Read(r, buffer)
		if err != nil {
			return nil, err
		}
		buffer = f.Content
		switch {
		case f.Kind == End:
			return files, nil
		case f.Kind == No:
			return nil, RefusalFrom(f.Content)
		case f.Kind != Item:
			return nil, fmt.Errorf("an unexpected message of kind %q", f.Kind)
		case len(files) == maxStored:
			return nil, fmt.Errorf("there are more than %d files", maxStored)
		}
		var x Stored
		if err := Decode(f.Content, &x); err != nil {
			return nil, err
		}
		files = append(files, storage.File{Path: x.Path, Bytes: x.Bytes, SHA256: x.SHA256})
	}
}
