package life

import (
	"fmt"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/plugins/sdk/train"
)

// HadEnded is the error of a checkpoint that was asked for too late.
const HadEnded = "the trainable had ended"

// askSave asks for a checkpoint. A trainable that is stopping may still answer.
func (l *Life) askSave(e SaveAsked) State {
	l.saves = append(l.saves, e.Save)
	if l.state.placed() {
		l.tell(train.Command{Kind: train.Save, Dir: e.Save.Dir})
	}
	return l.state
}

// answerSave handles the answer to the oldest open save. Without an open save it is ignored.
func (l *Life) answerSave(e Saved) State {
	if len(l.saves) == 0 {
		return l.state
	}
	s := l.saves[0]
	l.saves = l.saves[1:]
	l.do(l.outcome(s, e))
	return l.state
}

func (l *Life) outcome(s Save, e Saved) Action {
	switch {
	case e.Full && !l.told:
		return SaveAgain{s, e.Error}
	case e.Error != "":
		return FailSave{s, e.Error}
	case e.Iteration > l.Iteration():
		return FailSave{s, fmt.Sprintf("it says that it has saved iteration %d, which it has not reported",
			e.Iteration)}
	case e.Iteration != 0:
		s.Iteration = e.Iteration
	case s.Iteration == 0:
		s.Iteration = l.Iteration()
	}
	if s.Memory {
		return Hold{s}
	}
	return Commit{s}
}

// failSave reports that a checkpoint cannot be made.
func (l *Life) failSave(e SaveImpossible) State {
	l.do(Post{l.saveFailed(e)})
	return l.state
}

// failSaveLate reports after the end that a checkpoint cannot be made, so that a trial that has ended
// does not fail because of a missing checkpoint.
func (l *Life) failSaveLate(e SaveImpossible) State {
	l.withheld = append(l.withheld, Post{l.saveFailed(e)})
	return l.state
}

func (l *Life) saveFailed(e SaveImpossible) *core.SaveFailed {
	return &core.SaveFailed{Trial: l.Trial, Attempt: l.Attempt, ID: e.ID, Error: e.Error,
		GivenUp: e.GivenUp}
}
