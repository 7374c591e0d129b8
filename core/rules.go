package core

// Rules is the version of the rules by which an experiment is judged. Every rule that a
// later program changes holds for new experiments alone: a record is replayed by the
// rules that it was made with, so that its numbers and decisions stay what they were.
type Rules uint32

// Versions of the rules, oldest first. Each says what is different from the one before.
const (
	// RulesV1 is that of records that name none.
	RulesV1 Rules = iota
	// RulesV2:
	//   - Results that come while the stop of their trial waits for a checkpoint are
	//     ignored, as those that come after it (B-010).
	//   - A checkpoint that a program has handed over holds up no decision. One that
	//     comes with a result after the stop is taken as that of the last result, and one
	//     that cannot be saved fails a trial whose program has ended well meanwhile.
	//   - A checkpoint that is under way when the host dies is taken again by the next
	//     one, before its trial ends or goes on. Where it is not there, the trial runs
	//     again from the one before.
	//   - A trial whose attempt had ended when its node was lost waits for the checkpoints
	//     that it handed over, and runs again only where one is lost (B-075).
	//   - A trial that was stopped by the scheduler or a rule, or that said Done, and whose
	//     end nobody has seen when the host dies, runs again from its last checkpoint up to
	//     where it was stopped, so that it cleans up. One that never reported, that the user
	//     stopped or that ends with the experiment does not; nor do those of ask and tell.
	//   - A trainable may run ahead of a decision once its result is recorded, and
	//     where the decision takes long.
	//   - A trial keeps the N best checkpoints and its newest (B-053).
	//   - A trial that goes on with other parameters or from another trial's checkpoint
	//     begins another stretch, with values of its own (B-154); the searcher hears of
	//     what was suggested alone.
	//   - Resources that a scheduler changes together with a pause hold from the pause on
	//     (B-037), and where the trial fails before it, from its next start on.
	//   - A trial that never ran is told apart when the experiment ends.
	//   - fail_fast: raise kills what runs (B-073).
	//   - An interrupt does not change the end of an experiment that is ending for good.
	//   - A trial that took over a checkpoint which left nothing to train says so.
	RulesV2

	// NewestRules are those of new experiments.
	NewestRules = RulesV2
)

// since says whether the experiment's rules are at least v.
func (m *Machine) since(v Rules) bool { return m.spec.Rules >= v }
