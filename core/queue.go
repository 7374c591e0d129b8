package core

import "slices"

// queue is a first-in-first-out list of trials. Trials that left it in another way are skipped when
// they are taken out; the ticket identifies them.
type queue struct {
	items []place
	head  int
	most  int // items before shorten looks at them
}

type place struct {
	trial  TrialNo
	ticket uint32
}

func (q *queue) push(no TrialNo, ticket uint32) { q.items = append(q.items, place{no, ticket}) }

func (q *queue) peek() (place, bool) {
	if q.head == len(q.items) {
		return place{}, false
	}
	return q.items[q.head], true
}

func (q *queue) pop() {
	q.head++
	if q.head > 64 && q.head*2 > len(q.items) {
		q.items = append(q.items[:0], q.items[q.head:]...)
		q.head = 0
	}
}

// shorten drops the trials that have left, once they are many: a granter that does not always take the
// first one leaves them in the list.
func (q *queue) shorten(waits func(place) bool) {
	if len(q.items) < q.most {
		return
	}
	q.items = slices.DeleteFunc(q.items[q.head:], func(p place) bool { return !waits(p) })
	q.head, q.most = 0, 2*len(q.items)+64
}

func (q *queue) clear() { q.items, q.head = q.items[:0], 0 }

// deadlines is a heap of times at which trials may have used up their time.
type deadlines struct{ items []due }

type due struct {
	at      int64
	trial   TrialNo
	attempt uint32
}

func (d *deadlines) push(x due) {
	d.items = append(d.items, x)
	for i := len(d.items) - 1; i > 0; {
		p := (i - 1) / 2
		if d.items[p].at <= d.items[i].at {
			return
		}
		d.items[p], d.items[i] = d.items[i], d.items[p]
		i = p
	}
}

func (d *deadlines) first() (due, bool) {
	if len(d.items) == 0 {
		return due{}, false
	}
	return d.items[0], true
}

func (d *deadlines) pop() {
	n := len(d.items) - 1
	d.items[0] = d.items[n]
	d.items = d.items[:n]
	for i := 0; ; {
		c := 2*i + 1
		if c >= n {
			return
		}
		if c+1 < n && d.items[c+1].at < d.items[c].at {
			c++
		}
		if d.items[i].at <= d.items[c].at {
			return
		}
		d.items[i], d.items[c] = d.items[c], d.items[i]
		i = c
	}
}
