package main

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/tunehost/tunehost/plugins/sdk/channel"
)

func (a *app) reportCommand() *cobra.Command {
	var checkpoint string
	var iteration uint64
	cmd := &cobra.Command{
		Use:   "report NAME=VALUE...",
		Short: "Report a result, from within a trial's program",
		Long: `Report a result, from within a program that tunehost runs, and print what to do:
continue, pause or stop. On pause and stop the program shall save what it needs
and exit.

A VALUE that is a number is a metric; nan and inf are numbers. What is none is kept
beside the metrics, in result.jsonl: true and false, a list or a quoted text of JSON
('["a", 1]', '"12"'), and all else as a text. done=true makes it the last result.`,
		Example: `  answer=$(tunehost report accuracy=0.93 loss=0.2 note="lr halved" --checkpoint "$dir")
  if [ "$answer" != continue ]; then exit 0; fi`,
		Args: wants(1, -1),
		RunE: func(_ *cobra.Command, args []string) error {
			m, err := messageOf(args)
			if err != nil {
				return err
			}
			m.Iteration, m.Checkpoint = iteration, checkpoint
			c, err := channel.Dial(a.env["TUNEHOST_CHANNEL"])
			if err != nil {
				return err
			}
			defer c.Close()
			decision, err := c.Send(m)
			if err == nil {
				a.say("%s", decision)
			}
			return err
		},
	}
	cmd.Flags().StringVar(&checkpoint, "checkpoint", "", "a finished checkpoint of this result, a `DIR` below TUNEHOST_CHECKPOINT_DIR")
	cmd.Flags().Uint64Var(&iteration, "iteration", 0, "number of the iteration, from 1; counted by the host where it is not said")
	return cmd
}

// messageOf reads NAME=VALUE pairs: numbers are metrics; what is none is kept beside them.
func messageOf(pairs []string) (channel.Message, error) {
	m := channel.Message{Metrics: map[string]float64{}, Values: map[string]any{}}
	for _, pair := range pairs {
		name, text, ok := strings.Cut(pair, "=")
		if !ok {
			return m, usage("report: %q: expected NAME=VALUE", pair)
		}
		if err := channel.CheckName(name); err != nil {
			return m, usage("report: %v", err)
		}
		if _, is := m.Metrics[name]; is || m.Values[name] != nil {
			return m, usage("report: %s is given twice", name)
		}
		if v, err := strconv.ParseFloat(text, 64); err == nil || errors.Is(err, strconv.ErrRange) {
			m.Metrics[name] = v
		} else {
			m.Values[name] = valueOf(text)
		}
	}
	if len(m.Metrics) == 0 {
		return m, usage("report: %s: there is no number in it, and a report has one, as in accuracy=0.93", strings.Join(pairs, " "))
	}
	return m, nil
}

// valueOf is what is no number: true, false and what is a list or a quoted text in JSON are
// that, all else is a text.
func valueOf(text string) any {
	switch {
	case text == "true" || text == "false":
		return text == "true"
	case strings.HasPrefix(text, "[") || strings.HasPrefix(text, `"`):
		if json.Valid([]byte(text)) {
			return json.RawMessage(text)
		}
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}
