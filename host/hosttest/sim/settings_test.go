package sim

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/tunehost/tunehost/host/config"
)

// settings are the keys of the experiment file. Some of them may change when the
// experiment is resumed.
type settings struct {
	list       []setting
	experiment *config.Experiment
	trials     int
	first      int    // trials at first
	extended   uint32 // how often it was given another searcher
	grids      bool   // a searcher was a grid, which ends
	grouped    bool   // trials ask for several places
	ruled      bool   // trials or the experiment end by rules that remember
}

type setting struct{ key, value string }

// set gives a key another value.
func (s *settings) set(key, format string, args ...any) {
	x := setting{key, fmt.Sprintf(format, args...)}
	s.list = slices.Clone(s.list) // the earlier settings stay unchanged
	if i := slices.IndexFunc(s.list, func(y setting) bool { return y.key == key }); i >= 0 {
		s.list[i] = x
		return
	}
	s.list = append(s.list, x)
}

func (s *settings) remove(key string) {
	s.list = slices.DeleteFunc(slices.Clone(s.list), func(x setting) bool { return x.key == key })
}

func (s *settings) search(searcher string) {
	s.set("searcher", "%s", searcher)
	s.grids = s.grids || strings.Contains(searcher, "grid")
}

func (s *settings) parse() (err error) {
	var text strings.Builder
	for _, x := range s.list {
		fmt.Fprintf(&text, "%s: %s\n", x.key, x.value)
	}
	if s.experiment, err = config.Parse("sim.yaml", []byte(text.String()), config.WithoutTrainable()); err != nil {
		err = fmt.Errorf("%w in\n%s", err, &text)
	}
	return err
}

// change draws other settings, as users give them with --set and --extend.
func (p *plan) change(r *rand.Rand) {
	switch k := r.IntN(12); {
	case k < 5:
		p.trials += 1 + r.IntN(4)
		p.set("trials", "%d", p.trials)
	case k < 6:
		p.set("concurrency", "%d", 1+r.IntN(5))
	case k < 7:
		p.set("failures", "{retries: %d}", r.IntN(5)-1)
	case k < 8:
		p.checkpoints(r)
	case k < 9 && !p.ruled:
		p.set("stop", "{iteration: %d}", 1+r.Uint64N(p.iterations+2))
	case k < 10 && !p.grouped:
		p.set("resources", "{cpu: %s}", pick(r, []string{"1", "2", "0.5"}))
	default:
		p.search(pick(r, searchers))
		p.extended++
	}
}

// changeSettings resumes with other settings, as a user might. It returns a function that undoes
// the change: a host that dies before it has read the record may not have stored them.
func (w *world) changeSettings() (undo func()) {
	was := w.plan.settings
	if w.number == 1 || !w.might(w.width.change) {
		return func() {}
	}
	w.plan.change(w.width.r)
	if err := w.plan.parse(); err != nil {
		w.books.fail("%v", err)
	}
	w.log("the settings are %+v", w.plan.list)
	w.settle()
	return func() {
		if w.width.r.IntN(2) == 0 {
			w.plan.settings = was
			w.settle()
		}
	}
}

// settle makes the harness use the settings.
func (w *world) settle() {
	w.rig.Experiment, w.rig.Extensions, w.rig.Plugins = w.plan.experiment, int(w.plan.extended), w.registry()
}
