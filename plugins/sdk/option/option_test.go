package option

import (
	"bytes"
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// all has an option of each form.
type all struct {
	Int     int
	Count   uint32
	Float   float64
	Share   float64
	Bool    bool
	Text    string
	Name    string
	Mode    mode
	List    []float64
	Sized   []uint64
	Map     map[string]string
	Limit   *float64
	Mode2   *mode
	Entries []entry
	Log     files
	Raw     json.RawMessage
}

type mode string

type entry struct {
	At     uint64
	Params json.RawMessage
	Note   string
}

type files struct{ Out, Err string }

func declareEntry(e *entry) []Option {
	return []Option{
		Int("at", &e.At, 0, From(1), "Where.").Required(),
		Of("params", &e.Params, nil, Raw("object"), "What.").Required(),
		String("note", &e.Note, "none", "Why."),
	}
}

func declareFiles(f *files) []Option {
	return []Option{String("out", &f.Out, "o", "Out."), String("err", &f.Err, "e", "Err.")}
}

func logs(on bool) files {
	if on {
		return files{"o", "e"}
	}
	return files{}
}

var declared = Declare(func(o *all) []Option {
	return []Option{
		Int("int", &o.Int, 5, From(-3).To(100), "An int."),
		Int("count", &o.Count, 0, Any(), "A count."),
		Float("float", &o.Float, 0.5, Any(), "A <float>."),
		Float("share", &o.Share, 0.25, Above(0).Below(1), "A share."),
		Bool("bool", &o.Bool, true, "A bool."),
		String("text", &o.Text, "t", "A text."),
		Of("name", &o.Name, "n", NonEmpty(), "A name."),
		Enum("mode", &o.Mode, "fast", "A mode.", "fast", "exact"),
		Of("list", &o.List, []float64{1.5}, List(Number(Above(0).To(9))), "A list."),
		Of("sized", &o.Sized, []uint64{1}, Sized(List(Whole[uint64](From(1))), 1, 3), "A list of few."),
		Of("map", &o.Map, nil, Map(Text()), "A map."),
		Of("limit", &o.Limit, nil, OrNull(Number(Any())), "A limit."),
		Of("mode2", &o.Mode2, nil, OrNull(Word[mode]("fast", "exact")), "A mode or none."),
		Of("entries", &o.Entries, nil, List(Object(declareEntry)), "Entries."),
		Of("log", &o.Log, logs(true), Or(Object(declareFiles), Truth(), logs), "Files."),
		Of("raw", &o.Raw, json.RawMessage("1"), Raw("number", "string"), "Raw."),
	}
})

func TestDefaults(t *testing.T) {
	want := all{Int: 5, Float: 0.5, Share: 0.25, Bool: true, Text: "t", Name: "n", Mode: "fast", List: []float64{1.5},
		Sized: []uint64{1}, Log: files{"o", "e"}, Raw: json.RawMessage("1")}
	for _, text := range []string{"", " null\n", "{}"} {
		if got, err := declared.Read([]byte(text)); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	}
	if got := declared.Defaults(); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
}

func TestRead(t *testing.T) {
	got, err := declared.Read([]byte(`{"int": -3.0, "count": 4294967295, "float": 1e3, "share": 0.5,
		"bool": false, "text": "", "name": "x",
		"mode": "exact", "list": [], "sized": [9007199254740992], "map": {"a": "b"}, "limit": 3, "mode2": "fast",
		"entries": [{"at": 2, "params": {"x": 1}}], "log": {"out": "all"}, "raw": "2GiB"}`))
	limit, fast := 3.0, mode("fast")
	want := all{-3, math.MaxUint32, 1000, 0.5, false, "", "x", "exact", []float64{}, []uint64{1 << 53},
		map[string]string{"a": "b"}, &limit, &fast, []entry{{2, json.RawMessage(`{"x": 1}`), "none"}}, files{"all",
			"e"},
		json.RawMessage(`"2GiB"`)}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v", got, err)
	}
	again, err := declared.Read(declared.JSON(got))
	if err != nil || !reflect.DeepEqual(again.Map, got.Map) || *again.Limit != 3 {
		t.Errorf("%+v, %v", again, err)
	}
	got, err = declared.Read([]byte(`{"log": false, "limit": null}`))
	if err != nil || got.Log != (files{}) || got.Limit != nil {
		t.Errorf("%+v, %v", got, err)
	}
	over, err := declared.ReadOver(want, []byte(`{"int": 7}`))
	if want.Int = 7; err != nil || !reflect.DeepEqual(over, want) {
		t.Errorf("%+v, %v", over, err)
	}
}

