package config

import (
	"slices"
	"strings"

	"github.com/goccy/go-yaml/token"
)

// colonTexts joins what the YAML library takes apart: within a map in braces it reads `a:b`, an entry of a list in
// brackets, as a map. By YAML 1.2 that is a text, as it is elsewhere: a colon ends a name only before a space or one
// of ,[]{}. Directly in braces, `{a:1}` stays the map that its author means.
func (r *reader) colonTexts(tokens token.Tokens) (token.Tokens, *Error) {
	if r.mapsInLists || !strings.Contains(r.text, ":") {
		return tokens, nil
	}
	var open []token.Type
	var out token.Tokens
	for i := 0; i < len(tokens); i++ {
		t := tokens[i]
		switch t.Type {
		case token.SequenceStartType, token.MappingStartType:
			open = append(open, t.Type)
		case token.SequenceEndType, token.MappingEndType:
			open = open[:max(len(open)-1, 0)]
		}
		inList := len(open) > 1 && open[len(open)-1] == token.SequenceStartType
		if !inList || i == 0 || i+1 == len(tokens) || !partsText(tokens[i-1], t, tokens[i+1]) {
			out.Add(t)
			continue
		}
		first, last := tokens[i-1], tokens[i+1]
		text := first.Value + ":" + last.Value
		if !isPlain(last) || strings.Contains(last.Value, ": ") {
			return nil, &Error{r.pos(first), "found " + quote(first.Value+":") + " without a space after the colon; " +
				"a text with a colon needs quotes here, and a map a space"}
		}
		out = out[:len(out)-1]
		out.Add(token.String(text, first.Origin+t.Origin+last.Origin, first.Position))
		i++
	}
	return out, nil
}

// partsText reports whether a colon stands within a text: after a plain one, and directly before something.
func partsText(before, colon, after *token.Token) bool {
	return colon.Type == token.MappingValueType && isPlain(before) && colon.Position != nil &&
		after.Position != nil && after.Position.Line == colon.Position.Line &&
		after.Position.Column == colon.Position.Column+1 && !slices.Contains(flowMarks, after.Type)
}

// flowMarks end a plain text in a list in brackets.
var flowMarks = []token.Type{token.SequenceStartType, token.SequenceEndType, token.MappingStartType,
	token.MappingEndType, token.CollectEntryType}

// isPlain reports whether a token is a text, a number or a word without quotes.
func isPlain(t *token.Token) bool {
	return t.CharacterType == token.CharacterTypeMiscellaneous && t.Indicator == token.NotIndicator
}
