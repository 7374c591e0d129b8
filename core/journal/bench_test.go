package journal_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/tunehost/tunehost/core/journal"
)

const benchRecordBytes = 42 // a result, as the record format of the core encodes it

func benchBatch(n int) [][]byte { return many(n, bytes.Repeat([]byte{0x5a}, benchRecordBytes)) }

func benchDir(b *testing.B) *journal.Dir {
	b.Helper()
	dir, err := journal.MakeDir(b.TempDir())
	must(b, err)
	b.Cleanup(func() { must(b, dir.Close()) })
	return dir
}

// BenchmarkAppend appends batches to a file of the operating system; ns/event is wall time.
func BenchmarkAppend(b *testing.B) {
	for _, n := range []int{1, 100, 1000, 10000} {
		for _, sync := range []bool{false, true} {
			b.Run(fmt.Sprintf("batch=%d/sync=%v", n, sync), func(b *testing.B) { appendBench(b, n, sync) })
		}
	}
}

func appendBench(b *testing.B, n int, sync bool) {
	j, err := journal.Create(benchDir(b), journal.Options{RunID: testRun})
	must(b, err)
	records := benchBatch(n)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := j.Append(records); err != nil {
			b.Fatal(err)
		}
		if sync {
			must(b, j.Sync())
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/event")
	must(b, j.Close())
}

// BenchmarkRead reads a journal of a million events in batches.
func BenchmarkRead(b *testing.B) {
	const events = 1 << 20
	for _, n := range []int{1, 1024} {
		dir := benchDir(b)
		j, err := journal.Create(dir, journal.Options{RunID: testRun})
		must(b, err)
		for records := benchBatch(n); j.Next() <= events; {
			_, err = j.Append(records)
			must(b, err)
		}
		must(b, j.Close())
		b.Run(fmt.Sprintf("batch=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_, err := journal.Verify(dir, journal.Options{}, func(uint64, [][]byte) error { return nil })
				must(b, err)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*events), "ns/event")
		})
	}
}
