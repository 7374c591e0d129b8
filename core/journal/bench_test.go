//go:build unix

package journal_test

import (
	"bytes"
	"fmt"
	"syscall"
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

// BenchmarkAppend appends batches to a file of the operating system. The important figure is
// cpu-ns/event, user and system time of the process; the limit is 250 for batches of 1000 with a
// sync each.
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
	start := cpuNanoseconds(b)
	for b.Loop() {
		if _, err := j.Append(records); err != nil {
			b.Fatal(err)
		}
		if sync {
			must(b, j.Sync())
		}
	}
	b.ReportMetric(float64(cpuNanoseconds(b)-start)/float64(b.N*n), "cpu-ns/event")
	must(b, j.Close())
}

// BenchmarkRead reads a journal of a million events in batches; the limit is 100 cpu-ns/event.
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
			start := cpuNanoseconds(b)
			for b.Loop() {
				_, err := journal.Verify(dir, journal.Options{}, func(uint64, [][]byte) error { return nil })
				must(b, err)
			}
			b.ReportMetric(float64(cpuNanoseconds(b)-start)/float64(b.N*events), "cpu-ns/event")
		})
	}
}

// cpuNanoseconds returns the CPU time of this process.
func cpuNanoseconds(b *testing.B) int64 {
	var u syscall.Rusage
	must(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return u.Utime.Nano() + u.Stime.Nano()
}
