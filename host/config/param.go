package config

import (
	"math"
	"strconv"
	"strings"

	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// param builds the parameter of d. A mistake in d is reported; a parameter of that name is still
// built, so that references to it are no further mistakes.
func (b *builder) param(d decl) space.Param {
	p := space.Param{Name: d.name}
	switch d.form {
	case "uniform", "loguniform":
		p.Kind, p.Log, p.Open = space.Real, d.form == "loguniform", b.flag(d, "open")
		p.Low, p.High = b.bounds(d)
	case "int":
		p.Kind = space.Int
		p.Log, p.Open = b.flag(d, "log"), b.flag(d, "open")
		p.Low, p.High = b.bounds(d)
		b.wholeBounds(d)
	case "normal":
		p.Kind = space.Normal
		p.Mean, p.SD = b.meanAndSD(d)
	case "choice", "grid":
		p.Kind, p.Grid = space.Choice, d.form == "grid"
		p.Choices = b.choices(d)
	case "ordinal":
		p.Kind = space.Ordinal
		p.Choices = b.choices(d)
	}
	b.step(d, &p)
	if p.Log && p.Low <= 0 && d.value.kind == listKind && len(d.value.items) == 2 {
		b.fail(d.value.items[0].pos, "%s is logarithmic: its lower bound must be above 0, found %s", d.name,
			d.value.items[0].text)
	}
	return p
}

// pair reads the two numbers of a form.
func (b *builder) pair(d decl, what string) (first, second float64, ok bool) {
	if d.value.kind != listKind || len(d.value.items) != 2 {
		found := d.value.describe()
		if d.value.kind == listKind {
			found = "a list of " + count(len(d.value.items))
		}
		b.fail(d.value.pos, "found %s, expected %s: %s", found, d.form, what)
		return 0, 1, false
	}
	ok = true
	for _, item := range d.value.items {
		if !isFinite(item) {
			b.fail(item.pos, "found %s, expected a finite number", item.describe())
			ok = false
		}
	}
	if !ok {
		return 0, 1, false
	}
	first, _ = d.value.items[0].float()
	second, _ = d.value.items[1].float()
	return first, second, true
}

func count(n int) string {
	if n == 1 {
		return "1 value"
	}
	return strconv.Itoa(n) + " values"
}

func (b *builder) bounds(d decl) (low, high float64) {
	low, high, ok := b.pair(d, "[low, high]")
	switch {
	case !ok:
		return 1, 2
	case low > high:
		b.fail(d.value.pos, "the lower bound %s is above the upper bound %s", d.value.items[0].text,
			d.value.items[1].text)
		return high, low
	case low == high && d.form != "int" && !d.whole.has("open"):
		b.warn(d.value.pos, "%s has only one value", d.name)
	}
	return low, high
}

func (b *builder) wholeBounds(d decl) {
	if d.value.kind != listKind {
		return
	}
	for _, item := range d.value.items {
		f, _ := item.float()
		switch {
		case !isFinite(item): // pair says so
		case f != math.Trunc(f):
			b.fail(item.pos, "found the number %s, expected a whole number", item.text)
		case math.Abs(f) > maxInteger || item.isRounded(maxInteger):
			b.fail(item.pos, "found the number %s, expected one within ±2^53", item.text)
		}
	}
}

func (b *builder) meanAndSD(d decl) (mean, sd float64) {
	mean, sd, ok := b.pair(d, "[mean, sd]")
	if ok && sd <= 0 {
		b.fail(d.value.items[1].pos, "the standard deviation is %s, expected a number above 0", d.value.items[1].text)
	}
	return mean, sd
}

func (b *builder) flag(d decl, name string) bool {
	n := d.whole.get(name)
	if n == nil {
		return false
	}
	boolean.check(b.problems, n)
	return n.text == "true"
}

func (b *builder) step(d decl, p *space.Param) {
	n := d.whole.get("step")
	if n == nil || d.form == "choice" || d.form == "ordinal" || d.form == "grid" {
		return
	}
	step, _ := n.float()
	switch {
	case !isFinite(n) || step <= 0:
		b.fail(n.pos, "found %s, expected a step above 0", n.describe())
		return
	case p.Kind == space.Int && step != math.Trunc(step):
		b.fail(n.pos, "found the step %s, expected a whole number", n.text)
		return
	case p.Kind != space.Normal && !hasMultiple(p.Low, p.High, step):
		b.fail(n.pos, "no multiple of the step %s lies within the bounds", n.text)
		return
	}
	p.Step = step
}

// hasMultiple tolerates the rounding error of divisions such as 0.3/0.1.
func hasMultiple(low, high, step float64) bool {
	const slack = 1e-9
	return math.Floor(high/step+slack) >= math.Ceil(low/step-slack)
}

// noParameter refuses a parameter inside a choice: values of choices are handed over unchanged, so
// that it would never get a value.
func (b *builder) noParameter(d decl, item *node) {
	c := parseCall(item.text)
	switch {
	case !b.strict:
	case hasForm(item):
		b.fail(item.pos, "found a parameter inside %s, which would be handed over as a map; give it its own name "+
			"that exists "+
			"where it is chosen, such as %s_a: {uniform: [0, 1], when: \"%s == 'a'\"} beside %s: {choice: [a, b]}",
			d.form, d.name, strings.ReplaceAll(d.name, "/", "."), d.name)
	case item.kind == textKind && c != nil:
		b.fail(item.pos, "found %s inside %s, which is not run as code; give it its own name, such as %s: %s",
			quote(item.text), d.form, d.name, c.instead())
	}
}

func (b *builder) choices(d decl) [][]byte {
	if d.value.kind != listKind {
		b.fail(d.value.pos, "found %s, expected %s: [value, …]", d.value.describe(), d.form)
		return nil
	}
	if len(d.value.items) == 0 {
		b.fail(d.value.pos, "found an empty list, expected at least one value")
	}
	var choices [][]byte
	seen := map[string]bool{}
	for _, item := range d.value.items {
		b.noParameter(d, item)
		b.noNUL(item)
		canonical := string(item.sortedJSON())
		if seen[canonical] {
			b.fail(item.pos, "value %s appears twice", clip(string(item.json())))
		}
		seen[canonical] = true
		choices = append(choices, item.json())
	}
	return choices
}
