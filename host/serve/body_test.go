package serve_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

// A body is JSON, and says so, for each request that changes something; a request without a body needs no type.
func TestContentType(t *testing.T) {
	c := serving(t, recorded(t))
	send := func(path, media, body string) (int, string) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, c.url+"/api/v1/experiments"+path,
			strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+c.token)
		if media != "" {
			r.Header.Set("Content-Type", media)
		}
		a, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = a.Body.Close()
		return a.StatusCode, a.Header.Get("Content-Type")
	}
	for _, path := range []string{"", "/digits/stop", "/digits/trials", "/digits/trials/3/pause", "/digits/ask"} {
		for media, refused := range map[string]bool{"": true, "text/plain": true, "application/jsonx": true,
			"application/x-www-form-urlencoded": true, "application/json; charset=latin1": true, "json;;": true,
			"application/json": false, "Application/JSON; charset=UTF-8": false} {
			status, answer := send(path, media, `{}`)
			if (status == http.StatusUnsupportedMediaType) != refused || answer != "application/problem+json" {
				t.Errorf("%s as %q: %d %s", path, media, status, answer)
			}
		}
	}
	if status, _ := send("/digits/stop", "text/plain", ""); status != http.StatusConflict {
		t.Errorf("without a body: %d", status)
	}
}

// What is no text is not replaced, and a number without room is told in the words of the API.
func TestBodiesThatCannotBeRead(t *testing.T) {
	c := serving(t, recorded(t))
	for body, want := range map[string]string{
		"{\"params\":{\"lr\":\"\xff\"}}": "body: byte 18 is a byte that is not UTF-8: JSON is text in UTF-8",
		`{"params":{"lr":"\ud800"}}`:     `body: byte 18 is half of a surrogate pair, \ud800: JSON is text in UTF-8`,

		`{"params":{"lr":1e400}}`:             "body.params.lr: the number 1e400 is too large",
		`{"attempt":1,"metrics":{"a":1e999}}`: "body.metrics.a: the number 1e999 is too large",
		`1e999`:                               "body: the number 1e999 is too large",
		`{"runs":[1,{"lr":1e999}]}`:           "body.runs[1].lr: the number 1e999 is too large",

		`{"params":{"lr":-1` + strings.Repeat("0", 400) + `}}`: "body.params.lr: the number -1" +
			strings.Repeat("0", 38) + "… is too large",
	} {
		a, text := c.send("POST", "/digits/trials", body)
		if a.StatusCode != http.StatusBadRequest || !strings.Contains(text, asJSON(t, want)) {
			t.Errorf("%q: %d %s, want %s", body, a.StatusCode, text, want)
		}
	}
	for _, number := range []string{"1e30", "9223372036854775808"} {
		a, text := c.send("POST", "/digits/trials/3/report", `{"attempt":`+number+`,"iteration":1,"metrics":{"a":1}}`)
		if a.StatusCode != http.StatusUnprocessableEntity ||
			!strings.Contains(text, "attempt: the number "+number+" is too large") {
			t.Errorf("%s: %d %s", number, a.StatusCode, text)
		}
	}
}

// A byte order mark before a body is skipped, for each request that has one; within a body it is part of a text.
func TestByteOrderMark(t *testing.T) {
	c := serving(t, recorded(t))
	for _, x := range []struct{ method, path, body, want string }{
		{"PATCH", "/digits/settings", `{"trials":1000}`, `"new":1000}`},
		{"POST", "/digits/trials", `{"params":{"lr":1e3}}`, "1e3 for lr is outside"},
		{"POST", "/digits/stop", "", "there is nothing to control"},
		{"POST", "", `{"file":"version: 1","set":{"trials":"x"},"ask_and_tell":true}`, "set trials="},
		{"POST", "/digits/trials", `{"params":{"\ufefflr":1}}`, `\\ufefflr`},
	} {
		if _, text := c.send(x.method, x.path, "\ufeff"+x.body); !strings.Contains(text, x.want) {
			t.Errorf("%s %s %s: %s, want %s", x.method, x.path, x.body, text, x.want)
		}
	}
}

