package config

import (
	"maps"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/tunehost/tunehost/host/nearest"
	"github.com/tunehost/tunehost/internal/lazily"
)

// scalar is a form of single values.
type scalar struct {
	expected string
	ok       func(n *node) bool
	json     map[string]any
	norm     func(n *node) *node
	most     int64 // of whole numbers; 0: no limit
	// about says what is wrong with a text, as ", in which ..."; nil: nothing is known.
	about func(text string) string
}

func (s *scalar) check(p *problems, n *node) {
	switch i, whole := n.integer(); {
	case s.ok(n) && whole && s.most > 0 && i > s.most && !p.unbounded, !s.ok(n) && s.beyond(n):
		p.fail(n.pos, "found %s, expected a whole number of at most %d", n.describe(), s.most)
	case s.ok(n):
	case s == text && n.kind == textKind:
		p.fail(n.pos, "found an empty text, expected a text that is not empty")
	case s.about != nil:
		p.fail(n.pos, "found %s%s, expected %s", n.describe(), s.about(n.text), s.expected)
	default:
		p.fail(n.pos, "found %s, expected %s", n.describe(), s.expected)
	}
}

// beyond reports whether a number is whole and larger than what integer reads, as 1e18 is.
func (s *scalar) beyond(n *node) bool {
	f, ok := n.float()
	return ok && s.most > 0 && f > float64(s.most) && f == math.Trunc(f) && !math.IsInf(f, 0)
}

func (s *scalar) schema() map[string]any {
	out := map[string]any{}
	maps.Copy(out, s.json)
	return out
}

func (s *scalar) canon(n *node) *node {
	if s.norm == nil {
		return n
	}
	return s.norm(n)
}

func isText(n *node) bool { return n.kind == textKind && strings.TrimSpace(n.text) != "" }

var (
	text = &scalar{expected: "a text", ok: isText, json: map[string]any{"type": "string", "pattern": `\S`}}
	// word is a text; numbers, true and false are taken as written.
	word = &scalar{expected: "a text", ok: func(n *node) bool { return n.kind < listKind && n.kind != nullKind },
		json: map[string]any{"type": []any{"string", "number", "boolean"}}, norm: asText}
	boolean = &scalar{expected: "true or false", ok: func(n *node) bool { return n.kind == boolKind },
		json: map[string]any{"type": "boolean"}}
	real     = &scalar{expected: "a number", ok: isFinite, json: map[string]any{"type": "number"}}
	positive = &scalar{expected: "a number above 0",
		ok:   func(n *node) bool { f, _ := n.float(); return isFinite(n) && f > 0 },
		json: map[string]any{"type": "number", "exclusiveMinimum": 0}}
	notNegative = &scalar{expected: "a number from 0",
		ok:   func(n *node) bool { f, _ := n.float(); return isFinite(n) && f >= 0 },
		json: map[string]any{"type": "number", "minimum": 0}}
	condition = &scalar{expected: "an expression", ok: func(n *node) bool { return isText(n) || n.kind == boolKind },
		json: map[string]any{"type": []any{"string", "boolean"}}, norm: asText}
	pattern = &special{test: checkPattern, json: func() map[string]any {
		return map[string]any{"type": "string",
			"format": "regex"}
	}}
)

func asText(n *node) *node {
	c := *n
	c.kind = textKind
	return &c
}

func isFinite(n *node) bool {
	f, ok := n.float()
	return ok && !math.IsNaN(f) && !math.IsInf(f, 0)
}

func checkPattern(p *problems, n *node) {
	if !isText(n) {
		p.fail(n.pos, "found %s, expected a regular expression", n.describe())
		return
	}
	re, err := regexp.Compile(n.text)
	switch {
	case err != nil:
		p.fail(n.pos, "found %s, expected a regular expression (%s)", quote(n.text),
			strings.TrimPrefix(err.Error(), "error parsing regexp: "))
	case re.NumSubexp() == 0:
		p.fail(n.pos, `found %s, expected a group that catches the number, such as "loss: (\\S+)"`, quote(n.text))
	}
}

// integer is a whole number of at least low, and at most one that every program can read.
func integer(low int64) *scalar { return integerTo(low, maxInteger) }

// small is an integer that is kept in 32 bits.
func small(low int64) *scalar { return integerTo(low, math.MaxInt32) }

func integerTo(low, most int64) *scalar {
	return &scalar{expected: "a whole number from " + strconv.FormatInt(low, 10) + " on", most: most,
		ok:   func(n *node) bool { i, ok := n.integer(); return ok && i >= low },
		json: map[string]any{"type": "integer", "minimum": low, "maximum": most}, norm: asWhole}
}

// asWhole gives a whole number its one spelling: 1e1 and 10.0 are 10.
func asWhole(n *node) *node {
	i, whole := n.integer()
	if !whole {
		return n // of more than 63 bits, or no number where one is expected
	}
	c := *n
	c.text = strconv.FormatInt(i, 10)
	return &c
}

var unsigned = &scalar{expected: "a whole number from 0 to 2^64-1",
	ok:   func(n *node) bool { _, ok := unsignedOf(n); return ok },
	json: map[string]any{"type": "integer", "minimum": 0, "maximum": uint64(math.MaxUint64)}, norm: asWhole}

func unsignedOf(n *node) (uint64, bool) {
	if n == nil || n.kind != numberKind {
		return 0, false
	}
	if u, err := strconv.ParseUint(n.text, 10, 64); err == nil {
		return u, true
	}
	i, ok := n.integer()
	return uint64(i), ok && i >= 0
}

