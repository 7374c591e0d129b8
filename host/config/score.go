package config

import (
	"slices"
	"strings"
)

// score returns the metric that decides which checkpoints are kept, and its mode. The mode defaults to
// the objective's where the metric is one.
func (b *builder) score(f fields) (metric, mode string) {
	metric, mode = f.text("score"), f.text("mode")
	i := slices.IndexFunc(b.e.Objectives, func(o Objective) bool { return o.Metric == metric })
	switch {
	case metric == "" && mode != "":
		b.fail(f.n.get("mode").pos, `found "mode" without "score", expected both`)
	case mode != "" || metric == "":
	case i >= 0:
		return metric, b.e.Objectives[i].Mode
	default:
		b.scoreAlone(f.n, metric)
	}
	if mode == "" {
		mode = "max"
	}
	return metric, mode
}

// scoreAlone checks a score without a mode that is not an objective. Ray writes the mode before the
// name.
func (b *builder) scoreAlone(n *node, metric string) {
	if !b.strict {
		return
	}
	pos := n.get("score").pos
	for _, mode := range []string{"min", "max"} {
		if name, ok := strings.CutPrefix(metric, mode+"-"); ok && name != "" {
			b.fail(pos, "found %s, expected the name of a metric: score: %s, mode: %s; where a metric is called %s, "+
				"write its mode beside it",
				quote(metric), name, mode, metric)
			return
		}
	}
	b.warn(pos, "without mode the checkpoints with the largest %s are kept; write mode: min or mode: max", metric)
}