// Each error is one line: what, which option, what is allowed.
func TestMessages(t *testing.T) {
	long := strings.Repeat("x", 100)
	for text, want := range map[string]string{
		`{"int": 101}`:                 `option "int" is 101; allowed: a whole number from -3 to 100`,
		`{"int": 1.5}`:                 `option "int" is 1.5; allowed: a whole number from -3 to 100`,
		`{"int": "1"}`:                 `option "int" is "1"; allowed: a whole number from -3 to 100`,
		`{"int": null}`:                `option "int" is null; allowed: a whole number from -3 to 100`,
		`{"count": -1}`:                `option "count" is -1; allowed: a whole number from 0 to 4294967295`,
		`{"float": 1e999}`:             `option "float" is 1e999; allowed: a number`,
		`{"share": 0}`:                 `option "share" is 0; allowed: a number above 0 and below 1`,
		`{"bool": 1}`:                  `option "bool" is 1; allowed: true or false`,
		`{"text": [1,` + "\n" + ` 2]}`: `option "text" is [1,2]; allowed: a text`,
		`{"name": ""}`:                 `option "name" is ""; allowed: a text that is not empty`,
		`{"mode": "` + long + `"}`:     `option "mode" is "` + long[:59] + `…; allowed: fast or exact`,
		`{"list": [1, 10]}`:            `option "list.1" is 10; allowed: a number above 0 and at most 9`,
		`{"list": 1}`: `option "list" is 1; allowed: a list, each item a number above 0 and ` +
			`at most 9`,
		`{"sized": []}`: `option "sized" is []; allowed: a list of 1 to 3, each item a whole ` +
			`number from 1`,
		`{"sized": [9007199254740993]}`: `option "sized.0" is 9007199254740993; allowed: a whole number from 1 to ` +
			`9007199254740992`,
		`{"sized": 3}`: `option "sized" is 3; allowed: a list of 1 to 3, each item a whole ` +
			`number from 1`,
		`{"map": {"a": 1}}`:                `option "map.a" is 1; allowed: a text`,
		`{"map": null}`:                    `option "map" is null; allowed: a map, each value a text`,
		`{"limit": "x"}`:                   `option "limit" is "x"; allowed: a number or null`,
		`{"entries": [{"params": {}}]}`:    `option "entries.0.at" is missing; allowed: a whole number from 1`,
		`{"entries": [7]}`:                 `option "entries.0" is 7; allowed: a map`,
		`{"entries": [{"x": 1, "at": 0}]}`: `option "entries.0.at" is 0; allowed: a whole number from 1`,
		`{"log": 3}`:                       `option "log" is 3; allowed: true or false or a map of out, err`,
		`{"log": {"in": "x"}}`:             `unknown option "log.in"; known: out, err`,
		`{"raw": true}`:                    `option "raw" is true; allowed: a number or a text`,
		`{"Int": 1}`:                       `unknown option "Int"; known: ` + strings.Join(declared.Names(), ", "),
		`[1]`:                              `the options are [1]; allowed: a map`,
		`{"int"`:                           `the options are not a JSON object: unexpected end of JSON input`,
		`{} {}`: `the options are not a JSON object: invalid character '{' after ` +
			`top-level value`,
	} {
		got := ""
		if _, err := declared.Read([]byte(text)); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s:\n got %s\nwant %s", text, got, want)
		}
	}
	_, err := declared.Called("parameter").Read([]byte(`{"int": 101}`))
	if err == nil || !strings.HasPrefix(err.Error(), `parameter "int" is`) {
		t.Error(err)
	}
	none := Declare(func(*struct{}) []Option { return nil })
	if _, err := none.Read([]byte(`{"x": 1}`)); err == nil || err.Error() != `unknown option "x": there are none` {
		t.Error(err)
	}
	err = Wrong("grace", 500, "1 to max, which is %d", 100)
	if err.Error() != `option "grace" is 500; allowed: 1 to max, which is 100` {
		t.Error(err)
	}
}