// oneOf is one of some words.
func oneOf(words ...string) shape {
	return &special{
		test: func(p *problems, n *node) {
			for _, w := range words {
				if n.kind <= textKind && n.text == w {
					return
				}
			}
			p.fail(n.pos, "found %s, expected %s%s", n.describe(), list(words, 8), nearest.Hint(n.text, words))
		},
		json: func() map[string]any { return map[string]any{"enum": wordsAndTruths(words)} },
	}
}

// wordsAndTruths converts the words true and false to booleans, as YAML does.
func wordsAndTruths(words []string) []any {
	var out []any
	for _, w := range words {
		switch w {
		case "true", "false":
			out = append(out, w == "true", w)
		default:
			out = append(out, w)
		}
	}
	return out
}

const durationText = `^([0-9]+(\.[0-9]+)?(ns|us|ms|s|m|h|d|w))+$`

var (
	durationForm = lazily.Regexp(durationText)
	durationPart = lazily.Regexp(`([0-9.]+)([a-z]+)`)
	durationUnit = map[string]time.Duration{"ns": time.Nanosecond, "us": time.Microsecond, "ms": time.Millisecond,
		"s": time.Second,
		"m": time.Minute, "h": time.Hour, "d": 24 * time.Hour, "w": 7 * 24 * time.Hour}
)

var duration = &scalar{expected: `a time such as 10s, 5m, 2h or 1d, or a number of seconds`,
	ok: func(n *node) bool { _, ok := durationOf(n); return ok },
	json: map[string]any{"anyOf": []any{map[string]any{"type": "number", "minimum": 0},
		map[string]any{"type": "string", "pattern": durationText}}},
	norm: func(n *node) *node {
		d, ok := durationOf(n)
		if !ok {
			return n
		}
		return &node{kind: textKind, pos: n.pos, text: d.String()}
	}}

// someTime is a duration that is not zero.
var someTime = &scalar{expected: duration.expected + `, above 0`,
	ok: func(n *node) bool { d, ok := durationOf(n); return ok && d > 0 },
	json: map[string]any{"anyOf": []any{map[string]any{"type": "number", "exclusiveMinimum": 0},
		map[string]any{"type": "string", "pattern": durationText}}},
	norm: duration.norm}

// durationOf reads 10s, 1h30m, 1d or a number of seconds.
func durationOf(n *node) (time.Duration, bool) {
	if n == nil {
		return 0, false
	}
	if f, ok := n.float(); ok {
		return seconds(f, time.Second)
	}
	if n.kind != textKind || !durationForm().MatchString(n.text) {
		return 0, false
	}
	var total time.Duration
	for _, part := range durationPart().FindAllStringSubmatch(n.text, -1) {
		f, err := strconv.ParseFloat(part[1], 64)
		d, ok := seconds(f, durationUnit[part[2]])
		if err != nil || !ok || total > math.MaxInt64-d {
			return 0, false
		}
		total += d
	}
	return total, true
}

func seconds(f float64, unit time.Duration) (time.Duration, bool) {
	ns := math.Round(f * float64(unit))
	if !(f >= 0) || ns >= math.MaxInt64 {
		return 0, false
	}
	return time.Duration(ns), true
}

const sizeText = `^[0-9]+(\.[0-9]+)? ?([kKMGTPE]i?)?B?$`

var (
	sizeForm = lazily.Regexp(sizeText)
	sizePart = lazily.Regexp(`^([0-9.]+) ?([kKMGTPE]?)(i?)B?$`)
)

var size = &scalar{expected: `a size such as 512MB or 4GiB, or a number of bytes`,
	ok: func(n *node) bool { _, ok := sizeOf(n); return ok },
	json: map[string]any{"anyOf": []any{map[string]any{"type": "number", "minimum": 0},
		map[string]any{"type": "string", "pattern": sizeText}}},
	norm: func(n *node) *node {
		b, ok := sizeOf(n)
		if !ok {
			return n
		}
		return &node{kind: numberKind, pos: n.pos, text: strconv.FormatInt(b, 10)}
	}}

// sizeOf reads 4GiB, 512MB or a number of bytes.
func sizeOf(n *node) (int64, bool) {
	if n == nil || n.kind != numberKind && n.kind != textKind || !sizeForm().MatchString(n.text) {
		i, ok := n.integer()
		return i, ok && i >= 0
	}
	m := sizePart().FindStringSubmatch(n.text)
	f, err := strconv.ParseFloat(m[1], 64)
	base := 1000.0
	if m[3] == "i" {
		base = 1024
	}
	f *= math.Pow(base, float64(strings.Index("kMGTPE", strings.Replace(m[2], "K", "k", 1))+1))
	if m[2] == "" {
		f /= base
		f *= base // no unit: bytes
	}
	return int64(f), err == nil && f < math.MaxInt64
}

const amountText = `^[0-9]*\.?[0-9]+([eE][-+]?[0-9]{1,2})?( ?([kKMGTP]i?B?|B))?$`

var amountForm = lazily.Regexp(amountText)

// amount is an amount of a resource, kept exactly as written. Any other text is an expression over
// parameters, which the builder compiles.
var amount = &scalar{expected: expectedAmount,
	ok: func(n *node) bool {
		return n.kind == numberKind && amountForm().MatchString(n.text) || n.kind == textKind &&
			strings.TrimSpace(n.text) != ""
	},
	json: map[string]any{"anyOf": []any{map[string]any{"type": "number", "minimum": 0},
		map[string]any{"type": "string", "pattern": `\S`}}},
	norm: asText}

const expectedAmount = `an amount such as 2, 0.5 or 4GiB, or an expression over parameters such as "workers + 1"`
