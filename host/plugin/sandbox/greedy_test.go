package sandbox_test

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/tunehost/tunehost/host/plugin"
	"github.com/tunehost/tunehost/host/plugin/process"
	"github.com/tunehost/tunehost/host/plugin/sandbox"
	"github.com/tunehost/tunehost/host/plugin/sandbox/sandboxtest"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// greedy is a valid module that takes a hundred times its size to compile, and as much again for each
// compiling goroutine: it has only large types.
func greedy(t testing.TB, types int) sandbox.Config {
	t.Helper()
	sound, err := os.ReadFile("testdata/broken/loop.wasm")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "greedy.wasm")
	if err := os.WriteFile(path, withTypes(sound, types), 0o600); err != nil {
		t.Fatal(err)
	}
	return sandbox.Config{Kind: sdk.KindSearcher, Name: "greedy", Path: path}
}

// withTypes adds function types to a module, each with a thousand parameters.
func withTypes(wasm []byte, n int) []byte {
	out := bytes.Clone(wasm[:8])
	for rest := wasm[8:]; len(rest) > 0; {
		id := rest[0]
		size, k := binary.Uvarint(rest[1:])
		section := rest[1+k : 1+k+int(size)]
		rest = rest[1+k+int(size):]
		for i := 0; id == 1 && i < n; i++ {
			section = more(section, signature(i))
		}
		out = append(binary.AppendUvarint(append(out, id), uint64(len(section))), section...)
	}
	return out
}

// signature is the i-th type: its parameters spell the number, in two sorts of zeros and ones.
func signature(i int) []byte {
	t := binary.AppendUvarint([]byte{0x60}, 1000)
	for bit := range 1000 {
		t = append(t, 0x7f-byte(i>>min(bit, 62)&1))
	}
	return append(t, 0)
}

// more adds an entry to a section.
func more(section, entry []byte) []byte {
	n, size := binary.Uvarint(section)
	return append(append(binary.AppendUvarint(nil, n+1), section[size:]...), entry...)
}

// B-074: a module that needs too much memory to compile is refused by name, and the machine suffers no
// harm.
func TestGreedy(t *testing.T) {
	c := greedy(t, 2000)
	c.CompileMemory = 24 << 20
	p, err := process.Start(t.Context(), sandboxtest.Process(t, c))
	if err == nil {
		_ = p.Close()
	}
	says(t, err, plugin.NotStarted, `searcher "greedy" `,
		"cannot be used: compiling it takes more than the 24 MiB of memory allowed")
}

// B-074: a module that needs too much processor time to compile is refused by name, long before the
// start times out.
func TestSlowToCompile(t *testing.T) {
	c := greedy(t, 2000)
	c.CompileTime = time.Millisecond
	p, err := process.Start(t.Context(), sandboxtest.Process(t, c))
	if err == nil {
		_ = p.Close()
	}
	says(t, err, plugin.NotStarted, `searcher "greedy" `,
		"cannot be used: compiling it takes more than the 0s of processor time allowed")
}

// The same module runs if it is allowed the memory.
func TestGreedyAllowed(t *testing.T) {
	if err := sandbox.Compile(t.Context(), greedy(t, 200)); err != nil {
		t.Error(err)
	}
}