// The schema and Read accept the same values.
func TestSchemaAndReadAgree(t *testing.T) {
	schema := compiled(t, declared.Schema())
	taken, refused := 0, 0
	for _, name := range append(declared.Names(), "other") {
		for _, value := range values() {
			text := encode(map[string]any{name: value})
			_, err := declared.Read(text)
			if invalid := schema.Validate(decoded(t, text)); (err == nil) != (invalid == nil) {
				t.Errorf("%s: Read says %v, the schema %v", text, err, invalid)
			}
			if err == nil {
				taken++
			} else {
				refused++
			}
		}
	}
	if taken == 0 || refused == 0 {
		t.Errorf("%d taken, %d refused", taken, refused)
	}
}

// values are edge cases of bounds and types, alone, in lists and in maps.
func values() (all []any) {
	for _, v := range []any{
		nil, true, false, "", "fast", "x", 0.0, 1.0, 3.0, -3.0, -4.0, 0.5, 9.0, 9.5, 100.0, 101.0, 1 << 32, 1<<32 - 1,
		1 << 53, 1 << 54, -1 << 53, -1 << 54, 1e300, []any{}, map[string]any{},
	} {
		entry := map[string]any{"at": v, "params": map[string]any{}}
		all = append(all, v, []any{v}, []any{v, v, v}, []any{v, v, v, v}, map[string]any{"a": v},
			map[string]any{"out": v},
			map[string]any{"out": "x", "err": v}, entry, []any{entry}, []any{map[string]any{"at": 1, "params": v}},
			[]any{map[string]any{"at": 1, "params": map[string]any{}, "note": v}})
	}
	return all
}

// The schema is what encoding/json writes.
func TestSchemaText(t *testing.T) {
	odd := Declare(func(o *all) []Option {
		return []Option{
			Float("a", &o.Float, 1e-7, From(1e21).To(1e300), "Ä \"quoted\" \\ <b> \u2028."),
			Float("b", &o.Share, math.Copysign(0, -1), Any(), "\t"),
			Of("c", &o.List, []float64{1.5, 2}, List(Number(Any())), "C."),
			Of("d", &o.Map, map[string]string{"x": "y"}, Map(Text()), "D."),
			Of("e", &o.Raw, json.RawMessage(`{"a":[]}`), Raw("object"), "E."),
		}
	})
	none := Declare(func(*struct{}) []Option { return nil })
	for _, s := range []schema{declared.schema(), odd.schema(), none.schema()} {
		var want bytes.Buffer
		err := json.Indent(&want, encoded(s), "", "  ")
		if got := s.text(); err != nil || string(got) != want.String() {
			t.Errorf("%v\n got %s\nwant %s", err, got, want.Bytes())
		}
	}
}

// BenchmarkSchema measures what each process does for each plugin when it starts.
func BenchmarkSchema(b *testing.B) {
	for b.Loop() {
		declared.Schema()
	}
}

// The schema accepts the defaults, and Read returns them unchanged.
func TestSchemaDefaults(t *testing.T) {
	var s struct {
		Properties map[string]struct{ Default json.RawMessage }
	}
	if err := json.Unmarshal(declared.Schema(), &s); err != nil {
		t.Fatal(err)
	}
	written := map[string]json.RawMessage{}
	for name, p := range s.Properties {
		written[name] = p.Default
	}
	text := encode(written)
	if err := compiled(t, declared.Schema()).Validate(decoded(t, text)); err != nil {
		t.Error(err)
	}
	got, err := declared.Read(text)
	got.Map, got.Entries = nil, nil // empty and not nil
	if err != nil || !reflect.DeepEqual(got, declared.Defaults()) {
		t.Errorf("%s: %+v, %v", text, got, err)
	}
}

func compiled(t *testing.T, text []byte) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	if err := c.AddResource("options.json", decoded(t, text)); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("options.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func decoded(t interface{ Fatal(...any) }, text []byte) any {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return value
}

