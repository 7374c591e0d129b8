package expr

import "encoding/json"

// simple decodes JSON as FromJSON does, but without escapes in texts, and not too deep: that is how hosts write
// parameters, and lists of 100,000 trials are read in half the time. ok is false for everything else.
func simple(data []byte) (v any, ok bool) {
	s := simpleReader{rest: data}
	v, ok = s.value(0)
	s.space()
	return v, ok && len(s.rest) == 0
}

// deepest is how deep simple reads.
const deepest = 20

type simpleReader struct{ rest []byte }

func (s *simpleReader) space() {
	for len(s.rest) > 0 && (s.rest[0] == ' ' || s.rest[0] == '\n' || s.rest[0] == '\t' || s.rest[0] == '\r') {
		s.rest = s.rest[1:]
	}
}

// take takes a character, after space.
func (s *simpleReader) take(c byte) bool {
	s.space()
	if len(s.rest) == 0 || s.rest[0] != c {
		return false
	}
	s.rest = s.rest[1:]
	return true
}

func (s *simpleReader) value(depth int) (any, bool) {
	s.space()
	if len(s.rest) == 0 || depth > deepest {
		return nil, false
	}
	switch s.rest[0] {
	case '{':
		return s.object(depth)
	case '[':
		return s.list(depth)
	case '"':
		return s.text()
	case 't':
		return true, s.word("true")
	case 'f':
		return false, s.word("false")
	case 'n':
		return nil, s.word("null")
	}
	return s.number()
}

func (s *simpleReader) word(w string) bool {
	if len(s.rest) < len(w) || string(s.rest[:len(w)]) != w {
		return false
	}
	s.rest = s.rest[len(w):]
	return true
}

func (s *simpleReader) object(depth int) (any, bool) {
	m := map[string]any{}
	s.take('{')
	if s.take('}') {
		return m, true
	}
	for {
		s.space()
		name, ok := s.text()
		if !ok || !s.take(':') {
			return nil, false
		}
		v, ok := s.value(depth + 1)
		if !ok {
			return nil, false
		}
		if m[name] = v; s.take('}') {
			return m, true
		}
		if !s.take(',') {
			return nil, false
		}
	}
}

func (s *simpleReader) list(depth int) (any, bool) {
	list := []any{}
	s.take('[')
	if s.take(']') {
		return list, true
	}
	for {
		v, ok := s.value(depth + 1)
		if !ok {
			return nil, false
		}
		if list = append(list, v); s.take(']') {
			return list, true
		}
		if !s.take(',') {
			return nil, false
		}
	}
}

// text reads a text without escapes.
func (s *simpleReader) text() (string, bool) {
	if len(s.rest) == 0 || s.rest[0] != '"' {
		return "", false
	}
	for i := 1; i < len(s.rest); i++ {
		switch c := s.rest[i]; {
		case c == '"':
			text := string(s.rest[1:i])
			s.rest = s.rest[i+1:]
			return text, true
		case c < ' ' || c > '~' || c == '\\':
			return "", false
		}
	}
	return "", false
}

func (s *simpleReader) number() (any, bool) {
	n := numberLength(s.rest)
	if n == 0 {
		return nil, false
	}
	v, err := number(json.Number(s.rest[:n]))
	s.rest = s.rest[n:]
	return v, err == nil
}

// numberLength returns how long the number is with which a text begins; 0: it begins with none.
func numberLength(b []byte) int {
	i := 0
	digits := func() (n int) {
		for ; i < len(b) && b[i] >= '0' && b[i] <= '9'; i++ {
			n++
		}
		return n
	}
	if i < len(b) && b[i] == '-' {
		i++
	}
	first := i
	if n := digits(); n == 0 || n > 1 && b[first] == '0' {
		return 0
	}
	if i < len(b) && b[i] == '.' {
		if i++; digits() == 0 {
			return 0
		}
	}
	if i < len(b) && (b[i] == 'e' || b[i] == 'E') {
		i++
		if i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		if digits() == 0 {
			return 0
		}
	}
	return i
}
