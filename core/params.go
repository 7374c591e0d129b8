package core

// params are the parameters of all trials. They are kept in pages, which are never copied: a list that grows as a slice
// does would need more than twice its memory while it is copied.
type params struct{ pages [][]byte }

// span is where parameters are.
type span struct{ page, at, len uint32 }

// Pages have these sizes: the first one is small, so that a small experiment takes little memory.
const (
	firstParamsBytes = 1 << 10
	pageParamsBytes  = 1 << 16
)

func (x *params) add(p []byte) span {
	last := len(x.pages) - 1
	if last < 0 || cap(x.pages[last])-len(x.pages[last]) < len(p) {
		last++
		size := min(firstParamsBytes<<min(last, 16), pageParamsBytes)
		x.pages = append(x.pages, make([]byte, 0, max(size, len(p))))
	}
	s := span{uint32(last), uint32(len(x.pages[last])), uint32(len(p))}
	x.pages[last] = append(x.pages[last], p...)
	return s
}

// at returns what nobody may change.
func (x *params) at(s span) []byte {
	return x.pages[s.page][s.at : s.at+s.len : s.at+s.len]
}
