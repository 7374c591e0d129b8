package record

import (
	"math"

	"github.com/tunehost/tunehost/core"
)

// cause reads or writes a Cause as a message.
func cause(f *fields, number int, c *core.Cause) {
	if !f.reading {
		if *c != (core.Cause{}) {
			start := f.begin(number)
			causeFields(f, c)
			f.count(start)
		}
		return
	}
	if f.hit(number, counted) {
		rest := f.enter()
		causeFields(f, c)
		f.leave(rest)
	}
}

// causeAt is cause for a pointer that may be nil.
func causeAt(f *fields, number int, c **core.Cause) {
	if f.reading {
		if !f.hit(number, counted) {
			return
		}
		*c = new(core.Cause)
	} else if *c == nil {
		return
	}
	cause(f, number, *c)
}

func causeFields(f *fields, c *core.Cause) {
	number32(f, 1, &c.Kind)
	number32(f, 2, &c.Then)
	number32(f, 3, &c.Trial)
	number32(f, 4, &c.Count)
	f.u64(5, &c.Iteration)
	f.u64(6, &c.From)
	f.i64(7, &c.NS)
	f.i64(8, &c.Bytes)
	f.i64(9, &c.Limit)
	float(f, 10, &c.Value)
	f.str(11, &c.Metric)
	f.str(12, &c.By)
	f.str(13, &c.Text)
	if f.reading && f.err == nil && !c.Kind.Known() {
		f.stop(ErrNewer)
	}
}

// float reads or writes the bits of a number.
func float(f *fields, number int, v *float64) {
	u := math.Float64bits(*v)
	f.u64(number, &u)
	if f.reading {
		*v = math.Float64frombits(u)
	}
}
