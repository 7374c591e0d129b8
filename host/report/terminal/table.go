package terminal

import (
	"slices"
	"strconv"
	"strings"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/view"
)

// column is a column of the table. If there is no room, parameters are dropped first.
type column struct {
	title string
	cells []string
	right bool // numbers are aligned
	param bool
	width int
	// colours of the cells; nil: none.
	colours []string
}

const (
	columnGap = 2
	// Widths of a parameter's column: the usual limit, and the limit if there is little room.
	wideParam, narrowParam = 18, 9
	wideMetric             = 20
)

// makeColumns makes a column for each property of the rows.
func makeColumns(rows []view.Trial, params [][]param, names []string, metric string) []column {
	trial, state := column{title: "trial"}, column{title: "state"}
	value := column{title: clean(metric), right: true}
	iter, time := column{title: "iter", right: true}, column{title: "time", right: true}
	for _, r := range rows {
		trial.cells = append(trial.cells, trialName(r.Number))
		state.cells = append(state.cells, r.Condition())
		state.colours = append(state.colours, stateColours[r.State])
		value.cells = append(value.cells, valueCell(&r, metric))
		iter.cells = append(iter.cells, countCell(r.Iteration))
		time.cells = append(time.cells, timeCell(r))
	}
	columns := []column{trial, state}
	for _, name := range names {
		columns = append(columns, paramColumn(name, params))
	}
	columns = append(columns, value, iter, time)
	for i := range columns {
		columns[i].fit()
	}
	return columns
}

func valueCell(r *view.Trial, metric string) string {
	v, ok := r.Metric(metric)
	if !ok {
		return ""
	}
	return number(v, 5)
}

func countCell(n uint64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatUint(n, 10)
}

func timeCell(r view.Trial) string {
	if r.Seconds == 0 && r.State == core.Pending {
		return ""
	}
	return duration(seconds(r.Seconds))
}

func paramColumn(name string, params [][]param) column {
	c := column{title: name, param: true, right: true}
	for _, list := range params {
		text := ""
		if i := slices.IndexFunc(list, func(p param) bool { return p.name == name }); i >= 0 {
			text = list[i].brief
		}
		if _, err := strconv.ParseFloat(text, 64); err != nil && text != "" {
			c.right = false
		}
		c.cells = append(c.cells, text)
	}
	return c
}

// fit sets the preferred width of the column.
func (c *column) fit() {
	c.width = width(c.title)
	for _, cell := range c.cells {
		c.width = max(c.width, width(cell))
	}
	if c.param {
		c.width = min(c.width, wideParam)
	}
	c.width = min(c.width, wideMetric)
}

// squeeze makes the columns fit: it narrows wide ones, and drops the last parameters, then time and
// iteration. It returns the names of the dropped ones.
func squeeze(columns []column, room int) (_ []column, hidden []string) {
	for least(columns) > room {
		i := lastParam(columns)
		switch {
		case i >= 0:
		case len(columns) > 3:
			i = len(columns) - 1
		default:
			return columns, hidden // the line is cut off
		}
		hidden = slices.Insert(hidden, 0, columns[i].title)
		columns = slices.Delete(columns, i, i+1)
	}
	for total(columns) > room {
		columns[widestParam(columns)].width--
	}
	return columns, hidden
}

// least returns the total width with narrow parameters.
func least(columns []column) int {
	sum := total(columns)
	for _, c := range columns {
		if c.param {
			sum -= max(0, c.width-narrowParam)
		}
	}
	return sum
}

func total(columns []column) int {
	sum := columnGap * (len(columns) - 1)
	for _, c := range columns {
		sum += c.width
	}
	return sum
}

func widestParam(columns []column) int {
	widest := -1
	for i, c := range columns {
		if c.param && (widest < 0 || c.width > columns[widest].width) {
			widest = i
		}
	}
	return widest
}

func lastParam(columns []column) int {
	for i, column := range slices.Backward(columns) {
		if column.param {
			return i
		}
	}
	return -1
}

// render returns a line for the titles and one for each row.
func render(columns []column, rows int, paint style) []string {
	lines := make([]string, 0, rows+1)
	for row := -1; row < rows; row++ {
		var line strings.Builder
		for i, c := range columns {
			if i > 0 {
				line.WriteString(strings.Repeat(" ", columnGap))
			}
			line.WriteString(c.cell(row, paint))
		}
		lines = append(lines, strings.TrimRight(line.String(), " "))
	}
	return lines
}

// cell returns a padded cell; row -1 is the title.
func (c *column) cell(row int, paint style) string {
	text, colour := c.title, faint
	if row >= 0 {
		text, colour = c.cells[row], ""
		if c.colours != nil {
			colour = c.colours[row]
		}
	}
	text = cut(text, c.width)
	space := strings.Repeat(" ", c.width-width(text))
	if c.right {
		return space + paint.paint(colour, text)
	}
	return paint.paint(colour, text) + space
}
