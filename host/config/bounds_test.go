package config

import (
	"fmt"
	"strings"
	"testing"
)

// Names that no result can have are mistakes wherever a metric is named; a recorded experiment keeps them.
func TestNamesOfMetrics(t *testing.T) {
	const command = "trainable: {command: [a], metrics: {NAME: '(.*)'}}\n"
	const objective, space = "objective: {metric: loss, mode: min}\n", "space: {lr: {uniform: [0, 1]}}\n"
	for _, c := range []struct{ text, at string }{
		{"objective: {metric: NAME, mode: min}\n" + space, "1:21"},
		{"objectives: [{metric: loss, mode: min}, {metric: NAME, mode: max}]\n" + space, "1:50"},
		{objective + space + "stop: {NAME: 3}\n", "3:8"},
		{objective + space + "stop: {NAME: {below: 3}}\n", "3:8"},
		{objective + space + "stop: {plateau: {metric: NAME}}\n", "3:26"},
		{objective + space + "budget: {plateau: {metric: NAME}}\n", "3:28"},
		{objective + space + "stop: {when: 'metrics[NAME] > 1'}\n", "3:14"},
		{objective + space + "checkpoint: {keep: 2, score: NAME, mode: min}\n", "3:30"},
		{objective + space + command, "3:37"},
	} {
		if !strings.Contains(c.text, "trainable") {
			c.text += "trainable: {command: [a]}\n"
		}
		for name, want := range map[string]string{
			`"a\nb"`: "has an unprintable character", `"` + strings.Repeat("n", 200) + `"`: "is longer than 128 bytes",
		} {
			text := []byte("version: 1\n" + strings.Replace(c.text, "NAME", name, 1))
			_, err := Parse("x", text)
			var line, column int
			fmt.Sscanf(c.at, "%d:%d", &line, &column)
			place := fmt.Sprintf("x:%d:%d: metric name ", line+1, column)
			if err == nil || !strings.HasPrefix(err.Error(), place) || !strings.Contains(err.Error(), want) ||
				strings.Contains(err.Error(), "\n") {
				t.Errorf("%s: %v, want %s", text, err, place)
			}
			if _, err := Parse("x", text, Recorded(boundReading-1)); err != nil {
				t.Errorf("a recorded experiment: %v", err)
			}
		}
	}
}

// Numbers that are not kept as they are written are mistakes: some wrapped around, so that a limit was none.
func TestLargeNumbers(t *testing.T) {
	const start = "version: 1\nobjective: {metric: loss, mode: min}\nspace: {lr: {uniform: [0, 1]}}\n" +
		"trainable: {command: [a]}\n"
	const exact, small = "9007199254740992", "2147483647"
	for key, most := range map[string]string{
		"trials: N": exact, "stop: {iteration: N}": exact, "stop: {training_iteration: N}": exact,
		"checkpoint: {every: N}": exact, "stop: {plateau: {last: N}}": exact, "stop: {plateau: {grace: N}}": exact,
		"budget: {plateau: {patience: N}}": exact, "repeat: N": "1000", "concurrency: N": small,
		"checkpoint: {keep: N}": small, "failures: {lost: N}": small, "failures: {retries: N}": small,
		"budget: {trials_failed: N}": small,
	} {
		for number, fits := range map[string]bool{most: true, most + "0": false, "9223372036854775807": false} {
			text := []byte(start + strings.Replace(key, "N", number, 1) + "\n")
			_, err := Parse("x", text)
			if (err == nil) != fits || err != nil && !strings.Contains(err.Error(), "x:5:") {
				t.Errorf("%s: %s: %v", key, number, err)
			}
			if _, err := Parse("x", text, Recorded(boundReading-1)); err != nil && most != "1000" {
				t.Errorf("a recorded experiment: %v", err)
			}
		}
	}
}
