// Package naming names trials: it makes their ids and the names of their directories, and finds the
// trial that a user names. The host writes these names and readers find them, so both use this
// package.
package naming

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/storage"
)

const idAlphabet = "0123456789abcdefghijkmnpqrstuvwx"

// ID returns the name of a trial in files: seven letters and digits that distinguish trials of several
// experiments. It is a permutation of the number under the seed, so that no two trials of one
// experiment share it.
func ID(seed uint64, number uint32) string {
	x := number ^ uint32(mix(seed))
	x ^= x >> 16
	x *= 0x7feb352d // odd: a permutation, as every step here is
	x ^= x >> 15
	x *= 0x846ca68b
	x ^= x >> 16
	var id [7]byte
	for i := range id {
		id[i] = idAlphabet[x&31]
		x >>= 5
	}
	return string(id[:])
}

// mix spreads a seed over all bits (the end of SplitMix64; Steele, Lea and Flood, 2014).
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// Find returns the trial with a number or id, among the first trials.
func Find(text string, seed uint64, trials int) (uint32, error) {
	if len(text) == 7 {
		for no := range uint32(trials) {
			if ID(seed, no) == text {
				return no, nil
			}
		}
	}
	no, err := strconv.ParseUint(text, 10, 32)
	if err == nil && no < uint64(trials) {
		return uint32(no), nil
	}
	if trials == 0 {
		return 0, fmt.Errorf("no trial %q: there are none yet", text)
	}
	return 0, fmt.Errorf("no trial %q: give a number from 0 to %d, or a trial's id", text, trials-1)
}

// Dir returns the name of a trial's directory: its number, its id and the parameters that vary, as
// when it was created (B-090). moved is how often the trial has moved to a new directory.
func Dir(e *config.Experiment, seed uint64, no uint32, params []byte, moved int) string {
	values := e.Values(params)
	id := ID(seed, no)
	label := id
	if moved > 0 {
		label = fmt.Sprintf("%s_retry%d", id, moved)
	}
	if e.TrialName != "" {
		return storage.TrialName(no, label, expand(e.TrialName, no, id, values), nil)
	}
	var varied []storage.Value
	for _, p := range e.Space.Params {
		if v, ok := values[p.Name]; ok {
			varied = append(varied, storage.Value{Name: p.Name, Text: Brief(v)})
		}
	}
	return storage.TrialName(no, label, "", varied)
}

// expand fills in the user's template: {number}, {id}, {NAME}.
func expand(template string, no uint32, id string, values map[string]any) string {
	pairs := []string{"{number}", fmt.Sprint(no), "{id}", id, "{{", "{", "}}", "}"}
	for name, v := range values {
		pairs = append(pairs, "{"+name+"}", Brief(v))
	}
	return strings.NewReplacer(pairs...).Replace(template)
}

// Brief writes a parameter's value short enough for a name or a table.
func Brief(v any) string {
	switch v := v.(type) {
	case float64:
		return fmt.Sprintf("%.4g", v)
	case string:
		return v
	case nil:
		return "null"
	}
	text, err := json.Marshal(v)
	if err != nil {
		return "?"
	}
	return string(text)
}
