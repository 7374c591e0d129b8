package problem

import "testing"

func TestUnflagged(t *testing.T) {
	for text, want := range map[string]string{
		"--sort: x": "sort: x", "use --mode min or --mode max": "use mode min or mode max",
		"/a exists: give the experiment another --name or --storage, or move it away": "/a exists: give the " +
			"experiment another name, or move it away",
		"run `tunehost resume DIR --errored`; or --errored": "run `tunehost resume DIR --errored`; or errored",
		`found the text "use --name"`:                       `found the text "use --name"`,
		"that is another; continue with it: --accept-plugins": "that is another; continue with it: `tunehost " +
			"resume DIR --accept-plugins`",
		"/a: no space; choose another with --storage": "/a: no space; start `tunehost serve` with another folder",
		"a--name -- is --unknown":                     "a--name -- is --unknown",
	} {
		if got := unflagged(text); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
