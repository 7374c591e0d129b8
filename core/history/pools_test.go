package history

import (
	"io"
	"runtime"
	"testing"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/record"
)

// ticking is a Source of so many more batches of a thousand ticks.
type ticking struct {
	records [][]byte
	left    int
	next    uint64
}

func (t *ticking) Next() (uint64, [][]byte, error) {
	if t.left == 0 {
		return 0, nil, io.EOF
	}
	t.left--
	t.next += uint64(len(t.records))
	return t.next, t.records, nil
}

func (t *ticking) Close() error { return nil }

// All batches that are decoded ahead are used again, also where those that wait are applied before the next one is
// decoded, as on one processor.
func TestBatchesAreUsedAgain(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	tick, err := record.Append(nil, 1, &core.Ticked{})
	if err != nil {
		t.Fatal(err)
	}
	records := make([][]byte, aheadEntries)
	for i := range records {
		records[i] = tick
	}
	a, pools, b := readAhead(&ticking{records: records, left: 100}, true), map[*record.Pool]bool{}, newBatch(true)
	for b.end == nil {
		pools[b.pool] = true
		b = a.next(b.empty())
	}
	a.halt()
	if len(pools) > allBatches+1 {
		t.Errorf("%d batches were made", len(pools))
	}
}
