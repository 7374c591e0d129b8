package view

import (
	"encoding/binary"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tunehost/tunehost/core/history"
	"github.com/tunehost/tunehost/core/journal"
	"github.com/tunehost/tunehost/core/record"
	"github.com/tunehost/tunehost/host/config"
)

const fuzzed = `version: 1
objective: {metric: score, mode: max}
space: {quality: {uniform: [0, 1]}, c: {choice: [a, b]}}
trials: 3
`

// parts splits text into parts: each begins with its length, two bytes.
func parts(text []byte) (list [][]byte) {
	for len(text) >= 2 {
		n := min(int(binary.LittleEndian.Uint16(text)), len(text)-2)
		list, text = append(list, text[2:2+n]), text[2+n:]
	}
	return list
}

func joined(list [][]byte) (text []byte) {
	for _, b := range list {
		text = append(binary.LittleEndian.AppendUint16(text, uint16(len(b))), b...)
	}
	return text
}

// FuzzRecord checks that a record of nonsensical events with right checksums is refused in one line,
// or gives an experiment to read.
func FuzzRecord(f *testing.F) {
	released, err := filepath.Glob("../../cmd/tunehost/testdata/released/v*/*/journal")
	if err != nil || len(released) == 0 {
		f.Fatal(released, err)
	}
	for _, path := range released {
		list := recordsOf(f, path)
		f.Add(joined(list))
		f.Add(joined(list[1:]))
	}
	c, err := config.Parse("x.yaml", []byte(fuzzed), config.WithoutTrainable())
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		facts := &Facts{Seed: 7, Name: "x", Config: c}
		at := &directory{facts: facts}
		at.forget()
		e := New(facts, at)
		keep := history.Visitor{After: func(s *history.Step) error { at.state.Noted(s.Actions); return nil }}
		for _, b := range parts(text) {
			if _, _, err := record.Parse(b); err != nil {
				continue // package record has a fuzz test for these
			}
			if err := at.state.record.Replay(keep)(1, [][]byte{b}); err != nil {
				if strings.Contains(err.Error(), "\n") {
					t.Fatalf("several lines: %q", err)
				}
				return
			}
		}
		if _, err := e.Trials(Chosen{Where: "state == 'ERROR' || score > 0.5",
			Sort: "score"}); err != nil && strings.Contains(err.Error(), "\n") {
			t.Fatal(err)
		}
		_, _ = e.Status(time.Unix(0, 0))
		_, _, _ = e.Best(Query{})
	})
}

// recordsOf returns the first events of a record.
func recordsOf(f *testing.F, path string) (list [][]byte) {
	dir, err := journal.OpenDir(path)
	if err != nil {
		f.Fatal(err)
	}
	defer dir.Close()
	_, err = journal.Verify(dir, journal.Options{}, func(_ uint64, records [][]byte) error {
		for _, b := range records {
			list = append(list, append([]byte(nil), b...))
		}
		return nil
	})
	if err != nil {
		f.Fatal(err)
	}
	return list[:min(len(list), 60)]
}
