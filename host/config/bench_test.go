package config

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

func BenchmarkParseDigits(b *testing.B) {
	data, err := os.ReadFile("testdata/good/digits.yaml")
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := Parse("digits.yaml", data); err != nil {
			b.Fatal(err)
		}
	}
}

// The largest space that is allowed, with a condition on each parameter.
func BenchmarkParseConditions(b *testing.B) {
	var text strings.Builder
	text.WriteString("space:\n  p0: {choice: [a, b]}\n")
	for i := range maxParams - 1 {
		fmt.Fprintf(&text, "  q%d: {uniform: [0, 1], when: \"p0 == 'a' && %d > 0\"}\n", i, i)
	}
	text.WriteString(base)
	for b.Loop() {
		if _, err := Parse("x.yaml", []byte(text.String())); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkResolve(b *testing.B) {
	e, err := Load("testdata/good/digits.yaml")
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := e.Resolve([]float64{0.1, 2, 64, 0, 0.5}, 1); err != nil {
			b.Fatal(err)
		}
	}
}
