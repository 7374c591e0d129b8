package untrusted

import "strconv"

// Cell is a text for a cell of a CSV file. A spreadsheet takes one that begins with =, +, -, @ or a control
// character for a formula, which may read other cells and send them elsewhere. Such a text gets an apostrophe
// before it; numbers stay.
func Cell(s string) string {
	if s == "" {
		return s
	}
	switch s[0] {
	case '=', '+', '-', '@', '\t', '\r', '\n':
		if _, err := strconv.ParseFloat(s, 64); err != nil {
			return "'" + s
		}
	}
	return s
}