func TestDeclaredTwice(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("two options of one name")
		}
	}()
	Declare(func(o *all) []Option {
		return []Option{Bool("x", &o.Bool, false, "X."), Bool("x", &o.Bool, false, "X.")}
	}).Schema()
}

func TestRows(t *testing.T) {
	rows, err := Rows(declared.Schema())
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]Row{}
	for _, r := range rows {
		got[r.Name] = r
	}
	for _, want := range []Row{
		{"int", "a whole number from -3 to 100", "5", "An int."},
		{"float", "a number", "0.5", "A <float>."},
		{"mode", "fast or exact", `"fast"`, "A mode."},
		{"entries", "a list, each item a map of at, params, note", "[]", "Entries."},
		{"entries.N.at", "a whole number from 1", Required, "Where."},
		{"log", "true or false or a map of out, err", `{"err":"e","out":"o"}`, "Files."},
		{"log.out", "a text", `"o"`, "Out."},
		{"map", "a map, each value a text", "{}", "A map."},
		{"limit", "a number or null", "null", "A limit."},
	} {
		if got[want.Name] != want {
			t.Errorf("%+v, want %+v", got[want.Name], want)
		}
	}
	if rows[0].Name != "int" || rows[1].Name != "count" {
		t.Errorf("not in the order of the declaration: %v", rows)
	}
}

// Schemas of other authors may contain more and less than declarations do.
func TestRowsOfOthers(t *testing.T) {
	rows, err := Rows([]byte(`{"properties": {"a": true, "b": {"type": ["integer", "string"], "maximum": 7},
		"c": {"type": "array", "items": false}, "d": {"type": "object", "additionalProperties": true}, "e": ` +
		`{"pattern": "x"},
		"f": {"type": "array", "minItems": 2}, "g": {"type": "number", "exclusiveMinimum": 0},
		"h": {"items": [true], "default": [1], "description": "H."}, "i": {"default": 1}}, "required": ["i"]}`))
	want := []Row{
		{"a", "anything", "", ""}, {"b", "a whole number at most 7 or a text", "", ""},
		{"c", "a list, each item anything", "", ""},
		{"d", "a map, each value anything", "", ""}, {"e", "anything", "", ""}, {"f", "a list of at least 2", "", ""},
		{"g", "a number above 0", "", ""}, {"h", "anything", "[1]", "H."}, {"i", "anything", Required, ""},
	}
	if err != nil || !reflect.DeepEqual(rows, want) {
		t.Errorf("%+v, %v", rows, err)
	}
	if rows, err := Rows([]byte("{")); err == nil {
		t.Error(rows)
	}
	if Words([]byte(`{"type": "integer", "maximum": 2147483647}`)) != "a whole number at most 2147483647" {
		t.Error(Words([]byte(`{"type": "integer", "maximum": 2147483647}`)))
	}
}

// Trainables may read a trial's parameters as options.
func BenchmarkReadOver(b *testing.B) {
	base := declared.Defaults()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := declared.ReadOver(base, []byte(`{"int": 3, "share": 0.5}`)); err != nil {
			b.Fatal(err)
		}
	}
}

// For any input, Read returns options that it can read again, or a one-line error.
func FuzzRead(f *testing.F) {
	f.Add([]byte(declared.JSON(declared.Defaults())))
	f.Add([]byte(`{"int": -3.0, "count": 4294967295, "float": 1e3, "limit": 3, "mode2": "fast", "log": ` +
		`{"out": "all"}}`))
	f.Add([]byte(`{"sized": [1, 9007199254740993], "entries": [{"at": 2, "params": {"x": 1}}], "raw": "2GiB"}`))
	f.Add([]byte(`{"int": 1, "int": 2, "log": true}`))
	f.Add([]byte("{\"text\": \"\xff\"}"))
	f.Fuzz(func(t *testing.T, object []byte) {
		got, err := declared.Read(object)
		if err != nil {
			if strings.ContainsAny(err.Error(), "\n\r") {
				t.Errorf("more than a line: %q", err)
			}
			return
		}
		again, err := declared.Read(declared.JSON(got))
		if err != nil || string(declared.JSON(again)) != string(declared.JSON(got)) {
			t.Errorf("%s: %s, %v", declared.JSON(got), declared.JSON(again), err)
		}
	})
}
