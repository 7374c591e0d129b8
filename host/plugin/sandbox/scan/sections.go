package scan

import (
	"fmt"
	"math"
	"strings"
)

// ValType is the type of a value, numbered as in the binary format.
type ValType byte

// The types of numbers.
const (
	I32 ValType = 0x7f
	I64 ValType = 0x7e
	F32 ValType = 0x7d
	F64 ValType = 0x7c
)

var valNames = map[ValType]string{I32: "i32", I64: "i64", F32: "f32", F64: "f64", 0x7b: "v128", 0x70: "funcref",
	0x6f: "externref"}

// FuncType is the type of a function.
type FuncType struct{ Params, Results []ValType }

// String writes a type as "(i32, i32) → i64".
func (t FuncType) String() string {
	if len(t.Results) == 0 {
		return list(t.Params)
	}
	return list(t.Params) + " → " + strings.Trim(list(t.Results), "()")
}

func list(types []ValType) string {
	names := make([]string, len(types))
	for i, t := range types {
		names[i] = valNames[t]
	}
	return "(" + strings.Join(names, ", ") + ")"
}

func (r *reader) valType() ValType {
	t := ValType(r.byte())
	if valNames[t] == "" && r.err == nil {
		r.fail(fmt.Errorf("there is no type 0x%02x", byte(t)))
	}
	return t
}

func (r *reader) valTypes(what string) []ValType {
	n := r.count(what, 1, maxSignature)
	types := make([]ValType, n)
	for i := range types {
		types[i] = r.valType()
	}
	return types
}

func (s *scanner) typeSection(in *reader) error {
	n := in.count("types", 3, maxTypes)
	s.types = make([]FuncType, n)
	for i := range s.types {
		if form := in.byte(); form != 0x60 && in.err == nil {
			return fmt.Errorf("there is no type of the form 0x%02x", form)
		}
		s.types[i] = FuncType{in.valTypes("parameters"), in.valTypes("results")}
	}
	return in.err
}

func (s *scanner) importSection(in *reader) error {
	for range in.count("imports", 4, maxImports) {
		module, name := in.name(), in.name()
		kind, index := ExternKind(in.byte()), in.u32()
		switch {
		case in.err != nil:
			return in.err
		case kind != Func:
			return fmt.Errorf("it imports the %s %q of %q; only functions may be imported", kind, name, module)
		case int(index) >= len(s.types):
			return fmt.Errorf("there is no type %d", index)
		}
		s.funcs = append(s.funcs, index)
		s.module.Imports = append(s.module.Imports, Import{module, name, s.types[index]})
	}
	s.imported = len(s.funcs)
	return in.err
}

func (s *scanner) functionSection(in *reader) error {
	for range in.count("functions", 1, maxFunctions) {
		index := in.u32()
		if int(index) >= len(s.types) && in.err == nil {
			return fmt.Errorf("there is no type %d", index)
		}
		s.funcs = append(s.funcs, index)
	}
	return in.err
}

// limits reads the initial size of a table or memory.
func (r *reader) limits() uint32 {
	flags := r.byte()
	if flags > 1 && r.err == nil {
		r.fail(fmt.Errorf("it is shared or has 64 bits (flags 0x%02x), which is not supported", flags))
	}
	least := r.u32()
	if flags == 1 {
		r.u32()
	}
	return least
}

func (s *scanner) tableSection(in *reader) error {
	for range in.count("tables", 3, maxTables) {
		in.valType()
		if s.tables += uint64(in.limits()); s.tables > maxTable {
			return tooMany("table entries", s.tables, maxTable)
		}
	}
	return in.err
}

func (s *scanner) memorySection(in *reader) error {
	for range in.count("memories", 2, 1) {
		if least := uint64(in.limits()) * pageBytes; least > s.memory {
			return fmt.Errorf("it begins with %d MiB of memory, but the limit is %d (sandbox.memory)", least>>20,
				s.memory>>20)
		}
	}
	return in.err
}

func (s *scanner) globalSection(in *reader) error {
	for range in.count("globals", 4, maxGlobals) {
		in.valType()
		in.byte()
		in.constant()
	}
	return in.err
}

func (s *scanner) exportSection(in *reader) error {
	for range in.count("exports", 3, maxExports) {
		name, kind, index := in.name(), ExternKind(in.byte()), in.u32()
		if in.err != nil {
			return in.err
		}
		e := Export{Kind: kind}
		if kind == Func {
			if int(index) >= len(s.funcs) {
				return fmt.Errorf("there is no function %d", index)
			}
			e.Type = s.types[s.funcs[index]]
		}
		s.module.Exports[name] = e
	}
	return in.err
}

// elementSection reads the eight forms of segments: bit 0 says passive or declared, bit 1 a table or a
// declaration, bit 2 expressions.
func (s *scanner) elementSection(in *reader) error {
	for range in.count("segments", 3, maxSegments) {
		flags := in.u32()
		if flags > 7 && in.err == nil {
			return fmt.Errorf("there is no segment with the flags 0x%x", flags)
		}
		if flags&1 == 0 { // active
			if flags&2 != 0 {
				in.u32()
			}
			in.constant()
		}
		if flags&3 != 0 {
			in.byte() // its kind or type
		}
		for range in.count("elements", 1, math.MaxInt32) {
			if flags&4 != 0 {
				in.constant()
			} else {
				in.u32()
			}
		}
	}
	return in.err
}

func (s *scanner) dataSection(in *reader) error {
	for range in.count("segments", 2, maxSegments) {
		flags := in.u32()
		if flags > 2 && in.err == nil {
			return fmt.Errorf("there is no segment with the flags 0x%x", flags)
		}
		if flags == 2 {
			in.u32()
		}
		if flags != 1 {
			in.constant()
		}
		if data := in.sub(); data.err != nil {
			return data.err
		}
	}
	return in.err
}

// names reports whether a custom section is a readable one of names; all others are dropped.
func names(in *reader) bool {
	if in.name() != "name" {
		return false
	}
	for in.err == nil && len(in.data) > 0 {
		id := in.byte()
		part := in.sub()
		switch id {
		case 0:
			part.name()
		case 1:
			part.nameMap()
		case 2:
			for range part.count("functions", 2, maxFunctions) {
				part.u32()
				part.nameMap()
			}
		default:
			part.data = nil
		}
		if part.end() != nil {
			return false
		}
	}
	return in.err == nil
}

func (r *reader) nameMap() {
	for range r.count("names", 2, maxFunctions) {
		r.u32()
		r.name()
	}
}
