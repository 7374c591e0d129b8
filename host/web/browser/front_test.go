package browser

import "testing"

// A trial on the front is drawn where it was compared, also if its last result lacks an objective.
func TestFrontOfLastValues(t *testing.T) {
	p := window(t)
	dir := t.TempDir()
	write(t, dir, "front.yaml", `version: 1
objectives: [{metric: size, mode: max}, {metric: us, mode: max}]
strict_metrics: false
trainable:
  command: [sh, -c, 'echo "{\"size\": 10, \"us\": 1}"; [ {x} -eq 1 ] || echo "{\"us\": {x}}"']
space: {x: {grid: [1, 2]}}
`)
	if out, err := command(t, dir, "run", "front.yaml").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	server := start(t, dir, "serve", "results", "--listen", "127.0.0.1:0")
	p.open(server.url() + "#/x/front/pareto")
	p.shows("#front", "1 trial on the front")
	p.await(`document.querySelector("[aria-label='us by size: 2 trials, 1 of them on the front']")`)
	p.clean()
}
