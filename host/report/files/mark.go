package files

import (
	"bytes"
	"strconv"

	"github.com/tunehost/tunehost/host/view"
)

// mark identifies a row: its first four fields.
type mark struct {
	iteration uint64
	attempt   uint32
	event     uint64
	done      bool
}

func markOf(e *view.Event) mark {
	return mark{e.Result.Iteration, e.Trial.Attempt, e.Number, e.Result.Done}
}

// append writes the mark with a text before each field.
func (m mark) append(b []byte, before *[4]string) []byte {
	b = strconv.AppendUint(append(b, before[0]...), m.iteration, 10)
	b = strconv.AppendUint(append(b, before[1]...), uint64(m.attempt), 10)
	b = strconv.AppendUint(append(b, before[2]...), m.event, 10)
	return strconv.AppendBool(append(b, before[3]...), m.done)
}

// readMark reads what append wrote; false for a line that is not ours.
func readMark(line []byte, before *[4]string) (m mark, ok bool) {
	var n [3]uint64
	for i := range n {
		if line, ok = bytes.CutPrefix(line, []byte(before[i])); !ok {
			return m, false
		}
		if n[i], line, ok = cutUint(line); !ok {
			return m, false
		}
	}
	line, ok = bytes.CutPrefix(line, []byte(before[3]))
	return mark{n[0], uint32(n[1]), n[2], bytes.HasPrefix(line, []byte("true"))}, ok
}

func cutUint(line []byte) (n uint64, rest []byte, ok bool) {
	i := 0
	for ; i < len(line) && '0' <= line[i] && line[i] <= '9'; i++ {
		n = n*10 + uint64(line[i]-'0')
	}
	return n, line[i:], i > 0
}
