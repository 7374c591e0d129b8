package terminal

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/view"
)

// order is the order of states in the table and in counts.
var order = []core.State{core.Running, core.Paused, core.Pending, core.Errored, core.Terminated}

// share gives the states rows in turn until there is no more room: each keeps some, and none more than
// it has. No waiting trial takes the row of a running one (B-121).
func share(have map[core.State]int, room int) map[core.State]int {
	given := inTurn(have, room)
	more := min(given[core.Pending], have[core.Running]-given[core.Running])
	given[core.Running] += more
	given[core.Pending] -= more
	return given
}

func inTurn(have map[core.State]int, room int) map[core.State]int {
	given := map[core.State]int{}
	for more := true; more && room > 0; {
		more = false
		for _, s := range order {
			if room > 0 && given[s] < have[s] {
				given[s]++
				room--
				more = true
			}
		}
	}
	return given
}

// choose keeps the rows that fit, by state and in the source's order.
func choose(rows []view.Trial, room int) []view.Trial {
	by := map[core.State][]view.Trial{}
	have := map[core.State]int{}
	for _, r := range rows {
		by[r.State] = append(by[r.State], r)
		have[r.State]++
	}
	given := share(have, room)
	var chosen []view.Trial
	for _, s := range order {
		chosen = append(chosen, by[s][:given[s]]...)
	}
	return chosen
}

// leftOut says what the table does not show, the largest part first: "… 37 more (30 TERMINATED, 7
// PENDING)"; "" if all is shown.
func leftOut(counts map[core.State]int, shown []view.Trial) string {
	left := map[core.State]int{}
	total := 0
	for _, s := range order {
		left[s] = counts[s]
	}
	for _, r := range shown {
		left[r.State]--
	}
	states := slices.DeleteFunc(slices.Clone(order), func(s core.State) bool { return left[s] <= 0 })
	slices.SortStableFunc(states, func(a, b core.State) int { return cmp.Compare(left[b], left[a]) })
	var parts []string
	for _, s := range states {
		total += left[s]
		parts = append(parts, fmt.Sprintf("%d %s", left[s], s))
	}
	if total == 0 {
		return ""
	}
	return fmt.Sprintf("… %d more (%s)", total, strings.Join(parts, ", "))
}
