package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"github.com/tunehost/tunehost/internal/lazily"
)

// Limits of a file. They are checked on the tokens before parsing: the YAML parser recurses without
// limit, and its time grows with the square of the number of keys.
const (
	maxFileBytes = 1 << 20
	maxDepth     = 50
	maxKeys      = 10_000
	maxNodes     = 200_000 // after the expansion of aliases
)

// reader turns YAML into nodes.
type reader struct {
	*problems
	file    string
	text    string
	anchors map[string]ast.Node
	open    map[string]bool // anchors that are being expanded
	nodes   int
}

// readYAML parses one document. On a mistake it returns nil and reports the mistake to p.
func readYAML(p *problems, file string, data []byte) *node {
	r := &reader{problems: p, file: file, anchors: map[string]ast.Node{}, open: map[string]bool{}}
	doc, err := r.parse(data)
	if err != nil {
		p.errs = append(p.errs, err)
		return nil
	}
	if doc == nil {
		return &node{kind: nullKind, pos: Pos{file, 1, 1}}
	}
	root := r.node(doc, 0)
	if r.nodes > maxNodes {
		return nil
	}
	return root
}

func (r *reader) whole(format string, args ...any) *Error {
	return &Error{Pos{File: r.file}, fmt.Sprintf(format, args...)}
}

func (r *reader) parse(data []byte) (body ast.Node, problem *Error) {
	switch {
	case len(data) > maxFileBytes:
		return nil, r.whole("the file has more than %d bytes (1 MiB)", maxFileBytes)
	case !utf8.Valid(data):
		return nil, r.whole("the file is not UTF-8 text")
	}
	defer func() { // the YAML library has panicked on strange input before
		if v := recover(); v != nil {
			body, problem = nil, r.whole("the file is not readable as YAML (%v)", v)
		}
	}()
	text := strings.TrimPrefix(string(data), "\ufeff")
	if json.Valid([]byte(text)) { // JSON may be indented with tabs, YAML may not
		text = strings.ReplaceAll(text, "\t", " ")
	}
	r.text = text
	tokens := lexer.Tokenize(text)
	if err := r.limits(tokens); err != nil {
		return nil, err
	}
	tokens, problem = r.colonTexts(tokens)
	if problem != nil {
		return nil, problem
	}
	file, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		return nil, r.syntax(err)
	}
	return r.single(file)
}

func (r *reader) single(file *ast.File) (ast.Node, *Error) {
	var body ast.Node
	for _, d := range file.Docs {
		if _, directive := d.Body.(*ast.DirectiveNode); d.Body == nil || directive {
			continue
		}
		if body != nil {
			return nil, &Error{r.pos(d.Body.GetToken()), "found a second document, expected one"}
		}
		body = d.Body
	}
	if _, comment := body.(*ast.CommentGroupNode); comment {
		return nil, nil
	}
	return body, nil
}

func (r *reader) syntax(err error) *Error {
	var s *yaml.SyntaxError
	if errors.As(err, &s) && s.GetToken() != nil {
		pos := r.pos(s.GetToken())
		return &Error{pos, oneLine("not YAML: " + s.GetMessage() + r.pastedAt(pos) + r.tabAt(pos))}
	}
	return r.whole("not YAML: %s", oneLine(err.Error()))
}

// tabAt says what to write instead of a tab at the beginning of a line.
func (r *reader) tabAt(pos Pos) string {
	lines := strings.Split(r.text, "\n")
	if pos.Line < 1 || pos.Line > len(lines) {
		return ""
	}
	line := lines[pos.Line-1]
	if indent := line[:len(line)-len(strings.TrimLeft(line, " \t"))]; !strings.Contains(indent, "\t") {
		return ""
	}
	return "; indent with spaces, YAML allows no tab there"
}

// pastedAt says what to write instead of code of another tuner in a line that is not YAML.
func (r *reader) pastedAt(pos Pos) string {
	lines := strings.Split(r.text, "\n")
	if pos.Line < 1 || pos.Line > len(lines) {
		return ""
	}
	line := lines[pos.Line-1]
	for _, at := range callInner().FindAllStringIndex(line, -1) {
		if c := parseCall(line[at[0]:]); c != nil {
			return "; " + quote(line[at[0]:at[1]]+"…)") + " is not run as code, write " + c.instead()
		}
	}
	return ""
}

func (r *reader) pos(t *token.Token) Pos {
	if t == nil || t.Position == nil {
		return Pos{File: r.file}
	}
	return Pos{r.file, t.Position.Line, t.Position.Column}
}

