package option

import "testing"

func TestDecode(t *testing.T) {
	type options struct {
		Max  uint64 `json:"max"`
		Type string `json:"type"`
	}
	for _, c := range []struct{ data, wrong string }{
		{``, ``},
		{`{}`, ``},
		{`{"max": 3}`, ``},
		{`{"max": "3"}`, `option "max": got a string, want a whole number, not negative`},
		{`{"max": 2.5}`, `option "max": got a number 2.5, want a whole number, not negative`},
		{`{"type": 1}`, `option "type": got a number, want a string`},
		{`{"maxx": 3}`, `options: unknown field "maxx"`},
		{`[]`, `options: cannot unmarshal array into Go value of type option.options`},
		{`{} {}`, `options: one JSON object is expected, something follows it`},
		{`{"max"`, `options: unexpected EOF`},
	} {
		got := ""
		if err := Decode([]byte(c.data), &options{Max: 7}); err != nil {
			got = err.Error()
		}
		if got != c.wrong {
			t.Errorf("%s: %q, want %q", c.data, got, c.wrong)
		}
	}
}

func TestDefaultsStay(t *testing.T) {
	o := struct{ Max, Grace int }{Max: 7, Grace: 1}
	if err := Decode([]byte(`{"max": 3}`), &o); err != nil || o.Max != 3 || o.Grace != 1 {
		t.Errorf("got %+v, %v", o, err)
	}
}
