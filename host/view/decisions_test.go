package view

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/host/storage"
)

const saidLog = `2026-01-02T03:04:05.000000001Z [DEBUG] tunehost: auto: 5 params: gp, then tpe: plugin="searcher auto"
2026-01-02T03:04:06Z [INFO]  tunehost: layers of sizes [64 10]: trial=0
2026-01-02T03:04:07Z [WARN]  tunehost: slow: it took 3s: plugin="scheduler mine" step=3
2026-01-02T03:04:08Z [INFO]  tunehost: a trainable says: plugin="trainable digits"
2026-01-02T03:04:09Z [ERROR] tunehost: no colon here plugin="searcher auto"
`

// The lines of the searcher and the scheduler are found in the host's log, with their texts and levels.
func TestSaidLines(t *testing.T) {
	var got []string
	for _, s := range saidIn([]byte(saidLog)) {
		got = append(got, fmt.Sprintf("%s %s %s %s %s", s.Time.Format("15:04:05"), s.Level, s.Kind, s.Name, s.Text))
	}
	want := []string{"03:04:05 DEBUG searcher auto auto: 5 params: gp, then tpe",
		"03:04:07 WARN scheduler mine slow: it took 3s", "03:04:09 ERROR searcher auto no colon here"}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// Of a long log the first and the last lines are there, none of them twice, and what is left out is told.
func TestSaidOfALongLog(t *testing.T) {
	line := func(i int) string {
		return fmt.Sprintf("2026-01-02T03:04:05Z [INFO]  tunehost: said %d: plugin=\"searcher auto\"\n", i)
	}
	filling := strings.Repeat("2026-01-02T03:04:05Z [INFO]  tunehost: an epoch: trial=0\n", 100)
	for _, c := range []struct{ fillings, lines, want int }{{1, 10, 10}, {150, 10, 10}, {300, 10, 10}, {1000, 10, 7},
		{1, 300, 100}} {
		var log strings.Builder
		for i := range c.lines {
			log.WriteString(line(i))
			if i == c.lines/2 || i == c.lines-2 {
				log.WriteString(strings.Repeat(filling, c.fillings/2))
			}
		}
		dir, err := storage.At(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		e := &Experiment{Facts: &Facts{Dir: dir}}
		if err := os.WriteFile(dir.Log(), []byte(log.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		list, leftOut, err := e.said()
		if err != nil || len(list) == 0 {
			t.Fatal(list, err)
		}
		last := -1
		for _, s := range list {
			var i int
			if _, err := fmt.Sscanf(s.Text, "said %d", &i); err != nil || i <= last {
				t.Fatalf("%+v: %q after %d: %v", c, s.Text, last, err)
			}
			last = i
		}
		first := list[0].Text
		if first != "said 0" || last != c.lines-1 || len(list) != c.want || leftOut != (c.want < c.lines) {
			t.Errorf("%+v: %d lines from %q to %d, left out: %v", c, len(list), first, last, leftOut)
		}
	}
}
