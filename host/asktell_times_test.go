package host

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/core"
)

// timed trains one trial after the other, in an experiment in which small x are quick and others as good.
type timed struct {
	c      *caller
	now    float64
	clock  bool // it tells the time
	points []string
}

const quickOnes = `{"version":1,"name":"b","seed":3,"objective":{"metric":"value","mode":"min"},"trials":%d,` +
	`"space":{"x":{"uniform":[0,1]},"y":{"uniform":[0,1]}},"searcher":%s,"scheduler":{"plugin":"asha","max":9}}`

// request adds the time to a request.
func (k *timed) request(fields string) reply {
	if k.clock {
		fields += fmt.Sprintf(`,"time":%v`, k.now)
	}
	return k.c.ask("{%s}", fields)
}

// train trains up to n trials.
func (k *timed) train(n int) {
	for range n {
		r := k.request(`"ask":true`)
		if r.Trial == "" {
			return
		}
		x, y := r.Params["x"].(float64), r.Params["y"].(float64)
		k.points = append(k.points, fmt.Sprintf("%v %v", x, y))
		value := math.Abs(y-0.4) + math.Sin(20*x)/4
		for i := 1; k.report(r.Trial, math.Exp(4*x), value+1/float64(i)); i++ {
		}
	}
}

// report reports whether the trial goes on.
func (k *timed) report(trial string, seconds, value float64) bool {
	k.now += seconds
	return k.request(fmt.Sprintf(`"report":%q,"metrics":{"value":%v}`, trial, value)).Decision == "continue"
}

// conversation is a whole session; it returns the points, and what was said. A recorded one is replayed at the end of
// the test.
func conversation(t *testing.T, o Options, searcher string, clock bool) (points []string, script string) {
	t.Helper()
	text := fmt.Sprintf(quickOnes, 60, searcher)
	if o.Storage != "none" {
		kept := kept(t, text)
		o.File, o.Storage, o.Name = kept.File, kept.Storage, kept.Name
	}
	c := call(t, o)
	if o.Storage == "none" {
		c.send(text)
	}
	k := &timed{c: c, clock: clock}
	k.train(60)
	c.endWell()
	return k.points, c.script.String()
}

// Times that the caller tells have an influence on what auto suggests while trials are stopped early, and measured
// ones have none: B-102.
func TestAskTellTimesCount(t *testing.T) {
	told, script := conversation(t, inMemory(), `"auto"`, true)
	measured, _ := conversation(t, inMemory(), `"auto"`, false)
	without, _ := conversation(t, inMemory(), `{"plugin":"auto","cost":0}`, true)
	if len(told) != 60 || slices.Equal(told, measured) {
		t.Errorf("%d trials, whose times had no influence", len(told))
	}
	if !slices.Equal(measured, without) {
		t.Error("measured times have an influence, or told ones in spite of cost: 0")
	}
	recorded := inMemory()
	recorded.Storage = t.TempDir()
	processes := inMemory()
	processes.Mode.InProcess = false
	for name, o := range map[string]Options{"recorded": recorded, "in processes": processes} {
		if _, again := conversation(t, o, `"auto"`, true); again != script {
			t.Errorf("%s, it goes otherwise", name)
		}
	}
}

// A trial's time is told if each of its attempts began at a time that the caller had told; a clock that stands where
// the host's is already ahead says nothing.
func TestAskTellWhichTimesAreTold(t *testing.T) {
	o := kept(t, fmt.Sprintf(quickOnes, 9, `"random"`))
	session := func(lines ...string) {
		c := call(t, o)
		for _, line := range lines {
			c.ask("%s", line)
		}
		c.endWell()
	}
	toldNow := func(want string) {
		t.Helper()
		m := open(t, o).Now().Machine
		var got []string
		for no := range core.TrialNo(m.Trials()) {
			got = append(got, fmt.Sprint(m.TimeTold(no)))
		}
		if got := strings.Join(got, " "); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	session(`{"ask":true,"time":0}`, `{"ask":true}`, `{"tell":0,"metrics":{"value":1},"time":2}`)
	toldNow("true true")
	session(`{"ask":true}`, `{"ask":true,"time":90}`, `{"tell":1,"metrics":{"value":1},"time":95}`)
	toldNow("true false true")
	session(`{"ask":true,"time":3}`)
	toldNow("true false false")
}
