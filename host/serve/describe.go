package serve

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"github.com/danielgtaylor/huma/v2/validation"

	"github.com/tunehost/tunehost/core/resource"
	"github.com/tunehost/tunehost/host/serve/problem"
	"github.com/tunehost/tunehost/host/view"
)

// v1 is the path of the API; a change that could break a program gets another.
const v1 = "/api/v1"

func init() {
	huma.DefaultArrayNullable = false
	huma.NewError = asProblem
	huma.ValidateStrictCasing = true // a name in other letters is another name
}

// asProblem makes a problem of what huma finds wrong in a request.
func asProblem(status int, text string, errs ...error) huma.StatusError {
	if len(errs) == 1 {
		if p, ok := errs[0].(*problem.Problem); ok {
			return p
		}
	}
	var parts []string
	for _, err := range errs {
		if err != nil {
			parts = append(parts, mistake(err))
		}
	}
	if len(parts) > 0 {
		text = strings.Join(parts, "; ")
	}
	return problem.New(status, text)
}

// mistake names the place first, as mistakes of an experiment file do.
func mistake(err error) string {
	d, ok := err.(huma.ErrorDetailer)
	if !ok {
		return err.Error()
	}
	x := d.ErrorDetail()
	if x.Location == "" {
		return x.Message
	}
	if x.Message == validation.MsgExpectedMatchAtLeastOneSchema { // the only such schema of requests
		x.Message = "expected " + measured
	}
	return strings.TrimPrefix(x.Location, "query.") + ": " + x.Message
}

// newAPI returns the API without operations.
func newAPI(mux *http.ServeMux, version string) huma.API {
	c := huma.DefaultConfig("tunehost", "1")
	c.Info.Description = "Experiments of tunehost " + version + ": reading, steering, and ask and tell."
	c.Info.License = &huma.License{Name: "Apache 2.0", Identifier: "Apache-2.0"}
	c.OpenAPIPath, c.DocsPath, c.SchemasPath, c.CreateHooks = "/api/openapi", "", "", nil
	c.RejectUnknownQueryParameters = true
	c.Formats = formats(c.Formats)
	c.Components.SecuritySchemes = map[string]*huma.SecurityScheme{
		"token": {Type: "http", Scheme: "bearer", Description: "a token that the server has printed"}}
	c.Security = []map[string][]string{{"token": {}}}
	c.Components.Schemas = registry()
	return humago.New(mux, c)
}

// formats reads JSON so that mistakes are told in the words of the API, without types of the program. It writes
// types that have their own writer with that writer.
func formats(all map[string]huma.Format) map[string]huma.Format {
	all = maps.Clone(all)
	for name, f := range all {
		read, write := f.Unmarshal, f.Marshal
		f.Marshal = func(w io.Writer, v any) error {
			if x, ok := v.(interface{ AppendJSON([]byte) []byte }); ok {
				_, err := w.Write(append(x.AppendJSON(nil), '\n'))
				return err
			}
			return write(w, v)
		}
		f.Unmarshal = func(text []byte, to any) error {
			if _, checked := to.(*any); checked {
				return misfit(read(text, to)) // huma compares this with the schema, whole
			}
			return misfit(exactly(text, to))
		}
		all[name] = f
	}
	return all
}

// exactly reads JSON. Numbers without a type stay as they were sent: a float64 cannot hold every whole number, and
// writes some numbers in another form.
func exactly(text []byte, to any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return d.Decode(to)
}

// longNumber is how much of a number is told back.
const longNumber = 40

// misfit puts into words that a value does not fit the place where it stands.
func misfit(err error) error {
	var x *json.UnmarshalTypeError
	if !errors.As(err, &x) {
		return err
	}
	place := ""
	if x.Field != "" {
		place = x.Field + ": "
	}
	number, ok := strings.CutPrefix(x.Value, "number ")
	if len(number) > longNumber {
		number = number[:longNumber] + "…"
	}
	switch {
	case !ok:
		return fmt.Errorf("%.200sa value of another kind is expected than this %.40s", place, x.Value)
	case x.Type.Kind() == reflect.Float64:
		return fmt.Errorf("%.200sthe number %s is too large", place, number)
	}
	return fmt.Errorf("%.200sthe number %s is too large, or not written as a whole number in digits", place, number)
}

// registry makes schemas of types, of package view's as it promises them.
func registry() huma.Registry {
	r := huma.NewMapRegistry("#/components/schemas/", schemaName)
	for of, shape := range view.Shapes() {
		r.RegisterTypeAlias(of, shape)
	}
	r.RegisterTypeAlias(reflect.TypeFor[view.Float](), reflect.TypeFor[number]())
	r.RegisterTypeAlias(reflect.TypeFor[resource.Amount](), reflect.TypeFor[float64]())
	return r
}

