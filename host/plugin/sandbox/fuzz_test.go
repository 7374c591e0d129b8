package sandbox

import (
	"errors"
	"testing"
	"unicode/utf8"

	"github.com/hashicorp/go-hclog"
	"github.com/tetratelabs/wazero/api"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/abi"
)

// FuzzAnswer checks that any answer of a module becomes a message, or an error that can be sent and
// does not look like a connection error.
func FuzzAnswer(f *testing.F) {
	for _, seed := range []string{"\x00", "\x00abc", "\x03no such option", "\x04late", "\x0e", "\xc8?",
		"\x0a\xff\x00\n"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, answer []byte) {
		if len(answer) == 0 {
			return // refused before
		}
		message, err := decode(answer)
		if (err == nil) != (answer[0] == 0) || err == nil && len(message) != len(answer)-1 {
			t.Fatal(message, err)
		}
		if err == nil {
			return
		}
		s := status.Convert(err)
		switch s.Code() {
		case codes.OK, codes.Canceled, codes.DeadlineExceeded, codes.ResourceExhausted, codes.Unavailable:
			t.Fatal(s.Code())
		}
		if s.Code() > codes.Unauthenticated || s.Message() == "" || !utf8.ValidString(s.Message()) ||
			len(s.Message()) > 3*maxReason {
			t.Fatalf("%v %q", s.Code(), s.Message())
		}
	})
}

// obedient is a run that accepts all commands and asks for every state.
type obedient struct {
	sdk.Run
	dir string
}

func (o obedient) Report(_ sdk.Result, save func(string) error) error {
	if save != nil && save(o.dir) != nil {
		return errors.New("not saved")
	}
	return nil
}

func (obedient) Log(string) {}

// FuzzTraining checks that a module that reports and saves anything, in any order, breaks a rule or
// gets an answer.
func FuzzTraining(f *testing.F) {
	f.Add([]byte("\x10\x01\x20\x01"), []byte("\x0a\x01x"), byte(2))
	f.Add([]byte("\x0a\x0f\x0a\x04loss\x11\x00\x00\x00\x00\x00\x00\xf8\x7f"), []byte("\x12\x01e"), byte(5))
	f.Add([]byte("\xff"), []byte("\xff"), byte(1))
	f.Fuzz(func(t *testing.T, report, state []byte, order byte) {
		x := newTraining(t.Context(), obedient{dir: t.TempDir()})
		defer close(x.over)
		defer func() {
			if v := recover(); v != nil {
				if _, ok := v.(*violation); !ok {
					panic(v)
				}
			}
		}()
		for bit := range 8 {
			answer := abi.Continue
			if order>>bit&1 == 0 {
				answer = x.report(report)
			} else {
				answer = x.saved(state)
			}
			if answer < abi.Continue || answer > abi.Pause {
				t.Fatal(answer)
			}
		}
	})
}

// calling is a module that calls, with a memory.
type calling struct {
	api.Module
	memory lent
}

func (c *calling) Memory() api.Memory { return &c.memory }

type lent struct {
	api.Memory
	bytes []byte
}

func (l *lent) Size() uint32 { return uint32(len(l.bytes)) }

func (l *lent) Read(ptr, size uint32) ([]byte, bool) {
	if uint64(ptr)+uint64(size) > uint64(len(l.bytes)) {
		return nil, false
	}
	return l.bytes[ptr : ptr+size : ptr+size], true
}

// FuzzCalls checks that calls and answers with any addresses, lengths and levels break a rule, or give
// a copy within the limits.
func FuzzCalls(f *testing.F) {
	f.Add([]byte("\x00answer"), uint32(0), uint32(7), int32(1), 3)
	f.Add([]byte("\xff\xfe\x1b[2J\n"), uint32(4), uint32(1<<32-1), int32(-1), 1<<20)
	f.Add([]byte{}, uint32(1<<32-1), uint32(1<<32-1), int32(99), 0)
	f.Fuzz(func(t *testing.T, memory []byte, ptr, size uint32, level int32, limit int) {
		limit = max(limit, 0) % (1 << 16)
		mod := &calling{memory: lent{bytes: memory}}
		i := &instance{of: &module{log: hclog.NewNullLogger()}, mod: mod}
		if answer, err := i.answer(ptr, size, limit); err == nil && (len(answer) == 0 || len(answer) > limit+1) ||
			(err != nil) != (i.dead != nil) {
			t.Fatal(answer, err, i.dead)
		}
		for _, call := range []func() int{
			func() int { return len(i.argument(mod, abi.ImportReport, ptr, size, limit)) - limit },
			func() int {
				line := i.text(mod, ptr, size)
				i.write(level, line)
				return len(line) - 3*abi.MaxLogBytes - 10
			},
			func() int { i.attempt(abi.ImportSaved); return 0 },
		} {
			if most := violated(call); most > 0 {
				t.Fatalf("%d bytes too many", most)
			}
		}
	})
}

// violated makes the call and recovers from violations only.
func violated(call func() int) (most int) {
	defer func() {
		if v := recover(); v != nil {
			if _, ok := v.(*violation); !ok {
				panic(v)
			}
		}
	}()
	return call()
}
