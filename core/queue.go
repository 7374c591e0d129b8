package core

// queue is a first-in-first-out list of trials; trials that left it otherwise
// are skipped by whoever takes them out, who knows them by the ticket.
type queue struct {
	items []place
	head  int
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

func (q *queue) clear() { q.items, q.head = q.items[:0], 0 }

// deadlines is a heap of times at which a trial may have used up its own.
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
