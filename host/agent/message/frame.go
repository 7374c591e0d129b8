package message

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"sync"
)

// MaxFrame is the largest content of a frame, in bytes. Output and files are cut into smaller ones.
const MaxFrame = 1 << 20

// Chunk is how much of an output or a file goes into one frame, in bytes.
const Chunk = 64 << 10

// header is the kind and the length of a frame.
const header = 5

// Frame is one message.
type Frame struct {
	Kind    Kind
	Content []byte
}

// Kind is a kind of frames.
type Kind byte

// The kinds. A stream for which the first frame of the answer is No has failed, and ends with it.
const (
	Ask    Kind = 'q' // JSON: what the opener of the stream wants
	Yes    Kind = 'y' // JSON: it is done, or has begun
	No     Kind = 'n' // JSON: a Refusal
	Stdout Kind = 'o' // bytes that the process has printed
	Stderr Kind = 'e'
	Exit   Kind = 'x' // JSON: an Ended
	Kill   Kind = 'k' // kill the process
	Signal Kind = 'g' // JSON: a Signalled
	Item   Kind = 'i' // JSON: a file or folder begins, see package tree; or a Stored
	Data   Kind = 'd' // bytes of a file
	Sum    Kind = 's' // JSON: the checksum of the file
	Log    Kind = 'l' // JSON: a LogFile
	End    Kind = '.' // there is no more
)

// Read reads a frame. The content is valid until the next call with the same buffer.
func Read(r io.Reader, buffer []byte) (Frame, error) {
	var head [header]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return Frame{}, err
	}
	size := binary.BigEndian.Uint32(head[1:])
	if size > MaxFrame {
		return Frame{}, fmt.Errorf("a message has %d bytes, more than the %d allowed", size, MaxFrame)
	}
	if int(size) > cap(buffer) {
		buffer = make([]byte, size)
	}
	_, err := io.ReadFull(r, buffer[:size])
	return Frame{Kind(head[0]), buffer[:size]}, err
}

// Expect reads a frame of one kind into a value, or the refusal that came instead.
func Expect(r io.Reader, kind Kind, into any) error {
	f, err := Read(r, nil)
	if err != nil {
		return err
	}
	if f.Kind == No && kind != No {
		return RefusalFrom(f.Content)
	}
	if f.Kind != kind {
		return fmt.Errorf("a message of kind %q came where %q was expected", f.Kind, kind)
	}
	if into == nil {
		return nil
	}
	return Decode(f.Content, into)
}

// Decode reads the JSON of a frame.
func Decode(content []byte, into any) error {
	if err := json.Unmarshal(content, into); err != nil {
		return fmt.Errorf("a message cannot be read: %w", err)
	}
	return nil
}

// Writer writes frames. Any goroutine may call its methods.
type Writer struct {
	mu  sync.Mutex
	to  io.Writer
	out []byte
}

// NewWriter returns a writer of frames.
func NewWriter(to io.Writer) *Writer { return &Writer{to: to} }

// Write writes a frame.
func (w *Writer) Write(kind Kind, content []byte) error {
	if len(content) > MaxFrame {
		return fmt.Errorf("a message has %d bytes, more than the %d allowed", len(content), MaxFrame)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.out = append(w.out[:0], byte(kind))
	w.out = binary.BigEndian.AppendUint32(w.out, uint32(len(content)))
	w.out = append(w.out, content...)
	_, err := w.to.Write(w.out)
	return err
}

// Put writes a frame with JSON.
func (w *Writer) Put(kind Kind, content any) error {
	text, err := json.Marshal(content)
	if err != nil {
		return err
	}
	return w.Write(kind, text)
}

// Copy writes what a reader has as frames of a kind, until its end.
func (w *Writer) Copy(kind Kind, r io.Reader) error {
	buffer := make([]byte, Chunk)
	for {
		n, err := r.Read(buffer)
		if n > 0 {
			if err := w.Write(kind, buffer[:n]); err != nil {
				return err
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
