package process_test

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"github.com/tunehost/tunehost/host/plugin/process"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// B-074: a binary of another system is named as such: the kernel only says that something does not exist.
func TestNoLoader(t *testing.T) {
	c := process.Config{Program: process.Program{Kind: sdk.KindSearcher, Name: "x", Path: binaryFor(t, "/no/ld.so")}}
	wantNotStarted(t, c, c.Path+": what loads its libraries (ld.so) does not exist: it was built for another system")
}

// binaryFor makes a file of which the kernel reads no more than the path of its loader.
func binaryFor(t *testing.T, loader string) string {
	t.Helper()
	own, err := elf.Open("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	defer own.Close()
	head := elf.Header64{Type: uint16(elf.ET_EXEC), Machine: uint16(own.Machine), Version: uint32(elf.EV_CURRENT),
		Phentsize: 56, Phnum: 1, Ehsize: 64, Phoff: 64}
	copy(head.Ident[:], elf.ELFMAG+"\x02\x01\x01")
	named := elf.Prog64{Type: uint32(elf.PT_INTERP), Off: 64 + 56, Filesz: uint64(len(loader)) + 1}
	var text bytes.Buffer
	for _, part := range []any{head, named, []byte(loader + "\x00")} {
		if err := binary.Write(&text, binary.LittleEndian, part); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(t.TempDir(), "binary")
	if err := os.WriteFile(path, text.Bytes(), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}
