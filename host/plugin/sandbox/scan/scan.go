// Package scan reads a WASM module's binary before it is compiled, and refuses what could harm the
// compiling process: counts that the remaining bytes cannot hold (a module of 21 bytes that announces
// 2^32-1 imports ends a process in wazero's decoder, by an allocation that Go cannot recover from),
// billions of locals, tables and memories beyond the limits, blocks nested thousands deep. It is not a
// validator: the compiler refuses other invalid modules.
//
// It is the second line of defence. The first is that modules are compiled in a process of their own
// (package sandbox).
package scan

import (
	"errors"
	"fmt"
)

// Limits of modules. Those that the user does not set are far above what compilers produce: Go's own
// compiler, a module of 49 MB, has 20,000 functions, 24,000 table entries, 100,000 segments of data
// and blocks nested 7,741 deep.
const (
	maxTypes     = 100_000
	maxSignature = 1_000 // parameters, and results, of one type
	maxImports   = 1_000
	maxFunctions = 200_000
	maxTables    = 10
	maxTable     = 1_000_000 // entries at the start, in all tables
	maxGlobals   = 100_000
	maxExports   = 100_000
	maxSegments  = 200_000
	maxLocals    = 50_000 // of one function, parameters apart
	maxNesting   = 10_000
	pageBytes    = 64 << 10
)

// Module is the result of a scan.
type Module struct {
	Imports []Import
	Exports map[string]Export
	// Code is the module without its custom sections, except a readable one of names, the only one that
	// the compiler reads.
	Code []byte
}

// Import is a function that the module imports.
type Import struct {
	Module, Name string
	Type         FuncType
}

// Export is a function or a memory; Type is that of a function.
type Export struct {
	Kind ExternKind
	Type FuncType
}

// ExternKind is the kind of an import or export.
type ExternKind byte

// The kinds.
const (
	Func ExternKind = iota
	Table
	Memory
	Global
)

func (k ExternKind) String() string {
	names := [...]string{"function", "table", "memory", "global"}
	if int(k) >= len(names) {
		return "thing of an unknown kind"
	}
	return names[k]
}

// Check scans a module, whose initial memories may have up to memory bytes.
func Check(wasm []byte, memory uint64) (*Module, error) {
	s := &scanner{memory: memory, module: Module{Exports: map[string]Export{}}}
	if err := s.run(wasm); err != nil {
		return nil, err
	}
	return &s.module, nil
}

var (
	magic     = []byte("\x00asm")
	version   = []byte("\x01\x00\x00\x00")
	component = []byte("\x0d\x00\x01\x00")
)

// scanner keeps what later sections need of earlier ones.
type scanner struct {
	memory   uint64
	module   Module
	types    []FuncType
	funcs    []uint32 // the type of each function, imported ones first
	imported int
	tables   uint64 // entries
	seen     [16]bool
}

func (s *scanner) run(wasm []byte) error {
	in := &reader{data: wasm}
	if string(in.bytes(4)) != string(magic) || in.err != nil {
		return errors.New("it is not a WASM module: it does not begin with \\0asm")
	}
	switch v := string(in.bytes(4)); v {
	case string(version):
	case string(component):
		return errors.New("it is a WASM component; tunehost runs core modules (package plugins/sdk/abi says which)")
	default:
		return errors.New("it is a WASM module of an unknown version")
	}
	s.module.Code = append(s.module.Code, wasm[:8]...)
	for in.err == nil && len(in.data) > 0 {
		if err := s.section(in); err != nil {
			return err
		}
	}
	if in.err == nil && s.seen[sectionFunction] != s.seen[sectionCode] {
		return errors.New("it has functions without code, or code without functions")
	}
	return in.err
}

// The sections' numbers.
const (
	sectionCustom = iota
	sectionType
	sectionImport
	sectionFunction
	sectionTable
	sectionMemory
	sectionGlobal
	sectionExport
	sectionStart
	sectionElement
	sectionCode
	sectionData
	sectionDataCount
)

var sectionNames = [...]string{"custom", "type", "import", "function", "table", "memory", "global", "export",
	"start", "element", "code", "data", "data count"}

// section scans the next section, and keeps it unless the compiler must not see it.
func (s *scanner) section(in *reader) error {
	whole := in.data
	id := in.byte()
	body := in.sub()
	if in.err != nil {
		return fmt.Errorf("a section is cut off: %w", in.err)
	}
	whole = whole[:len(whole)-len(in.data)]
	if id == sectionCustom {
		if names(body) {
			s.keep(whole)
		}
		return nil
	}
	if int(id) >= len(sectionNames) {
		return fmt.Errorf("it has a section of the unknown kind %d: it uses a proposal that is not supported", id)
	}
	if s.seen[id] {
		return fmt.Errorf("it has two %s sections", sectionNames[id])
	}
	s.seen[id] = true
	err := s.content(id, body)
	if err == nil {
		err = body.end()
	}
	if err != nil {
		return fmt.Errorf("its %s section: %w", sectionNames[id], err)
	}
	s.keep(whole)
	return nil
}

func (s *scanner) keep(section []byte) { s.module.Code = append(s.module.Code, section...) }

func (s *scanner) content(id byte, in *reader) error {
	switch id {
	case sectionType:
		return s.typeSection(in)
	case sectionImport:
		return s.importSection(in)
	case sectionFunction:
		return s.functionSection(in)
	case sectionTable:
		return s.tableSection(in)
	case sectionMemory:
		return s.memorySection(in)
	case sectionGlobal:
		return s.globalSection(in)
	case sectionExport:
		return s.exportSection(in)
	case sectionElement:
		return s.elementSection(in)
	case sectionCode:
		return s.codeSection(in)
	case sectionData:
		return s.dataSection(in)
	}
	// The remaining sections have one number.
	if n := in.u32(); id == sectionDataCount && n > maxSegments {
		return tooMany("segments", n, maxSegments)
	}
	return nil
}

func tooMany[N uint32 | uint64 | int](what string, n N, most int) error {
	return fmt.Errorf("%d %s are more than the %d allowed", n, what, most)
}
