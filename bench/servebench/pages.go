package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

const (
	openPages = 10
	// stretch is how long the host is measured at a time, with pages and without: in that time each page looks twice.
	stretch = 2 * looks
	// margin is how long after each change nothing is measured: pages read what was recorded while they rested.
	margin = 400 * time.Millisecond
)

// turns are the stretches of a round: whether pages are open. A machine that gets slower or faster during a round
// counts for neither side.
var turns = [...]bool{false, true, true, false}

// pages measures what open pages cost a host that runs: the same pages ask and rest in turn, beside the same host.
func pages(out io.Writer, binary, dir string, rounds int, train time.Duration) error {
	folder := filepath.Join(dir, "results")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	s, err := start(binary, filepath.Join(dir, "pages"), folder)
	if err != nil {
		return err
	}
	defer s.end()
	h, err := busy(binary, dir, folder, train)
	if err != nil {
		return err
	}
	defer h.end()
	p := openAll(s, "busy")
	defer p.close()
	var all []pair
	for i := range rounds {
		r, err := h.round(p)
		if err != nil {
			return err
		}
		all = append(all, r)
		fmt.Fprintf(out, "round %d: %v\n", i+1, r)
	}
	if err := h.minute(out, p); err != nil {
		return err
	}
	fmt.Fprintf(out, "with %d pages, in %d rounds: %s times the results/s; %s in the middle half of the rounds; "+
		"%s times the host's processor time for a result\n", openPages, rounds, interval(all, ratio),
		interval(all, middleOf(pair.ratio)), interval(all, middleOf(pair.cost)))
	return nil
}

// side is what a host did while pages were open, or closed.
type side struct {
	took    time.Duration
	results float64 // in bytes of the record: all results have the same size
	cpu     time.Duration
}

func (s side) rate() float64 { return s.results / s.took.Seconds() }

// pair is a round: both sides.
type pair struct {
	closed, open side
	reads        int64 // answers to the pages
}

func (r pair) ratio() float64 { return r.open.rate() / r.closed.rate() }
func (r pair) cost() float64 {
	return r.open.cpu.Seconds() / r.open.results / (r.closed.cpu.Seconds() / r.closed.results)
}

func (r pair) String() string {
	return fmt.Sprintf("%.4f times the results/s, %.3f times the host's processor time, %d reads", r.ratio(), r.cost(),
		r.reads)
}

// ratio is that of all rounds together.
func ratio(all []pair) float64 {
	var open, closed side
	for _, r := range all {
		open.add(r.open)
		closed.add(r.closed)
	}
	return open.rate() / closed.rate()
}

func (s *side) add(x side) {
	s.took, s.results, s.cpu = s.took+x.took, s.results+x.results, s.cpu+x.cpu
}

// middleOf is the mean of something in the middle half of the rounds: in the others something else has disturbed.
func middleOf(of func(pair) float64) func([]pair) float64 {
	return func(all []pair) (mean float64) {
		var list []float64
		for _, r := range all {
			list = append(list, of(r))
		}
		slices.Sort(list)
		list = list[len(list)/4 : len(list)-len(list)/4]
		for _, x := range list {
			mean += x / float64(len(list))
		}
		return mean
	}
}

// interval is something of all rounds, and where it lies by a bootstrap over rounds, 95 times of 100.
func interval(all []pair, of func([]pair) float64) string {
	const times = 4000
	random := rand.New(rand.NewPCG(1, 2))
	drawn := make([]float64, times)
	for i := range drawn {
		again := make([]pair, len(all))
		for k := range again {
			again[k] = all[random.IntN(len(all))]
		}
		drawn[i] = of(again)
	}
	slices.Sort(drawn)
	return fmt.Sprintf("%.4f (%.4f to %.4f)", of(all), drawn[times*25/1000], drawn[times*975/1000])
}

func middle(list []float64) float64 {
	slices.Sort(list)
	return list[len(list)/2]
}

// readers are pages that ask together, or rest.
type readers struct {
	s     *server
	name  string // of the experiment
	reads atomic.Int64
	gate  sync.RWMutex // held for writing while they rest
	rest  bool
	since time.Time     // when they began to ask
	asked time.Duration // how long they have asked before
	done  context.CancelFunc
	all   sync.WaitGroup
}

