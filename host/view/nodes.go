package view

import "github.com/tunehost/tunehost/core"

// places are the names of the nodes of many trials: there are few names, and each is kept once.
type places struct {
	names []string
	known map[string]uint32
	// at has, by trial, the position of its name plus one; 0: none.
	at []uint32
}

// put notes where a trial runs.
func (p *places) put(no core.TrialNo, name string) {
	i, ok := p.known[name]
	if !ok {
		if p.known == nil {
			p.known = map[string]uint32{}
		}
		p.names = append(p.names, name)
		i = uint32(len(p.names))
		p.known[name] = i
	}
	for int(no) >= len(p.at) {
		p.at = append(p.at, 0)
	}
	p.at[no] = i
}

// of returns where a trial ran last; "" if it has not started.
func (p *places) of(no core.TrialNo) string {
	if int(no) >= len(p.at) || p.at[no] == 0 {
		return ""
	}
	return p.names[p.at[no]-1]
}