// limits refuses input that is too deep or too big for the parser.
func (r *reader) limits(tokens token.Tokens) *Error {
	var flow, keys, marks, line, inSection int
	section := ""
	for _, t := range tokens {
		if t.Position != nil && t.Position.Line != line {
			line, marks = t.Position.Line, 0
		}
		switch t.Type {
		case token.SequenceStartType, token.MappingStartType:
			flow++
		case token.SequenceEndType, token.MappingEndType:
			flow--
		case token.MappingValueType:
			keys++
			inSection++
			if k := t.Prev; k != nil && k.Position != nil && k.Position.Column == 1 {
				section, inSection = k.Value, 0
			}
		case token.SequenceEntryType, token.MappingKeyType:
			marks++
		case token.TagType, token.AnchorType:
			keys++
			marks++
		}
		if flow > maxDepth || marks > maxDepth && flow == 0 || tooIndented(t) {
			return &Error{r.pos(t), fmt.Sprintf("nested more than %d deep", maxDepth)}
		}
		if keys > maxKeys {
			return &Error{r.pos(t), tooManyKeys(section, inSection)}
		}
	}
	return nil
}

// tooManyKeys says where most keys are: authors of lists of maps do not count keys.
func tooManyKeys(section string, inSection int) string {
	text := fmt.Sprintf("the file has more than %d keys", maxKeys)
	if inSection > maxKeys/2 {
		text += fmt.Sprintf(", most of them below %.64q, where each name in each entry counts: write fewer entries",
			section)
	}
	return text
}

func tooIndented(t *token.Token) bool {
	return t.Position != nil && t.Position.IndentLevel > maxDepth
}

// node converts n; the result is never nil.
func (r *reader) node(n ast.Node, depth int) *node {
	r.nodes++
	out := &node{pos: r.pos(start(n)), shift: -1}
	switch {
	case r.nodes > maxNodes:
		if r.nodes == maxNodes+1 {
			r.fail(out.pos, "more than %d values after the expansion of aliases", maxNodes)
		}
		return out
	case depth > maxDepth:
		r.fail(out.pos, "nested more than %d deep", maxDepth)
		return out
	}
	switch n := n.(type) {
	case *ast.MappingNode:
		r.mapping(out, n.Values, depth)
	case *ast.MappingValueNode:
		r.mapping(out, []*ast.MappingValueNode{n}, depth)
	case *ast.SequenceNode:
		out.kind = listKind
		for _, item := range n.Values {
			out.items = append(out.items, r.node(item, depth+1))
		}
	case *ast.AnchorNode:
		r.anchors[n.Name.GetToken().Value] = n.Value
		return r.node(n.Value, depth+1)
	case *ast.AliasNode:
		return r.alias(n, depth)
	case *ast.TagNode:
		return r.tag(n, depth)
	default:
		r.scalar(out, n)
	}
	return out
}

// start returns the token where n begins; for a block map this is its first key.
func start(n ast.Node) *token.Token {
	switch m := n.(type) {
	case nil:
		return nil
	case *ast.MappingNode:
		if !m.IsFlowStyle && len(m.Values) > 0 {
			return m.Values[0].Key.GetToken()
		}
	case *ast.MappingValueNode:
		return m.Key.GetToken()
	}
	return n.GetToken()
}

func (r *reader) alias(n *ast.AliasNode, depth int) *node {
	name := n.Value.GetToken().Value
	target, ok := r.anchors[name]
	if !ok || r.open[name] {
		r.fail(r.pos(n.GetToken()), "alias *%s refers to no earlier anchor &%s", name, name)
		return &node{pos: r.pos(n.GetToken())}
	}
	r.open[name] = true
	defer delete(r.open, name)
	return r.node(target, depth+1)
}

func (r *reader) tag(n *ast.TagNode, depth int) *node {
	tag := n.GetToken().Value
	inner := r.node(n.Value, depth+1)
	switch {
	case tag == "!!str" && inner.kind < listKind:
		if inner.kind == nullKind {
			inner.text = ""
		}
		inner.kind = textKind
	case tag == "!!str", tag != "!!int" && tag != "!!float" && tag != "!!bool" && tag != "!!null" && tag != "!!map" &&
		tag != "!!seq":
		r.fail(r.pos(n.GetToken()), "found the tag %s, expected a plain value", tag)
	}
	return inner
}

