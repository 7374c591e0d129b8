package experiments

import (
	"fmt"
	"sync"

	"github.com/tunehost/tunehost/host/view"
)

// choosing keeps which trials were chosen last, in which order: a reader who scrolls asks for the next part of the same
// list, and to find it means to look at all trials.
type choosing struct {
	choice sync.Mutex
	of     string
	page   *view.Page
}

// Choose is [view.Experiment.Choose], which an experiment that does not change does once for all parts of a list.
func (s *Shared) Choose(c view.Chosen) (*view.Page, error) {
	version := s.Version()
	if version == "" || c.Where == "" && c.Sort == "" && len(c.States) == 0 {
		return s.Experiment.Choose(c)
	}
	s.choice.Lock()
	defer s.choice.Unlock()
	of := fmt.Sprintf("%s %q %v %q", version, c.Where, c.States, c.Sort)
	if s.page == nil || s.of != of {
		all := c
		all.Offset, all.Limit = 0, 0
		page, err := s.Experiment.Choose(all)
		if err != nil {
			return nil, err
		}
		s.page, s.of = page, of
	}
	return s.page.Part(c.Offset, c.Limit), nil
}
