package core

// Rules is the version of the rules by which an experiment is judged. A rule that a later program
// changes holds for new experiments only: a record is replayed by the rules that it was made with, so
// that its numbers and decisions stay the same.
type Rules uint32

// Versions of the rules, oldest first. Each lists its differences from the one before.
const (
	// RulesV1 is the version of records without one.
	RulesV1 Rules = iota
	// RulesV2:
	//   - Results that come while the stop of their trial waits for a checkpoint are
	//     ignored, like those that come after it (B-010).
	//   - A checkpoint that a program has handed over delays no decision. If it comes
	//     with a result after the stop, it belongs to the last result. If it cannot be
	//     saved, it fails a trial whose program has ended well in the meantime.
	//   - A checkpoint that is in progress when the host dies is taken again by the next
	//     host, before its trial ends or continues. If it is missing, the trial runs
	//     again from the one before.
	//   - A trial whose attempt had ended when its node was lost waits for the checkpoints
	//     that it handed over, and runs again only if one is lost (B-075).
	//   - A trial that was stopped by the scheduler or a rule, or that said Done, and whose
	//     end is not recorded when the host dies, runs again from its last checkpoint up to
	//     where it was stopped, so that it cleans up. This excludes trials that never
	//     reported, that the user stopped or that end with the experiment, and ask and tell.
	//   - A trainable may run ahead of a decision once its result is recorded, if
	//     the decision takes long.
	//   - A trial keeps the N best checkpoints and its newest (B-053).
	//   - A trial that continues with other parameters or from another trial's checkpoint
	//     begins another stretch, with values of its own (B-154); the searcher is told
	//     only of what was suggested.
	//   - Resources that a scheduler changes together with a pause hold from the pause on
	//     (B-037), and if the trial fails before it, from its next start on.
	//   - A trial that never ran is marked when the experiment ends.
	//   - fail_fast: raise kills what runs (B-073).
	//   - An interrupt does not change the end of an experiment that is ending for good.
	//   - A trial that took over a checkpoint with nothing left to train says so.
	RulesV2
	// RulesV3:
	//   - A decision to pause is carried out by the first pause after its result, even if the user
	//     orders that one. It does not pause a trial that was resumed in the meantime.
	RulesV3
	// RulesV4:
	//   - When an experiment continues that the user has paused as a whole, only what that pause has
	//     paused continues: not the trials that the user has paused one by one, nor those that the
	//     scheduler has paused.
	RulesV4
	// RulesV5:
	//   - The time for which the user has paused the experiment as a whole does not count for the time
	//     budget (B-026).
	RulesV5
	// RulesV6:
	//   - While as many trials are in ERROR as the budget allows, nothing starts and the searcher is asked
	//     nothing: an experiment that continues without a higher limit ends again without a further failure.
	RulesV6
	// RulesV7:
	//   - An expression of the budget is tested whenever a trial ends or is to run again, before anything
	//     else starts, when a host begins, and as time passes; before, only with a result.
	RulesV7
	// RulesV8:
	//   - A scheduler's order to end a trial holds in every state of the trial: one that runs is stopped, also
	//     while it saves for a pause. Before, it held only for a trial that waited or was paused (B-020).
	//   - A trial that was told or ordered to stop is not retried if its attempt fails first, and one that the
	//     user has paused is paused before it is retried.
	//   - What the user has paused, only the user resumes: a scheduler's order to resume it or to continue from
	//     another checkpoint waits for that.
	//   - A pause of the experiment also holds for a trial that would have continued right after its own pause.
	//   - A new trial that started from another's checkpoint and ended well without a result had nothing left to
	//     train: it is complete, and has not failed.
	//   - A limit of the disk also holds for checkpoints from which other trials have continued, once none of them
	//     starts from there any more (B-053).
	RulesV8
	// RulesV9:
	//   - A trial that the user stops before its first result has not failed: the searcher is told that it was
	//     removed, as of one that the user stops before it runs (B-021).
	//   - A trial that is set aside before the first result of its attempt saves that result (B-058). Before, it made
	//     no checkpoint and began again.
	//   - The searcher is told a finite mean of the finite values of a suggestion's runs, also where their sum
	//     overflows (B-105). Before, it was told a value that cannot be compared.
	RulesV9
	// RulesV10:
	//   - A searcher or a scheduler that has asked for it (PluginTraits.Again) is told results again that a restarted
	//     trial reports again, and the scheduler decides on them (B-061).
	RulesV10
	// RulesV11:
	//   - A stop rule over an objective does not hold at an infinite value, which counts as worst (B-015, B-018).
	//     Before, a loss of -Inf was the target reached.
	RulesV11

	// NewestRules is the version of new experiments.
	NewestRules = RulesV11
)

// since reports whether the experiment's rules are at least v.
func (m *Machine) since(v Rules) bool { return m.spec.Rules >= v }
