package resource

import (
	"fmt"
	"strings"
	"testing"
)

func benchmarkPlace(b *testing.B, l *Ledger, text string) {
	r := request(b, text)
	b.ReportAllocs()
	for b.Loop() {
		p, ok := l.Place(r)
		if !ok {
			b.Fatal("no room")
		}
		if err := l.Release(p); err != nil {
			b.Fatal(err)
		}
	}
}

func nodes(b *testing.B, n int, capacity string) *Ledger {
	return ledger(b, strings.Fields(strings.Repeat(capacity+" ", n))...)
}

const machine = "cpu=64,gpu=8,memory=256GiB"

// One Place and one Release.
func BenchmarkPlaceRelease(b *testing.B) {
	for _, n := range []int{1, 16, 1000} {
		for _, text := range []string{"cpu=1", "cpu=1,memory=4GiB", "cpu=1,gpu=0.5", "cpu=1,gpu=2",
			"pack(cpu=1;gpu=1;gpu=1;gpu=1)"} {
			b.Run(fmt.Sprintf("nodes=%d/%s", n, text),
				func(b *testing.B) { benchmarkPlace(b, nodes(b, n, machine), text) })
		}
	}
}

func BenchmarkRoom(b *testing.B) {
	for _, n := range []int{1, 1000} {
		b.Run(fmt.Sprintf("nodes=%d", n), func(b *testing.B) {
			l, r := nodes(b, n, machine), request(b, "cpu=1,memory=4GiB")
			b.ReportAllocs()
			for b.Loop() {
				l.Room(r, 1<<30)
			}
		})
	}
}

// The highest cost of one call: many kinds of bundles that cannot all fit, on nodes that are all
// different.
func BenchmarkPlaceHopeless(b *testing.B) {
	var capacities, bundles []string
	for i := range 16 {
		capacities = append(capacities, fmt.Sprintf("cpu=%d", 100+i))
		bundles = append(bundles, fmt.Sprintf("cpu=%d", 60+i))
	}
	bundles = append(bundles, "cpu=59")
	l, r := ledger(b, capacities...), request(b, "pack("+strings.Join(bundles, ";")+")")
	b.ReportAllocs()
	for b.Loop() {
		if _, ok := l.Place(r); ok || !l.plan.cut {
			b.Fatal("placed, or decided")
		}
	}
}
