package upload

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/tunehost/tunehost/host/agent/message"
	"github.com/tunehost/tunehost/internal/plainfile"
)

// Blob is a content that an agent wants, or that the host sends.
type Blob struct {
	SHA256 string
	Size   int64
}

// Send sends a tree to an agent that does not have it: first the list, then the contents that the agent
// requests. It returns the number of bytes of contents that were sent. The agent's last answer is not read.
func Send(conn io.ReadWriter, t *Tree) (sent int64, err error) {
	w := message.NewWriter(conn)
	paths := map[string]*File{}
	for i := range t.Files {
		f := &t.Files[i]
		if err := w.Put(message.Item, f); err != nil {
			return 0, err
		}
		if f.SHA256 != "" {
			paths[f.SHA256] = f
		}
	}
	if err := w.Write(message.End, nil); err != nil {
		return 0, err
	}
	wanted, err := readWanted(conn, paths)
	if err != nil {
		return 0, err
	}
	for _, f := range wanted {
		if err := sendBlob(w, t.Root, f); err != nil {
			return sent, err
		}
		sent += f.Size
	}
	return sent, nil
}

// readWanted reads which contents the agent does not have.
func readWanted(r io.Reader, paths map[string]*File) (wanted []*File, err error) {
	var buffer []byte
	for {
		f, err := message.Read(r, buffer)
		switch {
		case err != nil:
			return nil, err
		case f.Kind == message.No:
			return nil, message.RefusalFrom(f.Content)
		case f.Kind == message.End:
			return wanted, nil
		case f.Kind != message.Item || len(wanted) > maxFiles:
			return nil, unexpected(f.Kind)
		}
		buffer = f.Content
		var b Blob
		if err := message.Decode(f.Content, &b); err != nil {
			return nil, err
		}
		file := paths[b.SHA256]
		if file == nil {
			return nil, fmt.Errorf("the agent wants a file that was not offered")
		}
		wanted = append(wanted, file)
	}
}

func unexpected(k message.Kind) error {
	return fmt.Errorf("an unexpected message of kind %q", k)
}

// sendBlob sends a content. A file that has changed since it was listed is sent as it is, up to its length: the agent
// compares its checksum.
func sendBlob(w *message.Writer, root string, f *File) error {
	dir, err := os.OpenRoot(root)
	if err != nil {
		return err
	}
	defer dir.Close()
	in, err := plainfile.In(dir, filepath.FromSlash(f.Path), os.O_RDONLY)
	if err != nil {
		return err
	}
	defer in.Close()
	if err := w.Put(message.Item, Blob{f.SHA256, f.Size}); err != nil {
		return err
	}
	h := sha256.New()
	if err := w.Copy(message.Data, io.TeeReader(io.LimitReader(in, f.Size), h)); err != nil {
		return err
	}
	if hex.EncodeToString(h.Sum(nil)) != f.SHA256 {
		return &ChangedError{f.Path}
	}
	return nil
}

// ChangedError says that a file has changed while it was sent.
type ChangedError struct{ Path string }

func (e *ChangedError) Error() string { return e.Path + " has changed while it was uploaded" }
