package grid

// turns counts the runs of points, also of those that the searcher has not suggested. Where a grid has nothing but its
// axes, each combination runs once before one runs again.
type turns struct {
	runs  map[string]int // by the key of a point
	own   map[string]int // of these: suggested here and not observed yet
	at    uint64         // the combinations before it have run more often than level
	level int
}

func (t *turns) suggest(key string) {
	t.runs[key]++
	t.own[key]++
}

// observe counts a trial, unless it was counted when it was suggested.
func (t *turns) observe(key string) {
	if t.own[key] > 0 {
		t.own[key]--
		return
	}
	t.runs[key]++
}
