package config

import "github.com/tunehost/tunehost/plugins/sdk"

// metricName is the name of a metric: one that results can have.
var metricName = &special{
	test: func(p *problems, n *node) {
		if !isText(n) {
			text.check(p, n)
			return
		}
		p.metric(n.pos, n.text)
	},
	json: text.schema,
}

// metric reports a name that no result can have.
func (p *problems) metric(at Pos, name string) {
	if err := sdk.CheckMetricName(name); err != nil && !p.unbounded {
		p.fail(at, "%v, and no result can have it", err)
	}
}
