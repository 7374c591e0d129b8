package remote

import (
	"cmp"
	"slices"
	"strings"

	"github.com/tunehost/tunehost/host/plugin/process"
)

// Move says that what is in a folder on one node is in another folder on another node.
type Move struct{ From, To string }

// Rewrite changes the paths in a program to those of another node: its file, its directory, and wherever its arguments
// and variables name them.
func Rewrite(p *process.Program, moves []Move) {
	longer := func(a, b Move) int { return cmp.Compare(len(b.From), len(a.From)) }
	moves = slices.SortedFunc(slices.Values(moves), longer)
	p.Path, p.Dir = rewritten(p.Path, moves), rewritten(p.Dir, moves)
	p.Args, p.Env = slices.Clone(p.Args), slices.Clone(p.Env)
	for _, list := range [][]string{p.Args, p.Env} {
		for i := range list {
			list[i] = rewritten(list[i], moves)
		}
	}
}

// rewritten replaces folders in a text. The longest ones come first. What was replaced is not replaced again.
func rewritten(text string, moves []Move) string {
	var b strings.Builder
	for i := 0; i < len(text); {
		m := beginning(text[i:], moves)
		if m == nil {
			b.WriteByte(text[i])
			i++
			continue
		}
		b.WriteString(m.To)
		i += len(m.From)
	}
	return b.String()
}

// beginning returns the folder with which a text begins; nil: with none.
func beginning(text string, moves []Move) *Move {
	for i := range moves {
		rest, ok := strings.CutPrefix(text, moves[i].From)
		if ok && moves[i].From != "" && (rest == "" || !inName(rest[0])) {
			return &moves[i]
		}
	}
	return nil
}

// inName reports whether a byte after a path continues the name of its last folder.
func inName(c byte) bool {
	return c >= 0x80 || c == '.' || c == '_' || c == '-' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' ||
		c >= 'A' && c <= 'Z'
}
