package history

import "io"

// A long record is decoded in a goroutine of its own, ahead of the entries that are applied. That
// goroutine runs only during [History.Visit], and nothing else uses the source meanwhile.

const (
	// aheadAfter is how many entries a visit applies before it reads ahead. A walk that follows a
	// running host has fewer at a time, also if it looks once in a second or two.
	aheadAfter = 1 << 15
	// aheadEntries is about how many entries are handed over together.
	aheadEntries = 1 << 10
	// aheadBatches is how many batches may wait to be applied.
	aheadBatches = 4
	// allBatches is how many there are: those that wait, one that is decoded, and one that is applied. On
	// a busy machine all others may have been applied before the next one is decoded.
	allBatches = aheadBatches + 2
)

// ahead decodes batches.
type ahead struct {
	// pooled says that batches have a pool.
	pooled bool

	ready chan batch
	used  chan batch    // applied ones, whose memory is used again
	stop  chan struct{} // closed by halt
}

// readAhead begins to decode what follows.
func readAhead(s Source, pooled bool) *ahead {
	a := &ahead{pooled, make(chan batch, aheadBatches), make(chan batch, allBatches), make(chan struct{})}
	go a.run(s)
	return a
}

// run hands over batches until there are no more entries, or until it is stopped.
func (a *ahead) run(s Source) {
	defer close(a.ready)
	for {
		b := a.gather(s)
		a.ready <- b
		if b.end != nil {
			return
		}
		select {
		case <-a.stop:
			return
		default:
		}
	}
}

func (a *ahead) gather(s Source) (b batch) {
	select {
	case b = <-a.used:
		b = b.empty()
	default:
		b = newBatch(a.pooled)
	}
	for len(b.entries) < aheadEntries && b.end == nil {
		b.read(s)
	}
	return b
}

// next returns the next batch. A used one, which is empty for the caller, is decoded into again.
func (a *ahead) next(used batch) batch {
	select {
	case a.used <- used:
	default:
	}
	return <-a.ready
}

// halt ends the goroutine and returns what it has decoded.
func (a *ahead) halt() (rest []batch) {
	close(a.stop)
	for b := range a.ready {
		if b.end == io.EOF {
			b.end = nil // there may be more later
		}
		rest = append(rest, b)
	}
	return rest
}