func (r *reader) mapping(out *node, values []*ast.MappingValueNode, depth int) {
	out.kind = mapKind
	seen := make(map[string]Pos, len(values))
	for _, v := range values {
		if _, merge := v.Key.(*ast.MergeKeyNode); merge {
			r.merge(out, v, depth)
			continue
		}
		e, ok := r.entry(v, depth)
		if !ok {
			continue
		}
		if first, twice := seen[e.name]; twice && e.value.kind == nullKind && strings.HasSuffix(e.name, ")") {
			r.fail(e.pos, "found %s as a key; an expression with a comma needs quotes around it", quote(e.name))
			out.keys = append(out.keys, e) // the reader of the map reports what it is a part of
			continue
		} else if twice {
			r.fail(e.pos, "key %s is given twice, first in line %d", quote(e.name), first.Line)
			continue
		}
		seen[e.name] = e.pos
		out.set(e)
	}
}

func (r *reader) entry(v *ast.MappingValueNode, depth int) (entry, bool) {
	before := len(r.errs)
	key := r.node(v.Key, depth+1)
	if k, complex := v.Key.(*ast.MappingKeyNode); complex {
		key = r.node(k.Value, depth+1)
	}
	switch {
	case r.nodes > maxNodes || len(r.errs) > before: // what was not read is nothing
		return entry{}, false
	case key.kind >= listKind || key.kind == nullKind:
		r.fail(key.pos, "found %s as a key, expected a name", key.describe())
		return entry{}, false
	}
	return entry{key.text, key.pos, r.node(v.Value, depth+1)}, true
}

// merge adds the missing keys from `<<: *anchor`.
func (r *reader) merge(out *node, v *ast.MappingValueNode, depth int) {
	before := len(r.errs)
	from := r.node(v.Value, depth+1)
	list := []*node{from}
	if from.kind == listKind {
		list = from.items
	}
	for _, m := range list {
		if r.nodes > maxNodes || m.kind == nullKind && len(r.errs) > before {
			return
		}
		if m.kind != mapKind {
			r.fail(m.pos, "found %s after <<, expected a map", m.describe())
			continue
		}
		for _, e := range m.keys {
			if !out.has(e.name) {
				out.keys = append(out.keys, e)
			}
		}
	}
}

// unset removes a key; others may share the list.
func (n *node) unset(name string) {
	n.keys = slices.DeleteFunc(slices.Clone(n.keys), func(e entry) bool { return e.name == name })
}

// set replaces or adds the key of e.
func (n *node) set(e entry) {
	for i := range n.keys {
		if n.keys[i].name == e.name {
			n.keys[i] = e
			return
		}
	}
	n.keys = append(n.keys, e)
}

func (r *reader) scalar(out *node, n ast.Node) {
	switch n := n.(type) {
	case *ast.LiteralNode:
		out.kind, out.text = textKind, n.Value.Value
		return
	case *ast.NullNode:
		out.kind, out.text = nullKind, ""
		if n.Token.Type != token.ImplicitNullType {
			out.text = "null"
		}
		return
	}
	t := n.GetToken()
	out.text, out.kind = t.Value, textKind
	switch t.Type {
	case token.SingleQuoteType, token.DoubleQuoteType:
		if plainlyQuoted(t) {
			out.shift = 1
		}
		return
	}
	if !strings.Contains(strings.TrimSpace(t.Origin), "\n") {
		out.shift = 0
	}
	r.plain(out)
}

// plainlyQuoted reports whether the text has no escapes, so that its columns are those of the file.
func plainlyQuoted(t *token.Token) bool {
	origin := strings.TrimSpace(t.Origin)
	return len(origin) == len(t.Value)+2 && origin[1:len(origin)-1] == t.Value
}

var (
	numberPattern = lazily.Regexp(`^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$|` +
		`^0x[0-9a-fA-F]+$|^0o[0-7]+$`)
	specialPattern = lazily.Regexp(`^[-+]?\.(inf|Inf|INF)$|^\.(nan|NaN|NAN)$`)
)

// plain gives an unquoted scalar its kind by YAML 1.2's core schema. The library has other rules for
// numbers (it reads 1e-4 as text).
func (r *reader) plain(out *node) {
	switch out.text {
	case "", "~", "null", "Null", "NULL":
		out.kind = nullKind
		return
	case "true", "True", "TRUE", "false", "False", "FALSE":
		out.kind, out.text = boolKind, strings.ToLower(out.text)
		return
	}
	if specialPattern().MatchString(out.text) {
		out.kind = numberKind
		return
	}
	if !numberPattern().MatchString(out.text) {
		return
	}
	out.kind = numberKind
	if _, ok := out.float(); !ok {
		if _, err := strconv.ParseUint(out.text, 0, 64); err != nil {
			r.settle(out.pos, "number %s is out of range", quote(out.text))
			out.text = "1" // valid wherever a number is
		}
	}
}
