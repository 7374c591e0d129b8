// Package history reads an experiment's record. It is the one way through a record: a host that resumes, a replay that
// verifies, the views of an experiment, the journal in words, what reporters are told after a restart, and what other
// experiments learn from this one all go it.
//
// The record is a list of events ([core.Event]). A History applies one after the other to a [core.Machine], which is
// the experiment as it stands after each of them, and hands out a [Step]: the event, the actions that followed from
// it, and among them what plugins and reporters hear of it.
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
// # Records that grow
//
// Each returns when there is no further whole batch. A record to which a host is writing is followed by calling it
// again: it goes on where it was. A reader takes no lock and writes nothing.
//
// # Where records come from
//
// [Open] reads a directory. [From] reads any [Source]: [journal.NewReader] of another file system, or [Records],
// which are in memory. A host that goes on with an experiment reads while it opens the journal for writing, with
// [History.Replay]; from then on [History.Apply] takes each record that it has written. So a resumed experiment and
// one that was never interrupted are the same.
//
// # Before an event
//
// What has to see the experiment as an event found it, to compare an answer that was recorded with one that is given
// now, or to name what the event changes, is a [Visitor] with Before.
//
// # Damage
//
// A record may have right checksums and be of no experiment, because somebody has made it so. The core refuses
// such events with a panic, since no host records them. Here that becomes an error, as does all else that is wrong
// with a record; each says where. Records of all versions are read, by the rules that they were made with
// ([core.Rules]).
//
// # What is not here
//
// What the events mean is the core's, how they are written [record]'s, and in which files they are
// [journal]'s. Names of trials, words for people and what plugins hear in their own terms are the host's.
package history
