package naming

import (
	"testing"

	"github.com/tunehost/tunehost/host/config/expr"
)

// Choices that look alike are told apart, and so are texts of which nobody sees all.
func TestTellerTellsChoicesApart(t *testing.T) {
	list := [][]byte{[]byte(`1`), []byte(`1.0`), []byte(`"1"`), []byte(`true`), []byte(`"true"`), []byte(`null`),
		[]byte(`"null"`), []byte(`"None"`), []byte(`""`), []byte(`" "`), []byte(`"\n"`), []byte(`"a b"`),
		[]byte(`"a  b"`),
		[]byte(`0.123456`), []byte(`0.123457`), []byte(`{"a":1}`)}
	want := []string{`1`, `1.0`, `"1"`, `true`, `"true"`, `null`, `"null"`, `None`, `""`, `" "`, `"\n"`,
		`a b`, `"a  b"`, `0.123456`, `0.123457`, `{"a":1}`}
	tell := Teller(list)
	for i, raw := range list {
		v, err := expr.FromJSON(raw)
		if got := tell(v); err != nil || got != want[i] {
			t.Errorf("%s is %s, %v; want %s", raw, got, err, want[i])
		}
	}
	if got := tell("another"); got != "another" {
		t.Error(got)
	}
	if got := Teller(nil)(0.1234567); got != "0.1235" {
		t.Error(got)
	}
}
