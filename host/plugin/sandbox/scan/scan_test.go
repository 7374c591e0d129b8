package scan

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// modules are those of the sandbox's tests: small, and of every kind.
func modules(t testing.TB) map[string][]byte {
	t.Helper()
	files, err := filepath.Glob("../testdata/broken/*.wasm")
	if err != nil || len(files) < 40 {
		t.Fatal(files, err)
	}
	all := map[string][]byte{}
	for _, file := range files {
		if all[filepath.Base(file)], err = os.ReadFile(file); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// Check refuses or accepts a module that is cut or has a changed byte, and does nothing else.
func TestDamage(t *testing.T) {
	for name, wasm := range modules(t) {
		if len(wasm) > 1000 {
			continue
		}
		for n := range wasm {
			if _, err := Check(wasm[:n], 1<<20); err == nil && n < 8 {
				t.Errorf("%s: its first %d bytes are taken for a module", name, n)
			}
			for _, b := range []byte{0, 1, 0x7f, 0x80, 0xff, wasm[n] ^ 1} {
				damaged := bytes.Clone(wasm)
				damaged[n] = b
				_, _ = Check(damaged, 1<<20)
			}
		}
	}
}

func section(id byte, body ...byte) []byte { return append([]byte{id, byte(len(body))}, body...) }

func module(sections ...[]byte) []byte {
	return append([]byte("\x00asm\x01\x00\x00\x00"), bytes.Join(sections, nil)...)
}

func TestRefused(t *testing.T) {
	types, functions := section(1, 1, 0x60, 0, 0), section(3, 1, 0)
	code := func(body ...byte) []byte {
		return section(10, append([]byte{1, byte(len(body))}, body...)...)
	}
	for _, c := range []struct {
		want string
		wasm []byte
	}{
		{`it is not a WASM module: it does not begin with \0asm`, []byte("#!/bin/sh")},
		{`it is not a WASM module: it does not begin with \0asm`, nil},
		{"it is a WASM module of an unknown version", []byte("\x00asm\x02\x00\x00\x00")},
		{"it has two type sections", module(types, types)},
		{"it has a section of the unknown kind 13: it uses a proposal that is not supported", module(section(13, 0))},
		{"it has functions without code, or code without functions", module(types, functions)},
		{"its code section: it has the code of 1 functions, but announces 0", module(types, code(0, 0x0b))},
		{"its function section: there is no type 0", module(functions)},
		{"its type section: there is no type of the form 0x5e", module(section(1, 1, 0x5e, 0, 0))},
		{"its type section: there is no type 0x01", module(section(1, 1, 0x60, 1, 1, 0))},
		{"its type section: 1 bytes are left over", module(section(1, 1, 0x60, 0, 0, 0))},
		{"its type section: 2000 parameters cannot be in the 1 bytes left", module(section(1, 1, 0x60, 0xd0, 0x0f, 0))},
		{"its table section: 127 tables cannot be in the 2 bytes left", module(section(4, 0x7f, 0x70, 0))},
		{"its memory section: it is shared or has 64 bits (flags 0x03), which is not supported",
			module(section(5, 1, 3, 1, 1))},
		{"its memory section: it begins with 2 MiB of memory, but the limit is 1 (sandbox.memory)",
			module(section(5, 1, 0, 32))},
		{"its export section: there is no function 7", module(section(7, 1, 1, 'f', 0, 7))},
		{"its export section: 127 bytes are announced, 3 are left", module(section(7, 1, 0x7f, 'f', 0, 7))},
		{"its element section: 126 elements cannot be in the 1 bytes left", module(section(9, 1, 1, 0, 0x7e, 0))},
		{"its data section: 126 bytes are announced, 1 are left", module(section(11, 1, 1, 0x7e, 0))},
		{"its data count section: 4294967295 segments are more than the 200000 allowed",
			module(section(12, 0xff, 0xff, 0xff, 0xff, 0x0f))},
		{"its data count section: a number is larger than 32 bits", module(section(12, 0xff, 0xff, 0xff, 0xff, 0x7f))},
		{"its data count section: a number has too many bytes", module(section(12, 0x80, 0x80, 0x80, 0x80, 0x80, 0))},
		{"its code section: function 0: there is no instruction 0x06: it uses a proposal that is not supported",
			module(types, functions, code(0, 6, 0x40, 0x0b))},
		{"its code section: function 0: there is no instruction 0xfe: it uses a proposal that is not supported",
			module(types, functions, code(0, 0xfe, 0, 0x0b))},
		{"its code section: function 0: there is no instruction 0xfc 18",
			module(types, functions, code(0, 0xfc, 18, 0x0b))},
		{"its code section: function 0: 127 jumps cannot be in the 2 bytes left",
			module(types, functions, code(0, 0x0e, 0x7f, 0, 0x0b))},
		{"its code section: function 0: it ends in the middle", module(types, functions, code(0, 0x41))},
		{"its code section: function 0: 1 bytes are left over", module(types, functions, code(0, 0x0b, 0))},
	} {
		_, err := Check(c.wasm, 1<<20)
		if err == nil || err.Error() != c.want {
			t.Errorf("%x: %v\nwant %s", c.wasm, err, c.want)
		}
	}
}

// Check finds what the module has; custom sections are dropped, except readable names.
func TestFound(t *testing.T) {
	names := section(0, []byte("\x04name\x01\x04\x01\x00\x01f")...)
	badNames := section(0, []byte("\x04name\x01\x06\xff\xff\xff\xff\x0f\x00")...)
	plain := module(
		section(1, 2, 0x60, 2, 0x7f, 0x7e, 1, 0x7c, 0x60, 0, 0),
		section(2, 1, 1, 'm', 1, 'i', 0, 0),
		section(3, 1, 1),
		section(5, 1, 1, 1, 2),
		section(6, 1, 0x7f, 1, 0x41, 5, 0x0b),
		section(7, 2, 1, 'f', 0, 1, 1, 'g', 0, 0),
		// one group of two locals; block, i32.const 0, drop, end, end
		section(10, 1, 10, 1, 2, 0x7f, 0x02, 0x40, 0x41, 0, 0x1a, 0x0b, 0x0b),
	)
	m, err := Check(append(bytes.Clone(plain), append(append(section(0, 1, 'x', 1, 2, 3), badNames...), names...)...),
		1<<20)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(m.Code, append(bytes.Clone(plain), names...)) {
		t.Errorf("what is kept is %x", m.Code)
	}
	if len(m.Imports) != 1 || m.Imports[0].Module != "m" || m.Imports[0].Name != "i" ||
		m.Imports[0].Type.String() != "(i32, i64) → f64" {
		t.Errorf("%+v", m.Imports)
	}
	if len(m.Exports) != 2 || m.Exports["f"].Type.String() != "()" ||
		m.Exports["g"].Type.String() != "(i32, i64) → f64" {
		t.Errorf("%+v", m.Exports)
	}
}

// FuzzCheck checks that no scan ends the process, and that an accepted module scans to the same result
// again.
func FuzzCheck(f *testing.F) {
	for _, wasm := range modules(f) {
		if len(wasm) < 1000 {
			f.Add(wasm)
		}
	}
	f.Fuzz(func(t *testing.T, wasm []byte) {
		m, err := Check(wasm, 16<<20)
		if err != nil {
			return
		}
		again, err := Check(m.Code, 16<<20)
		if err != nil || !bytes.Equal(again.Code, m.Code) {
			t.Fatalf("what passed does not pass again: %v", err)
		}
	})
}

func BenchmarkCheck(b *testing.B) {
	wasm, err := os.ReadFile(os.Getenv("MODULE"))
	if err != nil {
		b.Skip("MODULE names no module")
	}
	b.SetBytes(int64(len(wasm)))
	for b.Loop() {
		if _, err := Check(wasm, 256<<20); err != nil {
			b.Fatal(err)
		}
	}
}
