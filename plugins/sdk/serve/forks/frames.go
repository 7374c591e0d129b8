//go:build linux

package forks

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
)

const (
	headSize = 4
	// maxFrame bounds what a broken sender can make this process allocate. What a trial reports is far smaller, and a
	// length that is none must not be waited for.
	maxFrame = 8 << 20
)

// frame encodes a value.
func frame(value any) ([]byte, error) {
	body, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	head := binary.LittleEndian.AppendUint32(make([]byte, 0, headSize+len(body)), uint32(len(body)))
	return append(head, body...), nil
}

var errTooLarge = fmt.Errorf("it announces a message of more than %d bytes", maxFrame)

// readFrame returns the JSON of the next frame. The slice is valid until the next call with the same buffer.
func readFrame(r io.Reader, buffer *[]byte) ([]byte, error) {
	var head [headSize]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, err
	}
	size := binary.LittleEndian.Uint32(head[:])
	if size > maxFrame {
		return nil, errTooLarge
	}
	if int(size) > cap(*buffer) {
		*buffer = make([]byte, size)
	}
	body := (*buffer)[:size]
	_, err := io.ReadFull(r, body)
	return body, err
}

// sendFile sends data and a file.
func sendFile(conn *net.UnixConn, data []byte, file *os.File) error {
	sent, _, err := conn.WriteMsgUnix(data, syscall.UnixRights(int(file.Fd())), nil)
	if err == nil && sent < len(data) {
		_, err = conn.Write(data[sent:])
	}
	return err
}

// pair returns two connected ends: one for this process and one for a trial.
func pair() (ours *net.UnixConn, theirs *os.File, err error) {
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, os.NewSyscallError("socketpair", err)
	}
	theirs = os.NewFile(uintptr(fds[1]), "trial")
	ours, err = connection(fds[0])
	if err != nil {
		_ = theirs.Close()
	}
	return ours, theirs, err
}

// connection takes over a file descriptor of a socket.
func connection(fd int) (*net.UnixConn, error) {
	file := os.NewFile(uintptr(fd), "socket")
	defer file.Close()
	conn, err := net.FileConn(file)
	if err != nil {
		return nil, err
	}
	unix, ok := conn.(*net.UnixConn)
	if !ok {
		_ = conn.Close()
		return nil, errors.New("it is no unix socket")
	}
	return unix, nil
}
