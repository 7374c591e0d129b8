// Package history reads an experiment's record. All code that walks through a record uses it: a
// host that resumes, a replay that verifies, the views of an experiment, the journal command, the
// reporters after a restart, and experiments that learn from this one.
//
// The record is a list of events ([core.Event]). A History applies them one by one to a
// [core.Machine], which holds the state of the experiment after each event. For each event it
// returns a [Step]: the event, the resulting actions, and the observations for plugins and
// reporters.
//
//	h, err := history.Open("results/quickstart/journal")
//	if err != nil {
//		return err
//	}
//	defer h.Close()
//	err = h.Each(func(s *history.Step) error {
//		for o := range s.Observations(core.ToReporters) {
//			fmt.Println(o.Trial, o.Kind, o.Iteration)
//		}
//		return nil
//	})
//	fmt.Println(h.Machine().Trials(), "trials")
//
// # Growing records
//
// Each returns when there is no further complete batch. To follow a record that a host is writing,
// call it again: it continues where it stopped. A reader takes no lock and writes nothing.
//
// # Sources
//
// [Open] reads a directory. [From] reads any [Source]: [journal.NewReader] of another file system,
// or [Records] in memory. A host that resumes an experiment reads the record with [History.Replay]
// while it opens the journal for writing. After that, [History.Apply] takes each record that the
// host has written. So a resumed experiment is identical to one that was never interrupted.
//
// # Before an event
//
// A [Visitor] with Before sees the state before each event. Use it to compare a recorded answer
// with one computed now, or to name what the event changes.
//
// # Damage
//
// A forged record may have valid checksums and describe no experiment. The core panics on such
// events, since no host records them. History turns the panic, like every other problem of a
// record, into an error that says where it is. Records of all versions can be read; each is applied
// by the rules it was made with ([core.Rules]).
//
// # Related packages
//
// The core defines what the events mean, [record] how they are encoded, and [journal] how they are
// stored in files. The host adds names of trials, texts for people and the plugins' own terms.
package history
