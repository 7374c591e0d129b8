package sdk

import "testing"

func TestReadOptions(t *testing.T) {
	type options struct {
		Resolution int `json:"resolution"`
	}
	for _, c := range []struct {
		text  string
		want  int
		error string
	}{
		{"", 5, ""},
		{" null ", 5, ""},
		{"{}", 5, ""},
		{`{"resolution": 7}`, 7, ""},
		{`{"resolution": "x"}`, 5, `option "resolution" is a string; expected int`},
		{`{"resolutoin": 7}`, 5, `options: json: unknown field "resolutoin"`},
		{`{} {}`, 5, "options: there is something after the JSON object"},
		{`[]`, 5, "options: json: cannot unmarshal array into Go value of type sdk.options"},
	} {
		got := options{5}
		message := ""
		if err := ReadOptions([]byte(c.text), &got); err != nil {
			message = err.Error()
		}
		if got.Resolution != c.want || message != c.error {
			t.Errorf("%q: %d, error %q; want %d, %q", c.text, got.Resolution, message, c.want, c.error)
		}
	}
}
