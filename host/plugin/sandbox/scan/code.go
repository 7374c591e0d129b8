package scan

import (
	"fmt"
	"math"
)

func (s *scanner) codeSection(in *reader) error {
	n := in.count("functions", 3, MaxFunctions)
	if want := len(s.funcs) - s.imported; n != want && in.err == nil {
		return fmt.Errorf("it has the code of %d functions, of %d that are announced", n, want)
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
		if locals > MaxLocals {
			return tooMany("locals", locals, MaxLocals)
		}
	}
	depth := 1
	for in.err == nil && depth > 0 {
		depth += in.instruction()
		if depth > MaxNesting {
			return fmt.Errorf("its blocks are nested more than %d deep", MaxNesting)
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

// immediates are what follows an instruction of one byte: 'n' a number, 'l' one of 64
// bits, 'm' a place in memory, '1', '4', '8' bytes, 'b' the type of a block,
// 't' types, 'j' a table of jumps. Instructions that are not here do not exist.
var immediates = func() (t [256]string) {
	fill := func(from, to int, what string) {
		for i := from; i <= to; i++ {
			t[i] = what
		}
	}
	fill(0x00, 0x01, "-") // unreachable, nop
	fill(0x02, 0x04, "b") // block, loop, if
	t[0x05], t[0x0b] = "-", "-"
	fill(0x0c, 0x0d, "n") // br, br_if
	t[0x0e] = "j"         // br_table
	t[0x0f] = "-"         // return
	t[0x10], t[0x11] = "n", "nn"
	fill(0x1a, 0x1b, "-") // drop, select
	t[0x1c] = "t"         // select of a type
	fill(0x20, 0x26, "n") // locals, globals, tables
	fill(0x28, 0x3e, "m") // loads and stores
	fill(0x3f, 0x40, "n") // memory.size, memory.grow
	t[0x41], t[0x42], t[0x43], t[0x44] = "n", "l", "4", "8"
	fill(0x45, 0xc4, "-") // comparisons, arithmetic, conversions
	t[0xd0], t[0xd1], t[0xd2] = "1", "-", "n"
	return t
}()

// instruction reads one, and returns by how much it changes the nesting.
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
	r.immediate(op, immediates[op])
	return nests
}

func (r *reader) immediate(op byte, what string) {
	if what == "" {
		r.fail(fmt.Errorf("there is no instruction 0x%02x: it uses a proposal that is not supported", op))
	}
	for _, kind := range what {
		switch kind {
		case 'n':
			r.skip(5)
		case 'l':
			r.skip(10)
		case 'm':
			r.skip(5)
			r.skip(5)
		case '1', '4', '8':
			r.bytes(int(kind - '0'))
		case 'b':
			r.skip(5)
		case 't':
			r.valTypes("types")
		case 'j':
			for range r.count("jumps", 1, math.MaxInt32) {
				r.u32()
			}
			r.u32()
		}
	}
}

// bulk reads an instruction on whole pieces of memory or tables, or a conversion that
// saturates.
func (r *reader) bulk() {
	numbers := [...]int{8: 2, 9: 1, 10: 2, 11: 1, 12: 2, 13: 1, 14: 2, 15: 1, 16: 1, 17: 1}
	op := r.u32()
	if op >= uint32(len(numbers)) {
		r.fail(fmt.Errorf("there is no instruction 0xfc %d", op))
		return
	}
	for range numbers[op] {
		r.skip(5)
	}
}

// vector reads an instruction on 128 bits.
func (r *reader) vector() {
	switch op := r.u32(); {
	case op <= 11, op == 92, op == 93: // loads and stores
		r.immediate(0xfd, "m")
	case op == 12, op == 13: // a constant, a shuffle
		r.bytes(16)
	case op >= 21 && op <= 34: // lanes
		r.byte()
	case op >= 84 && op <= 91: // loads and stores of lanes
		r.immediate(0xfd, "m1")
	case op > 255:
		r.fail(fmt.Errorf("there is no instruction 0xfd %d: it uses a proposal that is not supported", op))
	}
}