// openAll opens the pages of an experiment; they rest.
func openAll(s *server, name string) *readers {
	ctx, cancel := context.WithCancel(context.Background())
	p := &readers{s: s, name: name, done: cancel, rest: true}
	p.gate.Lock()
	for range openPages {
		p.all.Go(func() { look(ctx, p, name) })
	}
	return p
}

// open says whether pages ask. Answers that are under way arrive before they rest.
func (p *readers) open(ask bool) {
	switch {
	case ask == !p.rest:
	case ask:
		p.since = time.Now()
		p.gate.Unlock()
	default:
		p.gate.Lock()
		p.asked += time.Since(p.since)
	}
	p.rest = !ask
}

// time is how long pages have asked so far: while they rest, it stands still for them.
func (p *readers) time() time.Duration {
	p.gate.RLock()
	defer p.gate.RUnlock()
	return p.asked + time.Since(p.since)
}

func (p *readers) close() {
	p.done()
	p.open(true)
	p.all.Wait()
}

// entries is how many entries the record has, as pages see it; NaN: that cannot be read.
func (p *readers) entries() float64 {
	a, err := p.s.request(context.Background(), "/api/v1/experiments/"+p.name)
	if err != nil {
		return math.NaN()
	}
	defer a.Body.Close()
	var status struct{ Entries float64 }
	if err := json.NewDecoder(a.Body).Decode(&status); err != nil {
		return math.NaN()
	}
	return status.Entries
}

// shown are the requests of the page of an experiment, each time that something has changed.
var shown = []string{"/history", "/curves?metric=score&points=100&trials=2000"}

// looks is how often the dashboard reads the status of an experiment, always at the same moments by the clock.
// Shortest, again and longest are its pauses before it reads something else once more, again after an answer that was
// made for another page.
const (
	looks    = 750 * time.Millisecond
	shortest = 300 * time.Millisecond
	again    = 700 * time.Millisecond
	longest  = 15 * time.Second
)

// untilLook is how long a page waits until it looks again.
func untilLook() time.Duration {
	return shortest + looks - time.Duration(time.Now().Add(shortest).UnixNano())%looks
}

// reader is a page that is open.
type reader struct {
	*readers
	tags map[string]string
}

// look reads what the page of an experiment shows, as the dashboard does: each part when something has changed, and
// then not for ten times as long as it took.
func look(ctx context.Context, all *readers, name string) {
	p := reader{all, map[string]string{}}
	url := "/api/v1/experiments/" + name
	due := make([]time.Duration, len(shown))
	done := make([]string, len(shown))
	for ctx.Err() == nil {
		now, _ := p.read(ctx, url)
		for i, path := range shown {
			if now == "" || done[i] == now || p.time() < due[i] {
				continue
			}
			began := time.Now()
			_, next := p.read(ctx, url+path)
			pause := min(max(10*time.Since(began), shortest), longest)
			if done[i] = now; next >= 0 {
				done[i], pause = "", max(pause, again, min(next, longest))
			}
			due[i] = p.time() + pause
		}
		select {
		case <-ctx.Done():
		case <-time.After(untilLook()):
		}
	}
}

// read reads an answer that may have been made for another page. It returns what tells it from others, and when there
// may be a newer one if it was; negative: it was not.
func (p *reader) read(ctx context.Context, path string) (tag string, next time.Duration) {
	p.gate.RLock()
	defer p.gate.RUnlock()
	a, err := p.s.request(ctx, path, "Cache-Control", "max-age=30", "If-None-Match", p.tags[path])
	if err != nil {
		return "", -1
	}
	defer a.Body.Close()
	if _, err := io.Copy(io.Discard, a.Body); err != nil || a.StatusCode >= http.StatusBadRequest {
		return "", -1
	}
	p.reads.Add(1)
	p.tags[path] = a.Header.Get("ETag")
	if a.Header.Get("Age") == "" {
		return p.tags[path], -1
	}
	ms, _ := strconv.Atoi(a.Header.Get("Tunehost-Next")) // an older server has none
	return p.tags[path], time.Duration(ms) * time.Millisecond
}