// A number is told back, and set, as it was sent: neither rounded to the next float64 nor in another form.
func TestNumbersStayAsTheyWereSent(t *testing.T) {
	c := serving(t, recorded(t))
	for _, x := range []struct{ method, path, body, want string }{
		{"PATCH", "/digits/settings", `{"trials":9007199254740991}`, `"new":9007199254740991}`},
		{"PATCH", "/digits/settings", `{"trials":9007199254740993}`, "found the number 9007199254740993,"},
		{"PATCH", "/digits/settings", `{"trials":2e3}`, `"new":2000}`},
		{"PATCH", "/digits/settings", `{"trials":1e30}`, "trials=1e30: found the number 1e30,"},
		{"PATCH", "/digits/settings", `{"trials":123456789012345678901234567890}`,
			"found the number 123456789012345678901234567890,"},
		{"PATCH", "/digits/settings", `{"stop":{"loss":1234567890123456789012}}`, "1234567890123456789012"},
		{"POST", "/digits/trials", `{"params":{"lr":9007199254740993}}`, "9007199254740993 for lr is outside"},
		{"POST", "/digits/trials", `{"params":{"lr":1e3}}`, "1e3 for lr is outside"},
		{"POST", "/digits/trials/1/clone", `{"params":{"units":9007199254740993}}`, "9007199254740993 for units"},
		{"GET", "/digits/importance?top=100000000", "", "top is 100000000;"},
		{"GET", "/digits/timeline?from_s=100000000&to_s=5", "", "before from_s, 100000000"},
	} {
		if _, text := c.send(x.method, x.path, x.body); !strings.Contains(text, x.want) {
			t.Errorf("%s %s %s: %s, want %s", x.method, x.path, x.body, text, x.want)
		}
	}
}

// What is wrong is told with the names of the API: a client has no flags.
func TestNoFlagsInProblems(t *testing.T) {
	root := recorded(t)
	c, _ := hosting(t, root)
	const file = `version: 1\nname: a\nobjective: {metric: loss, mode: min}\nspace: {x: {uniform: [0, 1]}}\n`
	for _, x := range []struct{ method, path, body, want string }{
		{"GET", "/digits/importance?top=7", "", "top is 7;"},
		{"GET", "/digits/best?metric=loss", "", "use mode min or mode max"},
		{"GET", "/digits/trials?where=nosuch%3E1", "", "where: "},
		{"GET", "/digits/trials?sort=nosuch", "", "sort: "},
		{"POST", "", `{"file":"` + file + `","name":"-x","ask_and_tell":true}`, "name -x: found"},
		{"POST", "", `{"file":"` + file + `","set":{"trials":"x"},"ask_and_tell":true}`, "set trials="},
		{"PATCH", "/digits/settings", `{"trials":"x"}`, "trials="},
	} {
		a, text := c.send(x.method, x.path, x.body)
		if a.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(text, x.want) ||
			strings.Contains(text, "--") {
			t.Errorf("%s %s %s: %d %s, want %s", x.method, x.path, x.body, a.StatusCode, text, x.want)
		}
	}
}

// A number of trials is not taken back by a client that has none to send; a limit is removed with null.
func TestNullIsNoNumberOfTrials(t *testing.T) {
	c := serving(t, recorded(t))
	const file = `version: 1\nname: a\nobjective: {metric: loss, mode: min}\nspace: {x: {uniform: [0, 1]}}\n`
	for _, x := range []struct{ method, path, body, want string }{
		{"PATCH", "/digits/settings", `{"trials":null}`, "trials: found null, expected a whole number"},
		{"PATCH", "/digits/settings", `{"concurrency":null}`, "concurrency: found null, expected a whole number"},
		{"POST", "", `{"file":"` + file + `","set":{"trials":null},"ask_and_tell":true}`, "trials: found null"},
	} {
		a, text := c.send(x.method, x.path, x.body)
		if a.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(text, x.want) {
			t.Errorf("%s %s %s: %d %s, want %s", x.method, x.path, x.body, a.StatusCode, text, x.want)
		}
	}
	for _, body := range []string{`{"stop":{"iteration":5}}`, `{"stop":null}`} {
		if a, text := c.send("PATCH", "/digits/settings", body); a.StatusCode != http.StatusOK ||
			!strings.Contains(text, "1 setting changed") {
			t.Errorf("%s: %d %s", body, a.StatusCode, text)
		}
	}
}

func asJSON(t *testing.T, text string) string {
	t.Helper()
	b, err := json.Marshal(text)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
