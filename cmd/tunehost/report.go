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
	var checkpoint, file string
	var iteration uint64
	cmd := &cobra.Command{
		Use:   "report NAME=VALUE...|DIR... -o FILE.html",
		Short: "Report a result, from within a trial's program; or write a report of experiments",
		Long: `With -o, write experiments as one HTML page: the dashboard with the data inside, which opens
anywhere, without a server or a network. DIR is an experiment or a folder of them. The page has
all trials in its list, as many points of their curves as fit into 2 MB for each 1,000 trials,
and no output of programs. A plain FILE of yours is replaced; a link is refused.

Without -o, report a result from a program that tunehost runs, and print the decision: continue,
pause or stop. On pause and stop the program must save what it needs, and exit. If the host is gone
before it has recorded the result, nothing is printed and the status is 3: exit, and write no final
model; the trial runs again.

A VALUE that is a number is a metric; nan and inf are numbers. Other values are written to
result.jsonl beside the metrics: true and false, a list or a quoted string of JSON
('["a", 1]', '"12"'), and anything else as a string. done=true marks the last result.`,
		Example: `  answer=$(tunehost report accuracy=0.93 loss=0.2 note="lr halved" --checkpoint "$dir") || exit
  if [ "$answer" != continue ]; then exit 0; fi
  tunehost report results/digits -o digits.html`,
		Args: wants(1, -1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if file != "" || cmd.Flags().Changed("output") {
				if cmd.Flags().Changed("checkpoint") || cmd.Flags().Changed("iteration") {
					return usage("report: -o writes a page of experiments; it takes no --checkpoint or --iteration")
				}
				return a.reportPage(args, file)
			}
			m, err := messageOf(args)
			if err != nil {
				return err
			}
			m.Iteration, m.Checkpoint = iteration, checkpoint
			return a.reportResult(m)
		},
	}
	cmd.Flags().StringVarP(&file, "output", "o", "", "write a page of experiments to `FILE`, which ends in .html")
	cmd.Flags().StringVar(&checkpoint, "checkpoint", "",
		"the complete checkpoint of this result, a `DIR` below TUNEHOST_CHECKPOINT_DIR")
	cmd.Flags().Uint64Var(&iteration, "iteration", 0,
		"the `NUMBER` of the iteration, from 1 (default: the host counts)")
	return cmd
}

// reportResult sends a result to the trial's trainable, and prints the decision.
func (a *app) reportResult(m channel.Message) error {
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
}

// messageOf reads NAME=VALUE pairs: numbers are metrics, other values are kept beside them.
func messageOf(pairs []string) (channel.Message, error) {
	m := channel.Message{Metrics: map[string]float64{}, Values: map[string]any{}}
	for _, pair := range pairs {
		name, text, ok := strings.Cut(pair, "=")
		if !ok {
			return m, usage("report: %q: expected NAME=VALUE; a page of experiments needs -o FILE.html", pair)
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
		return m, usage("report: %s: a report needs a number, as in accuracy=0.93",
			strings.Join(pairs, " "))
	}
	return m, nil
}

// valueOf reads a value that is no number: true, false, or a list or a quoted text in JSON.
// Everything else is a text.
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
