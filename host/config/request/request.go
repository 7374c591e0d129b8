// Package request converts requests for resources: from experiment files, trainables and schedulers to
// core/resource, and to JSON for plugins. Whether a request can be met is decided in core/resource.
package request

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tunehost/tunehost/core/resource"
	"github.com/tunehost/tunehost/host/config"
)

// Of returns what the file asks for, for each trial, without amounts that depend on the trial's
// parameters.
func Of(e *config.Experiment) (resource.Request, error) {
	if e.Placement == nil {
		return request(e, []map[string]string{e.Resources})
	}
	return request(e, e.Placement.Bundles)
}

// For returns what the file asks for, for a trial with these parameters, a JSON object.
func For(e *config.Experiment, params []byte) (resource.Request, error) {
	bundles, err := e.Bundles(params)
	if err != nil {
		return resource.Request{}, err
	}
	return request(e, bundles)
}

// Least returns the least of each amount that trials with these parameters ask for. It skips
// parameters for which an amount is not a number.
func Least(e *config.Experiment, params [][]byte) (resource.Request, error) {
	var least []map[string]string
	for _, p := range params {
		bundles, err := e.Bundles(p)
		switch {
		case err != nil:
		case least == nil:
			least = bundles
		default:
			lower(least, bundles)
		}
	}
	if least == nil {
		return Of(e)
	}
	return request(e, least)
}

// lower replaces the amounts in least by smaller ones from bundles.
func lower(least, bundles []map[string]string) {
	for i := range bundles {
		for name, amount := range bundles[i] {
			if less(amount, least[i][name]) {
				least[i][name] = amount
			}
		}
	}
}

func less(a, b string) bool {
	x, errX := resource.ParseAmount(a)
	y, errY := resource.ParseAmount(b)
	return errX == nil && errY == nil && x.Cmp(y) < 0
}

func request(e *config.Experiment, amounts []map[string]string) (r resource.Request, err error) {
	strategy := resource.Pack
	if e.Placement != nil {
		if strategy, err = resource.ParseStrategy(e.Placement.Strategy); err != nil {
			return r, err
		}
	}
	bundles := make([]resource.Bundle, len(amounts))
	for i := range amounts {
		if bundles[i], err = Bundle(amounts[i]); err != nil {
			return r, cmp.Or(checkEach(e, i, amounts[i]), err)
		}
	}
	return resource.NewRequest(strategy, bundles...)
}

// checkEach refuses an amount with its place in the file; nil: each is right by itself.
func checkEach(e *config.Experiment, bundle int, amounts map[string]string) error {
	for _, name := range slices.Sorted(maps.Keys(amounts)) {
		if _, err := Bundle(map[string]string{name: amounts[name]}); err != nil {
			return fmt.Errorf("%s: %w", e.PosOfAmount(bundle, name), err)
		}
	}
	return nil
}

// Bundle converts amounts by resource name.
func Bundle(amounts map[string]string) (resource.Bundle, error) {
	var items []resource.Item
	for name, text := range amounts {
		a, err := resource.ParseAmount(text)
		if err != nil {
			return resource.Bundle{}, fmt.Errorf("resource %s: %w", name, err)
		}
		items = append(items, resource.Item{Name: name, Amount: a})
	}
	return resource.NewBundle(items...) // sorts them
}

// Parse reads a request in JSON, with the keys of `resources` or of `placement` in the experiment
// file.
func Parse(text []byte) (*resource.Request, error) {
	var amounts written
	if err := json.Unmarshal(text, &amounts); err != nil {
		return nil, fmt.Errorf("resources %.200q: %w", text, err)
	}
	if list := amounts["bundles"]; len(list) > 0 && list[0] == '[' {
		return parseGroup(text)
	}
	b, err := amounts.bundle()
	if err != nil {
		return nil, err
	}
	r, err := resource.NewRequest(resource.Pack, b)
	return &r, err
}

// written holds amounts as JSON: {"cpu": 2, "memory": "4GiB"}.
type written map[string]json.RawMessage

func (a written) bundle() (resource.Bundle, error) {
	plain := map[string]string{}
	for name, amount := range a {
		plain[name] = strings.Trim(string(amount), `"`) // ParseAmount refuses the rest
	}
	return Bundle(plain)
}

// parseGroup reads {"bundles": [{"cpu": 1}, …], "strategy": "spread"}.
func parseGroup(text []byte) (*resource.Request, error) {
	g := struct {
		Bundles  []written
		Strategy resource.Strategy
	}{}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&g); err != nil {
		return nil, fmt.Errorf("resources %.200q: %w", text, err)
	}
	if len(g.Bundles) > resource.MaxBundles {
		return nil, fmt.Errorf("resources: %d bundles in one request; at most %d", len(g.Bundles), resource.MaxBundles)
	}
	bundles := make([]resource.Bundle, len(g.Bundles))
	for i, amounts := range g.Bundles {
		var err error
		if bundles[i], err = amounts.bundle(); err != nil {
			return nil, err
		}
	}
	r, err := resource.NewRequest(g.Strategy, bundles...)
	return &r, err
}

// Sum writes the sum of a request as JSON.
func Sum(r resource.Request) []byte { return Amounts(r.Sum()) }

// Amounts writes amounts as JSON that Parse reads.
func Amounts(items []resource.Item) []byte {
	amounts := map[string]string{}
	for _, it := range items {
		amounts[it.Name] = it.Amount.String()
	}
	text, err := json.Marshal(amounts)
	if err != nil {
		panic(err) // a map of texts
	}
	return text
}
