package untrusted

import "testing"

// TestCell: no text in a cell is a formula, and numbers and other texts stay as they are.
func TestCell(t *testing.T) {
	for text, want := range map[string]string{
		`=SUM(A1)`: `'=SUM(A1)`, "+1+cmd|' /C calc'!A0": "'+1+cmd|' /C calc'!A0",
		"-2+3": "'-2+3", "@SUM(A1)": "'@SUM(A1)", "\t=1": "'\t=1", "\r=1": "'\r=1", "-": "'-",
		"-1.5e-3": "-1.5e-3", "+Inf": "+Inf", "-Inf": "-Inf", "": "", "adam": "adam", "a=b": "a=b", "'=1": "'=1",
	} {
		if got := Cell(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
