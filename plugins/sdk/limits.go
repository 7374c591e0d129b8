package sdk

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits of a [Result]. A trial that exceeds them fails.
const (
	// MaxMetrics is the maximum number of metrics in one result.
	MaxMetrics = 10_000
	// MaxMetricName is the maximum length of a metric's name, in bytes.
	MaxMetricName = 128
	// MaxValues is the maximum size of Result.Values, in bytes. Larger values are dropped.
	MaxValues = 64 << 10
	// MaxIteration is the highest iteration: all numbers up to it are exact in every JSON parser.
	MaxIteration = 1 << 53
)

// maxPath is the longest path on any system, in bytes.
const maxPath = 4096

// CheckMetricName returns an error if the name is not 1 to MaxMetricName bytes of letters, digits,
// punctuation, symbols and spaces of any script. Control characters are not allowed.
func CheckMetricName(name string) error {
	if name == "" {
		return errors.New("a metric has no name")
	}
	if len(name) > MaxMetricName {
		return fmt.Errorf("metric name %q… is longer than %d bytes", strings.ToValidUTF8(name[:64], ""), MaxMetricName)
	}
	if !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return fmt.Errorf("metric name %q has an unprintable character", name)
	}
	return nil
}

// CheckResult returns an error if a result is invalid on its own.
func CheckResult(r *Result) error {
	if len(r.Metrics) > MaxMetrics {
		return fmt.Errorf("a result has %d metrics; at most %d", len(r.Metrics), MaxMetrics)
	}
	if len(r.Checkpoint) > maxPath {
		return fmt.Errorf("the path of its checkpoint has %d bytes; at most %d", len(r.Checkpoint), maxPath)
	}
	if r.Iteration > MaxIteration {
		return fmt.Errorf("iteration %d is beyond %d", r.Iteration, uint64(MaxIteration))
	}
	for i := range r.Metrics {
		if err := CheckMetricName(r.Metrics[i].Name); err != nil {
			return err
		}
	}
	if name, twice := namedTwice(r.Metrics); twice {
		return fmt.Errorf("metric %q occurs twice in a result", name)
	}
	return nil
}

// For few metrics, comparing all pairs is faster than a map.
const fewMetrics = 16

func namedTwice(list []Metric) (name string, twice bool) {
	if len(list) <= fewMetrics {
		for i := range list {
			for j := range i {
				if list[i].Name == list[j].Name {
					return list[i].Name, true
				}
			}
		}
		return "", false
	}
	seen := make(map[string]bool, len(list))
	for i := range list {
		if seen[list[i].Name] {
			return list[i].Name, true
		}
		seen[list[i].Name] = true
	}
	return "", false
}
