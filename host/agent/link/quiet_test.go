package link

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/tunehost/tunehost/host/hostlog"
)

// Strangers do not fill the log: ten lines, and one a minute as long as they come.
func TestQuiet(t *testing.T) {
	c, sums, let := newHandClock(), []string(nil), 0
	q := &quiet{clock: c, what: "connections", one: "connection", sum: func(s string) { sums = append(sums, s) }}
	come := func(n int) {
		for range n {
			if q.let() {
				let++
			}
		}
	}
	check := func(when string, wantLet int, want ...string) {
		t.Helper()
		if let != wantLet || !slices.Equal(sums, want) {
			t.Errorf("%s: %d lines, not %d, and %q, not %q", when, let, wantLet, sums, want)
		}
		let, sums = 0, nil
	}
	come(5000)
	check("at first", 10)
	c.advance(sumEvery)
	check("after a minute", 0, "… and 4990 more connections since the last such line")
	come(1)
	c.advance(sumEvery)
	check("after two minutes", 0, "… and 1 more connection since the last such line")
	c.advance(10 * sumEvery)
	check("in quiet", 0)
	come(11)
	check("later", 10)
	q.close()
	check("at the end", 0, "… and 1 more connection since the last such line")
	c.advance(10 * sumEvery)
	check("after the end", 0)
}

// Both kinds of lines that strangers cause are bounded.
func TestStrangersInTheLog(t *testing.T) {
	w := openHub(t, t.TempDir())
	var log bytes.Buffer
	w.Log = hostlog.New(hclog.New(&hclog.LoggerOptions{Output: &log, Level: hclog.Debug}))
	for range 100 {
		ours, theirs := net.Pipe()
		_ = theirs.Close()
		w.foreign(ours, errors.New("EOF"))
		w.refused(ours, errors.New("the token is wrong"))
		_ = ours.Close()
	}
	w.clock.advance(sumEvery)
	_ = w.Close()
	if lines := strings.Count(log.String(), "\n"); lines != 2*(singly+1) {
		t.Errorf("%d lines:\n%s", lines, log.String())
	}
	for _, what := range []string{"connections that are not of agents", "agents that were refused"} {
		if want := fmt.Sprintf("… and %d more %s since the last such line", 100-singly, what); !strings.Contains(
			log.String(), want) {
			t.Errorf("%q is missing:\n%s", want, log.String())
		}
	}
}
