package life

import (
	"slices"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// export keeps a model that the trainable left (B-060). The record has one answer for each format
// that the file asks for, before the attempt's end.
func (l *Life) export(e Exported) State {
	if !slices.Contains(l.Export, e.Format) || slices.Contains(l.answered, e.Format) {
		return l.state
	}
	l.answered = append(l.answered, e.Format)
	if e.Error != "" {
		l.do(FailExport{Format: e.Format, Error: e.Error})
		return l.state
	}
	l.making++
	l.do(CommitExport{e.Format})
	return l.state
}

func (l *Life) exportMade(e ExportMade) State {
	l.making--
	if e.Error != "" {
		l.do(FailExport{e.Format, e.Error, e.GivenUp})
		return l.state
	}
	l.do(Post{&core.ModelExported{Trial: l.Trial, Attempt: l.Attempt, Format: e.Format, Bytes: e.Bytes}})
	return l.state
}

// exportMadeLate is exportMade while the end waits for models.
func (l *Life) exportMadeLate(e ExportMade) State {
	l.exportMade(e)
	if l.making == 0 {
		l.do(ClearExports{})
	}
	return l.state
}

func (l *Life) tellEnd(ExportsCleared) State {
	l.do(l.withheld...)
	l.withheld = nil
	return Ended
}

// endsWell reports whether the attempt should have left its models.
func (l *Life) endsWell(e *core.AttemptEnded) bool {
	return len(l.Export) > 0 && l.begun && !l.pausing && e.Cause.Kind == core.CauseNone && !e.NeverStarted
}

// unanswered reports the formats that the trainable said nothing about.
func (l *Life) unanswered() (list []Action) {
	for _, format := range l.Export {
		if !slices.Contains(l.answered, format) {
			list = append(list, FailExport{Format: format, Error: sdk.ErrUnknownFormat.Error()})
		}
	}
	return list
}
