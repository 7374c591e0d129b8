package resource

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"
)

// Names with a special meaning; any other name is a plain count.
const (
	CPU         = "cpu"
	GPU         = "gpu"          // devices: whole numbers, or a share below one
	Memory      = "memory"       // bytes
	ObjectStore = "object_store" // bytes
)

// Limits of a request.
const (
	MaxNameBytes = 64
	MaxItems     = 64   // resources in a bundle
	MaxBundles   = 1024 // bundles in a request
)

// An Item is an amount of one resource.
type Item struct {
	Name   string
	Amount Amount
}

// String returns a text for messages: "cpu 1", "memory 4GiB".
func (i Item) String() string { return i.Name + " " + i.amountText() }

func (i Item) amountText() string {
	if i.Name == Memory || i.Name == ObjectStore {
		return i.Amount.Bytes()
	}
	return i.Amount.String()
}

// A Bundle is what one place on one node must have, sorted by name, without zeros and duplicates.
// The zero value requests nothing.
type Bundle struct{ items []Item }

// NewBundle checks and sorts items; zero amounts are omitted.
func NewBundle(items ...Item) (Bundle, error) {
	kept := make([]Item, 0, len(items))
	for _, it := range items {
		if err := it.check(); err != nil {
			return Bundle{}, err
		}
		if !it.Amount.IsZero() {
			kept = append(kept, it)
		}
	}
	slices.SortStableFunc(kept, func(a, b Item) int { return cmp.Compare(a.Name, b.Name) })
	for i := 1; i < len(kept); i++ {
		if kept[i].Name == kept[i-1].Name {
			return Bundle{}, errors.New("resource " + kept[i].Name + " is given twice")
		}
	}
	if len(kept) > MaxItems {
		return Bundle{}, errors.New(strconv.Itoa(len(kept)) + " resources in one bundle; at most " +
			strconv.Itoa(MaxItems))
	}
	return Bundle{kept}, nil
}

func (i Item) check() error {
	if err := checkName(i.Name); err != nil {
		return err
	}
	if Whole(MaxWhole).less(i.Amount) {
		return errors.New("resource " + i.Name + ": " + ErrTooBig.Error())
	}
	if i.Name == GPU && Whole(1).less(i.Amount) && i.Amount != Whole(i.Amount.whole()) {
		n := i.Amount.whole()
		return errors.New("gpu " + i.Amount.String() + ": above one, GPUs are granted whole; ask for " +
			strconv.FormatUint(n, 10) + " or " + strconv.FormatUint(n+1, 10))
	}
	return nil
}

// whole returns a rounded down to whole units.
func (a Amount) whole() uint64 {
	n, _ := a.div(micro)
	return n.lo
}

func checkName(name string) error {
	if name == "" {
		return errors.New("a resource needs a name")
	}
	if len(name) > MaxNameBytes {
		return errors.New("resource name " + strconv.Quote(clip(name)) + " is longer than " +
			strconv.Itoa(MaxNameBytes) + " bytes")
	}
	for i := range len(name) {
		c := name[i]
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_'
		if !letter && (i == 0 || !isDigit(c) && c != '-' && c != '.' && c != '/') {
			return errors.New("resource name " + strconv.Quote(clip(name)) +
				": write a letter or _, then letters, digits and _ - . /")
		}
	}
	return nil
}

// Items returns the resources, sorted by name; read only.
func (b Bundle) Items() []Item { return b.items }

// Get returns the amount of name, or zero.
func (b Bundle) Get(name string) Amount {
	for _, it := range b.items {
		if it.Name == name {
			return it.Amount
		}
	}
	return Amount{}
}

// Equal reports whether both have the same amounts.
func (b Bundle) Equal(c Bundle) bool { return slices.Equal(b.items, c.items) }

// String returns a text for messages: "cpu 1, gpu 0.5", or "nothing".
func (b Bundle) String() string {
	if len(b.items) == 0 {
		return "nothing"
	}
	parts := make([]string, len(b.items))
	for i, it := range b.items {
		parts[i] = it.String()
	}
	return strings.Join(parts, ", ")
}

const emptyText = "none"

// text returns the written form: "cpu=1,gpu=0.5", or "none".
func (b Bundle) text() string {
	if len(b.items) == 0 {
		return emptyText
	}
	parts := make([]string, len(b.items))
	for i, it := range b.items {
		parts[i] = it.Name + "=" + it.amountText()
	}
	return strings.Join(parts, ",")
}

// ParseBundle reads "cpu=1,gpu=0.5,memory=4GiB", the form of the flag --resources and of written
// bundles; "none" is empty.
func ParseBundle(text string) (Bundle, error) {
	if text == emptyText {
		return Bundle{}, nil
	}
	var items []Item
	for part := range strings.SplitSeq(text, ",") {
		name, amount, found := strings.Cut(part, "=")
		if !found {
			return Bundle{}, errors.New(strconv.Quote(clip(part)) + ": write NAME=AMOUNT, as in cpu=1,gpu=0.5")
		}
		a, err := ParseAmount(strings.TrimSpace(amount))
		if err != nil {
			return Bundle{}, errors.New("resource " + strconv.Quote(clip(name)) + ": " + err.Error())
		}
		items = append(items, Item{strings.TrimSpace(name), a})
	}
	return NewBundle(items...)
}

// MarshalText writes the form that ParseBundle reads.
func (b Bundle) MarshalText() ([]byte, error) { return []byte(b.text()), nil }

// UnmarshalText reads what ParseBundle reads.
func (b *Bundle) UnmarshalText(text []byte) (err error) {
	*b, err = ParseBundle(string(text))
	return err
}
