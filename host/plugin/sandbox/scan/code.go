package scan

import (
	"fmt"
	"math"
)

func (s *scanner) codeSection(in *reader) error {
	n := in.count("functions", 3, maxFunctions)
	if want := len(s.funcs) - s.imported; n != want && in.err == nil {
		return fmt.Errorf("it has the code of %d functions, but announces %d", n, want)
	}
	for i := range n {
		body := in.sub()
		if err := function(body); err != nil {
			return fmt.Errorf("function %d: %w", s.imported+i, err)
		}
	}
	return in.err
}

// function reads a function's locals and instructions.
func function(in *reader) error {
	locals := uint64(0)
	for range in.count("groups of locals", 2, math.MaxInt32) {
		locals += uint64(in.u32())
		in.valType()
		if locals > maxLocals {
			return tooMany("locals", locals, maxLocals)
		}
	}
	depth := 1
	for in.err == nil && depth > 0 {
		depth += in.instruction()
		if depth > maxNesting {
			return fmt.Errorf("its blocks are nested more than %d deep", maxNesting)
		}
	}
	return in.end()
}

// constant reads an expression of constants.
func (r *reader) constant() {
	for r.err == nil {
		if r.instruction() < 0 {
			return
		}
	}
}

// immediate is what follows an instruction of one byte.
type immediate byte

const (
	unknown immediate = iota // there is no such instruction
	nothing
	number   // of up to 32 bits: an index, the type of a block
	numbers  // two of them: a place in memory, a call through a table
	wide     // a number of 64 bits
	bytes1   // a type
	bytes4   // a float
	bytes8   // a double
	typeList // of a select
	jumps    // of a br_table
)

var immediates = func() (t [256]immediate) {
	fill := func(from, to int, what immediate) {
		for i := from; i <= to; i++ {
			t[i] = what
		}
	}
	fill(0x00, 0x01, nothing) // unreachable, nop
	fill(0x02, 0x04, number)  // block, loop, if
	t[0x05], t[0x0b] = nothing, nothing
	fill(0x0c, 0x0d, number) // br, br_if
	t[0x0e], t[0x0f] = jumps, nothing
	t[0x10], t[0x11] = number, numbers
	fill(0x1a, 0x1b, nothing) // drop, select
	t[0x1c] = typeList
	fill(0x20, 0x26, number)  // locals, globals, tables
	fill(0x28, 0x3e, numbers) // loads and stores
	fill(0x3f, 0x40, number)  // memory.size, memory.grow
	t[0x41], t[0x42], t[0x43], t[0x44] = number, wide, bytes4, bytes8
	fill(0x45, 0xc4, nothing) // comparisons, arithmetic, conversions
	t[0xd0], t[0xd1], t[0xd2] = bytes1, nothing, number
	return t
}()

// instruction reads one instruction, and returns by how much it changes the nesting.
func (r *reader) instruction() (nests int) {
	op := r.byte()
	if r.err != nil {
		return 0
	}
	switch op {
	case 0x02, 0x03, 0x04:
		nests = 1
	case 0x0b:
		nests = -1
	case 0xfc:
		r.bulk()
		return 0
	case 0xfd:
		r.vector()
		return 0
	}
	if immediates[op] == unknown {
		r.fail(fmt.Errorf("there is no instruction 0x%02x: it uses a proposal that is not supported", op))
	}
	r.immediate(immediates[op])
	return nests
}

func (r *reader) immediate(what immediate) {
	switch what {
	case number:
		r.leb(5)
	case numbers:
		r.leb(5)
		r.leb(5)
	case wide:
		r.leb(10)
	case bytes1:
		r.bytes(1)
	case bytes4:
		r.bytes(4)
	case bytes8:
		r.bytes(8)
	case typeList:
		r.valTypes("types")
	case jumps:
		for range r.count("jumps", 1, math.MaxInt32) {
			r.leb(5)
		}
		r.leb(5)
	}
}

// bulk reads an instruction on memory ranges or tables, or a saturating conversion.
func (r *reader) bulk() {
	operands := [...]int{8: 2, 9: 1, 10: 2, 11: 1, 12: 2, 13: 1, 14: 2, 15: 1, 16: 1, 17: 1}
	op := r.u32()
	if op >= uint32(len(operands)) {
		r.fail(fmt.Errorf("there is no instruction 0xfc %d", op))
		return
	}
	for range operands[op] {
		r.leb(5)
	}
}

// vector reads an instruction on 128 bits.
func (r *reader) vector() {
	switch op := r.u32(); {
	case op <= 11, op == 92, op == 93: // loads and stores
		r.immediate(numbers)
	case op == 12, op == 13: // a constant, a shuffle
		r.bytes(16)
	case op >= 21 && op <= 34: // lanes
		r.byte()
	case op >= 84 && op <= 91: // loads and stores of lanes
		r.immediate(numbers)
		r.byte()
	case op > 255:
		r.fail(fmt.Errorf("there is no instruction 0xfd %d: it uses a proposal that is not supported", op))
	}
}
