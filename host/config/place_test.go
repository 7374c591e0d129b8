package config

import "testing"

func TestPlace(t *testing.T) {
	p := Place{"/old/first", "/new/copy"}
	for path, want := range map[string]string{
		"/old/first": "/new/copy", "/old/first/tune/plugin": "/new/copy/tune/plugin", "/old/first2/x": "/old/first2/x",
		"/old": "/old", "tune/plugin": "tune/plugin", "/old/first/../x": "/old/first/../x", "": "",
	} {
		if got := p.Here(path); got != want {
			t.Errorf("%s is now %s, not %s", path, got, want)
		}
		if got := p.There(want); got != path && want != path {
			t.Errorf("%s was %s, not %s", want, got, path)
		}
		if got := (Place{}).Here(path); got != path {
			t.Errorf("%s is %s without a move", path, got)
		}
	}
}

// Paths of plugins lead to where the experiment is now; what the trials get, and where it began, stays.
func TestMovedExperiment(t *testing.T) {
	const text = "version: 1\nname: first\nstorage: /old\nobjective: {metric: a, mode: max}\n" +
		"space: {file: /old/first/data}\nsearcher: {plugin: /old/first/tune/searcher, n: 1}\n" +
		"reporters: [jsonl, {plugin: /old/first/tune/callbacks}]\ntrainable: {plugin: /elsewhere/first}\n"
	e, err := Parse("x.yaml", []byte(text), Moved(Place{"/old/first", "/new/copy"}),
		WithSet("scheduler={plugin: /old/first/tune/scheduler}"))
	if err != nil {
		t.Fatal(err)
	}
	if e.Searcher.Name != "/new/copy/tune/searcher" || e.Scheduler.Name != "/new/copy/tune/scheduler" ||
		e.Reporters[1].Name != "/new/copy/tune/callbacks" || e.Trainable.Plugin.Name != "/elsewhere/first" ||
		e.Storage != "/old" || string(e.Constants[0].Value) != `"/old/first/data"` ||
		string(e.Key("searcher.plugin")) != `"/new/copy/tune/searcher"` || string(e.Source) != text {
		t.Errorf("%+v", e)
	}
}
