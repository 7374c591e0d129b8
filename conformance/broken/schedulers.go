package broken

import (
	"context"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tunehost/tunehost/conformance/reference"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// scheduler is the reference scheduler with a change.
type scheduler struct {
	sdk.Scheduler
	problem sdk.Problem
	calls   int
	added   int
	ended   bool // the search has ended
	kept    []sdk.Command
	known   map[uint32]bool

	before func(s *scheduler, events []sdk.Event) ([]sdk.Event, error)
	after  func(s *scheduler, events []sdk.Event, out *sdk.Decisions)
}

// Decide implements sdk.Scheduler.
func (s *scheduler) Decide(ctx context.Context, events []sdk.Event) (sdk.Decisions, error) {
	s.calls++
	told := events
	if s.before != nil {
		var err error
		if told, err = s.before(s, slices.Clone(events)); err != nil {
			return sdk.Decisions{}, err
		}
	}
	out, err := s.Scheduler.Decide(ctx, told)
	if err == nil && s.after != nil {
		s.after(s, events, &out)
	}
	return out, err
}

func schedulers() []Plugin {
	return slices.Concat(schedulersOfDecisions(), schedulersOfCommands(), schedulersThatStall(), schedulersUnsteady(),
		schedulersOfWords())
}

func schedulerThat(name string, change scheduler) Plugin {
	p := reference.Scheduler
	p.Open = func(problem sdk.Problem, options []byte) (sdk.Scheduler, sdk.Traits, error) {
		inner, traits, err := reference.Scheduler.Open(problem, options)
		s := change
		s.Scheduler, s.problem, s.known = inner, problem, map[uint32]bool{}
		return &s, traits, err
	}
	return Plugin{name, sdk.KindScheduler, value(p)}
}

// answering changes the answers.
func answering(f func(s *scheduler, events []sdk.Event, out *sdk.Decisions)) scheduler {
	return scheduler{after: f}
}

func schedulersOfDecisions() []Plugin {
	return []Plugin{
		schedulerThat("scheduler-decides-twice", answering(func(_ *scheduler, _ []sdk.Event, out *sdk.Decisions) {
			if n := len(out.Decisions); n > 2 {
				out.Decisions = append(out.Decisions, out.Decisions[0])
			}
		})),
		schedulerThat("scheduler-decides-on-pauses",
			answering(func(_ *scheduler, events []sdk.Event, out *sdk.Decisions) {
				for _, e := range events {
					if e.Kind == sdk.TrialPaused {
						out.Decisions = append(out.Decisions, sdk.Decision{Event: e.Number})
					}
				}
			})),
		schedulerThat("scheduler-breaks-its-promise", answering(func(_ *scheduler, _ []sdk.Event, out *sdk.Decisions) {
			for i := range out.Decisions {
				if out.Decisions[i].Verdict == sdk.Continue {
					out.Decisions[i].Until += 3
				}
			}
		})),
		schedulerThat("scheduler-gives-no-reasons", answering(func(_ *scheduler, _ []sdk.Event, out *sdk.Decisions) {
			for i := range out.Decisions {
				out.Decisions[i].Reason = ""
			}
		})),
		schedulerThat("scheduler-prefers-nan", scheduler{before: func(_ *scheduler, events []sdk.Event) ([]sdk.Event,
			error) {
			for i, e := range events {
				if e.Kind == sdk.ResultReported && len(e.Losses) > 0 && math.IsInf(e.Losses[0], 1) {
					events[i].Losses = []float64{-1}
				}
			}
			return events, nil
		}}),
	}
}

func schedulersOfCommands() []Plugin {
	add := func(c sdk.Command) scheduler {
		return answering(func(_ *scheduler, events []sdk.Event, out *sdk.Decisions) {
			for _, e := range events {
				if e.Kind == sdk.TrialPaused && e.Trial == 3 {
					c.Trial, c.Reason = e.Trial, "its time has come"
					out.Commands = append([]sdk.Command{c}, out.Commands...)
				}
			}
		})
	}
	return []Plugin{
		schedulerThat("scheduler-commands-nobody",
			answering(func(_ *scheduler, events []sdk.Event, out *sdk.Decisions) {
				for _, e := range events {
					if e.Kind == sdk.TrialPaused {
						out.Commands = append(out.Commands,
							sdk.Command{Kind: sdk.Resume, Trial: 1_000_000, Reason: "the best"})
					}
				}
			})),
		schedulerThat("scheduler-resumes-what-has-ended",
			answering(func(_ *scheduler, events []sdk.Event, out *sdk.Decisions) {
				for i, e := range events {
					if i == 0 && e.Kind == sdk.TrialCompleted {
						out.Commands = append(out.Commands,
							sdk.Command{Kind: sdk.Resume, Trial: e.Trial, Reason: "once more"})
					}
				}
			})),
		schedulerThat("scheduler-resumes-what-runs",
			answering(func(_ *scheduler, events []sdk.Event, out *sdk.Decisions) {
				for _, e := range events {
					if e.Kind == sdk.ResultReported && e.Iteration == 1 {
						out.Commands = append(out.Commands,
							sdk.Command{Kind: sdk.Resume, Trial: e.Trial, Reason: "go on"})
					}
				}
			})),
		schedulerThat("scheduler-exploits-nothing", add(sdk.Command{Kind: sdk.Exploit, Donor: 0, Iteration: 999})),
		schedulerThat("scheduler-explores-outside",
			add(sdk.Command{Kind: sdk.Exploit, Donor: 0, Iteration: 4, Point: space.Point{100, 100, 100, 100}})),
		schedulerThat("scheduler-resizes-to-nonsense",
			add(sdk.Command{Kind: sdk.Resize, Resources: []byte(`{"cpu": "lots"}`)})),
	}
}

func schedulersThatStall() []Plugin {
	return []Plugin{
		schedulerThat("scheduler-never-resumes", answering(func(_ *scheduler, _ []sdk.Event, out *sdk.Decisions) {
			out.Commands = slices.DeleteFunc(out.Commands, func(c sdk.Command) bool { return c.Kind == sdk.Resume })
		})),
		// It waits until all added trials have arrived, including those that never will.
		schedulerThat("scheduler-waits-for-the-fallen",
			scheduler{after: func(s *scheduler, events []sdk.Event, out *sdk.Decisions) {
				for _, e := range events {
					switch e.Kind {
					case sdk.TrialAdded:
						s.added++
					case sdk.TrialPaused:
						s.known[e.Trial] = true
					case sdk.SearchEnded:
						s.ended = true
					}
				}
				s.kept = append(s.kept, out.Commands...)
				out.Commands = nil
				if s.ended && len(s.known) >= s.added {
					out.Commands, s.kept = s.kept, nil
				}
			}}),
		// It ignores the end of the search.
		schedulerThat("scheduler-waits-for-more-trials",
			scheduler{after: func(s *scheduler, events []sdk.Event, out *sdk.Decisions) {
				s.kept = append(s.kept, out.Commands...)
				out.Commands = nil
				if n := len(s.kept) - len(s.kept)%3; n > 0 {
					out.Commands, s.kept = slices.Clone(s.kept[:n]), slices.Clone(s.kept[n:])
				}
			}}),
	}
}

func schedulersUnsteady() []Plugin {
	reasons := func(f func(s *scheduler) string) scheduler {
		return answering(func(s *scheduler, _ []sdk.Event, out *sdk.Decisions) {
			for i := range out.Decisions {
				if out.Decisions[i].Verdict == sdk.Pause {
					out.Decisions[i].Reason = f(s)
				}
			}
		})
	}
	return []Plugin{
		schedulerThat("scheduler-looks-at-the-clock", reasons(func(*scheduler) string {
			return time.Now().Format(time.RFC3339Nano) + strconv.FormatUint(mapOrder(), 10)
		})),
		schedulerThat("scheduler-counts-calls", reasons(func(s *scheduler) string {
			return "in call " +
				strconv.Itoa(s.calls)
		})),
		{"scheduler-forgets-in-snapshots", sdk.KindScheduler, value(forgetsState())},
		schedulerThat("scheduler-panics-on-strangers",
			scheduler{before: func(s *scheduler, events []sdk.Event) ([]sdk.Event, error) {
				for _, e := range events {
					switch e.Kind {
					case sdk.TrialAdded:
						s.known[e.Trial] = true
					case sdk.ResultReported:
						if !s.known[e.Trial] {
							panic("nil pointer dereference")
						}
					}
				}
				return events, nil
			}}),
		schedulerThat("scheduler-refuses-new-kinds-of-events",
			scheduler{before: func(_ *scheduler, events []sdk.Event) ([]sdk.Event, error) {
				for _, e := range events {
					if e.Kind > sdk.SearchEnded {
						return nil, errors.New("an event of an unknown kind")
					}
				}
				return events, nil
			}}),
	}
}

// lossy makes snapshots without the sum of the losses.
type lossy struct{ sdk.Scheduler }

// Snapshot implements sdk.Snapshotter.
func (l lossy) Snapshot() ([]byte, error) {
	text, err := l.Scheduler.(sdk.Snapshotter).Snapshot()
	return []byte(strings.Replace(string(text), `"Sum":`, `"Total":`, 1)), err
}

// Restore implements sdk.Snapshotter.
func (l lossy) Restore(b []byte) error { return l.Scheduler.(sdk.Snapshotter).Restore(b) }

func forgetsState() sdk.SchedulerPlugin {
	p := reference.Scheduler
	p.Open = func(problem sdk.Problem, options []byte) (sdk.Scheduler, sdk.Traits, error) {
		s, traits, err := reference.Scheduler.Open(problem, options)
		return lossy{s}, traits, err
	}
	return p
}

func schedulersOfWords() []Plugin {
	traits := func(name string, change func(*sdk.Traits)) Plugin {
		p := reference.Scheduler
		p.Open = func(problem sdk.Problem, options []byte) (sdk.Scheduler, sdk.Traits, error) {
			s, t, err := reference.Scheduler.Open(problem, options)
			change(&t)
			return s, t, err
		}
		return Plugin{name, sdk.KindScheduler, value(p)}
	}
	p := reference.Scheduler
	p.Options = []byte(`{"type": "object", "additionalProperties": false, "properties": {"milestone": {"type": ` +
		`"integer", "default": 0, "description": "."}}}`)
	return []Plugin{
		traits("scheduler-hides-that-it-pauses", func(t *sdk.Traits) { t.Saves = false }),
		traits("scheduler-says-it-is-quiet", func(t *sdk.Traits) { t.Quiet = true }),
		traits("scheduler-lags-behind", func(t *sdk.Traits) { t.RunAhead = -1 }),
		{"scheduler-with-a-default-that-it-refuses", sdk.KindScheduler, value(p)},
	}
}