// schemaName is the name of a type without the suffix of those that only describe JSON.
func schemaName(t reflect.Type, hint string) string {
	return strings.TrimSuffix(huma.DefaultSchemaNamer(t, hint), "JSON")
}

// measured is what a [number] is.
const measured = "a number, or NaN, Infinity or -Infinity as a text"

// number is the schema of a view.Float.
type number struct{}

// Schema implements huma.SchemaProvider.
func (number) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Description: measured,
		AnyOf: []*huma.Schema{{Type: "number"}, {Type: "string", Enum: []any{"NaN", "Infinity", "-Infinity"}}}}
}

// describe completes the description: what may be null, that answers may get more fields, and the statuses of
// problems.
func describe(api *huma.OpenAPI) {
	for path, item := range api.Paths {
		refusals(path, item.Get, http.StatusServiceUnavailable)
		refusals(path, item.Post, writes...)
		refusals(path, item.Patch, writes...)
	}
	schemas := api.Components.Schemas
	for name, s := range maps.Clone(schemas.Map()) {
		complete(schemas, s, schemas.TypeFromRef("#/components/schemas/"+name))
	}
	for name, s := range schemas.Map() {
		if !strings.HasSuffix(name, "Request") {
			s.AdditionalProperties = nil
		}
	}
}

// writes are the statuses of problems of requests that change something.
var writes = []int{http.StatusBadRequest, http.StatusForbidden, http.StatusRequestEntityTooLarge,
	http.StatusUnsupportedMediaType, http.StatusServiceUnavailable, http.StatusInsufficientStorage}

// refusals names the statuses of the problems of an operation. The answer to them all is the default.
func refusals(path string, op *huma.Operation, more ...int) {
	if op == nil {
		return
	}
	list := append([]int{http.StatusUnauthorized, http.StatusConflict, http.StatusMisdirectedRequest,
		http.StatusUnprocessableEntity, http.StatusTooManyRequests}, more...)
	if strings.Contains(path, "{") {
		list = append(list, http.StatusNotFound)
	}
	problems := op.Responses["default"]
	if problems == nil { // of a stream
		problems = &huma.Response{Description: "Error", Content: map[string]*huma.MediaType{problem.MediaType: {
			Schema: &huma.Schema{Ref: "#/components/schemas/Problem"}}}}
		op.Responses["default"] = problems
	}
	for _, status := range list {
		op.Responses[strconv.Itoa(status)] = &huma.Response{Description: http.StatusText(status),
			Content: problems.Content}
	}
}

// complete completes the schema of a struct.
func complete(r huma.Registry, s *huma.Schema, t reflect.Type) {
	for _, f := range reflect.VisibleFields(t) {
		if f.Anonymous && !f.IsExported() {
			part := schemaName(f.Type, "")
			_, shown := r.Map()[part]
			inherit(s, r.Schema(f.Type, false, ""))
			if !shown {
				delete(r.Map(), part)
			}
		}
	}
	for _, f := range reflect.VisibleFields(t) {
		key, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		p := s.Properties[key]
		if p == nil {
			continue
		}
		elements(p, f.Type)
		if f.Type.Kind() == reflect.Pointer && options != "omitempty" && !p.Nullable && !orNull(p) {
			s.Properties[key] = withNull(p)
		}
	}
}

// elements lets numbers in lists and maps be null if they may be missing.
func elements(s *huma.Schema, t reflect.Type) {
	if t.Kind() != reflect.Slice && t.Kind() != reflect.Map {
		return
	}
	p := s.Items
	if t.Kind() == reflect.Map {
		p, _ = s.AdditionalProperties.(*huma.Schema)
	}
	switch {
	case p == nil:
	case t.Elem() != reflect.TypeFor[*view.Float]():
		elements(p, t.Elem())
	case t.Kind() == reflect.Map:
		s.AdditionalProperties = withNull(p)
	default:
		s.Items = withNull(p)
	}
}

func withNull(p *huma.Schema) *huma.Schema {
	return &huma.Schema{AnyOf: []*huma.Schema{p, {Type: "null"}}}
}

func orNull(p *huma.Schema) bool {
	return slices.ContainsFunc(p.AnyOf, func(s *huma.Schema) bool { return s.Type == "null" })
}

// inherit adds the properties of an embedded struct.
func inherit(s, from *huma.Schema) {
	for key, p := range from.Properties {
		if s.Properties[key] == nil {
			s.Properties[key] = p
		}
	}
	own := slices.DeleteFunc(s.Required, func(key string) bool { return slices.Contains(from.Required, key) })
	s.Required = append(slices.Clone(from.Required), own...) // a struct may be embedded in one that is embedded
}
