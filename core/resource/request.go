package resource

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"
)

// A Strategy says how the bundles of a request are placed on nodes.
type Strategy uint8

const (
	Pack         Strategy = iota // few nodes, if possible
	Spread                       // many nodes, if possible
	StrictPack                   // one node, or not at all
	StrictSpread                 // a node for each bundle, or not at all
)

var strategyNames = [...]string{"pack", "spread", "strict_pack", "strict_spread"}

// String returns the name in experiment files.
func (s Strategy) String() string {
	if int(s) < len(strategyNames) {
		return strategyNames[s]
	}
	return "strategy(" + strconv.Itoa(int(s)) + ")"
}

// ParseStrategy reads a name of experiment files.
func ParseStrategy(text string) (Strategy, error) {
	i := slices.Index(strategyNames[:], text)
	if i < 0 {
		return 0, errors.New("strategy " + strconv.Quote(clip(text)) + " is unknown; use " +
			strings.Join(strategyNames[:], ", "))
	}
	return Strategy(i), nil
}

// MarshalText writes the name.
func (s Strategy) MarshalText() ([]byte, error) {
	if int(s) >= len(strategyNames) {
		return nil, errors.New(s.String() + " is unknown")
	}
	return []byte(s.String()), nil
}

// UnmarshalText reads the name.
func (s *Strategy) UnmarshalText(text []byte) (err error) {
	*s, err = ParseStrategy(string(text))
	return err
}

// A Request is what a trial needs: bundles, granted together or not at all, and a strategy. It is
// one word, immutable, and cheap to copy; compare with Equal. The zero value requests nothing, on
// any node.
type Request struct{ shape *shape }

type shape struct {
	bundles  []Bundle
	strategy Strategy
	key      string
	// order lists the bundles in the order of placement: equal ones together, the rarest first;
	// class says which are equal. The largest class comes last because counting decides it without
	// a search.
	order []int
	class []int
}

var nothing = newShape(Pack, []Bundle{{}})

func (r Request) get() *shape {
	if r.shape == nil {
		return nothing
	}
	return r.shape
}

// NewRequest returns a request of one or more bundles.
func NewRequest(s Strategy, bundles ...Bundle) (Request, error) {
	switch {
	case int(s) >= len(strategyNames):
		return Request{}, errors.New(s.String() + " is unknown")
	case len(bundles) == 0:
		return Request{}, errors.New("a request needs a bundle")
	case len(bundles) > MaxBundles:
		return Request{}, errors.New(strconv.Itoa(len(bundles)) + " bundles in one request; at most " +
			strconv.Itoa(MaxBundles))
	}
	return Request{newShape(s, slices.Clone(bundles))}, nil
}

// Plain returns the request of one bundle.
func Plain(items ...Item) (Request, error) {
	b, err := NewBundle(items...)
	if err != nil {
		return Request{}, err
	}
	return NewRequest(Pack, b)
}

func newShape(s Strategy, bundles []Bundle) *shape {
	sh := &shape{bundles: bundles, strategy: s}
	sh.key = sh.text()
	sh.classify()
	return sh
}

func (sh *shape) classify() {
	var firsts, sizes []int
	for i, b := range sh.bundles {
		c := slices.IndexFunc(firsts, func(f int) bool { return sh.bundles[f].Equal(b) })
		if c < 0 {
			c = len(firsts)
			firsts, sizes = append(firsts, i), append(sizes, 0)
		}
		sizes[c]++
		sh.class = append(sh.class, c)
		sh.order = append(sh.order, i)
	}
	slices.SortStableFunc(sh.order, func(a, b int) int {
		ca, cb := sh.class[a], sh.class[b]
		return cmp.Or(sizes[ca]-sizes[cb], sh.bundles[b].Get(GPU).Cmp(sh.bundles[a].Get(GPU)), ca-cb)
	})
}

// Bundles returns the bundles, in the given order; read only.
func (r Request) Bundles() []Bundle { return r.get().bundles }

// Strategy returns how the bundles are placed on nodes.
func (r Request) Strategy() Strategy { return r.get().strategy }

// Key returns a text that is equal for requests of the same shape and for no others. It is also the
// written form: "cpu=1", "spread(cpu=1;cpu=2,gpu=1)".
func (r Request) Key() string { return r.get().key }

// Equal reports whether both requests are the same, bundle by bundle.
func (r Request) Equal(q Request) bool { return r.shape == q.shape || r.Key() == q.Key() }

// Sum returns the total over all bundles. It is for messages and charges, not for placement: a sum
// of GPU shares need not be a whole number.
func (r Request) Sum() []Item {
	var sum []Item
	for _, b := range r.Bundles() {
		for _, it := range b.items {
			i, found := slices.BinarySearchFunc(sum, it.Name,
				func(s Item, n string) int { return cmp.Compare(s.Name, n) })
			if !found {
				sum = slices.Insert(sum, i, Item{Name: it.Name})
			}
			sum[i].Amount = sum[i].Amount.Add(it.Amount)
		}
	}
	return sum
}

// String returns a text for messages: "cpu 1", "spread of (cpu 1) + 4 × (cpu 2, gpu 1)".
func (r Request) String() string {
	sh := r.get()
	if len(sh.bundles) == 1 {
		return sh.bundles[0].String()
	}
	var parts []string
	for i := 0; i < len(sh.bundles); {
		n := 1
		for i+n < len(sh.bundles) && sh.class[i+n] == sh.class[i] {
			n++
		}
		part := "(" + sh.bundles[i].String() + ")"
		if n > 1 {
			part = strconv.Itoa(n) + " × " + part
		}
		parts = append(parts, part)
		i += n
	}
	return sh.strategy.String() + " of " + strings.Join(parts, " + ")
}

func (sh *shape) text() string {
	if len(sh.bundles) == 1 && sh.strategy == Pack {
		return sh.bundles[0].text()
	}
	parts := make([]string, len(sh.bundles))
	for i, b := range sh.bundles {
		parts[i] = b.text()
	}
	return sh.strategy.String() + "(" + strings.Join(parts, ";") + ")"
}

// ParseRequest reads the written form of a request; see Key.
func ParseRequest(text string) (Request, error) {
	s, inner := Pack, text
	if name, rest, group := strings.Cut(text, "("); group {
		body, closed := strings.CutSuffix(rest, ")")
		if !closed {
			return Request{}, errors.New("request " + strconv.Quote(clip(text)) + ": the closing ) is missing")
		}
		var err error
		if s, err = ParseStrategy(name); err != nil {
			return Request{}, err
		}
		inner = body
	}
	var bundles []Bundle
	for part := range strings.SplitSeq(inner, ";") {
		b, err := ParseBundle(part)
		if err != nil {
			return Request{}, err
		}
		if bundles = append(bundles, b); len(bundles) > MaxBundles {
			break // NewRequest refuses it
		}
	}
	return NewRequest(s, bundles...)
}

// MarshalText writes Key.
func (r Request) MarshalText() ([]byte, error) { return []byte(r.Key()), nil }

// UnmarshalText reads what ParseRequest reads.
func (r *Request) UnmarshalText(text []byte) (err error) {
	*r, err = ParseRequest(string(text))
	return err
}
