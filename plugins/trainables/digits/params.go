package digits

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// params are a trial's parameters; doc.go describes them.
type params struct {
	lr, momentum, weightDecay, dropout float64
	layers, units, batch, epochs       int
	activation, optimizer              string
}

const (
	relu, tanh = "relu", "tanh"
	sgd, adam  = "sgd", "adam"
)

// defaultLR is the learning rate where none is given.
var defaultLR = map[string]float64{sgd: 0.1, adam: 0.003}

// setter stores a JSON value in params, or says what was wanted instead.
type setter func(p *params, value json.RawMessage) (wanted string)

var setters = map[string]setter{
	"lr":           number(0, 1e6, false, func(p *params) *float64 { return &p.lr }),
	"momentum":     number(0, 1, true, func(p *params) *float64 { return &p.momentum }),
	"weight_decay": number(0, 1e6, true, func(p *params) *float64 { return &p.weightDecay }),
	"dropout":      number(0, 1, true, func(p *params) *float64 { return &p.dropout }),
	"layers":       integer(1, 3, func(p *params) *int { return &p.layers }),
	"units":        integer(1, 1024, func(p *params) *int { return &p.units }),
	"batch":        integer(1, 1024, func(p *params) *int { return &p.batch }),
	"epochs":       integer(1, 1_000_000, func(p *params) *int { return &p.epochs }),
	"activation":   word(relu, tanh, func(p *params) *string { return &p.activation }),
	"optimizer":    word(sgd, adam, func(p *params) *string { return &p.optimizer }),
}

// parseParams reads a JSON object.
func parseParams(object []byte) (params, error) {
	p := params{momentum: 0.9, layers: 1, units: 32, batch: 32, epochs: 27, activation: relu, optimizer: sgd}
	var given map[string]json.RawMessage
	if err := json.Unmarshal(object, &given); err != nil {
		return p, fmt.Errorf("digits: the parameters are no JSON object: %w", err)
	}
	if err := refuseUnknown(given); err != nil {
		return p, err
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if wanted := setters[name](&p, given[name]); wanted != "" {
			return p, fmt.Errorf("digits: parameter %q is %s: want %s", name, given[name], wanted)
		}
	}
	if _, ok := given["lr"]; !ok {
		p.lr = defaultLR[p.optimizer]
	}
	return p, nil
}

func refuseUnknown(given map[string]json.RawMessage) error {
	var unknown []string
	for name := range given {
		if setters[name] == nil {
			unknown = append(unknown, name)
		}
	}
	if len(unknown) == 0 {
		return nil
	}
	slices.Sort(unknown)
	known := strings.Join(slices.Sorted(maps.Keys(setters)), ", ")
	return fmt.Errorf("digits: unknown parameters %q; known are %s", unknown, known)
}

// number wants a number from low to below high; low itself if closed.
func number(low, high float64, closed bool, field func(*params) *float64) setter {
	above := "above"
	if closed {
		above = "of at least"
	}
	wanted := fmt.Sprintf("a number %s %v and below %v", above, low, high)
	return func(p *params, value json.RawMessage) string {
		x, ok := parseNumber(value)
		if !ok || x < low || x >= high || (x == low && !closed) {
			return wanted
		}
		*field(p) = x
		return ""
	}
}

// integer wants an integer from low to high; 3.0 is one.
func integer(low, high int, field func(*params) *int) setter {
	wanted := fmt.Sprintf("an integer from %d to %d", low, high)
	return func(p *params, value json.RawMessage) string {
		x, ok := parseNumber(value)
		if !ok || x != math.Trunc(x) || x < float64(low) || x > float64(high) {
			return wanted
		}
		*field(p) = int(x)
		return ""
	}
}

// word wants one of two strings.
func word(a, b string, field func(*params) *string) setter {
	wanted := fmt.Sprintf("%q or %q", a, b)
	return func(p *params, value json.RawMessage) string {
		var s string
		if json.Unmarshal(value, &s) != nil || (s != a && s != b) {
			return wanted
		}
		*field(p) = s
		return ""
	}
}

// parseNumber reads a number; null, which encoding/json takes for one, is none.
func parseNumber(value json.RawMessage) (float64, bool) {
	var x *float64
	if json.Unmarshal(value, &x) != nil || x == nil {
		return 0, false
	}
	return *x, true
}
