package core

// causes keeps why trials ended, were paused or wait, so that a trial's row holds two
// numbers for it. What many trials have in common is kept once. A cause that is a text
// alone costs no more than the text: a scheduler's reasons have numbers in them, and each
// is another one.
type causes struct {
	texts   []string
	textIDs map[string]uint32
	rest    []Cause // with other fields
	restIDs map[Cause]uint32
}

// inRest marks a place in causes.rest.
const inRest = 1 << 31

func newCauses() causes {
	return causes{texts: []string{""}, textIDs: map[string]uint32{"": 0}, restIDs: map[Cause]uint32{}}
}

// because notes why a trial is where it is.
func (m *Machine) because(t *trial, why Cause) {
	t.why, t.reason = why.Kind, m.causes.keep(why)
}

func (m *Machine) causeOf(t *trial) Cause {
	if t.reason >= inRest {
		return m.causes.rest[t.reason-inRest]
	}
	return Cause{Kind: t.why, Text: m.causes.texts[t.reason]}
}

func (x *causes) keep(c Cause) uint32 {
	if c == (Cause{Kind: c.Kind, Text: c.Text}) {
		return index(c.Text, &x.texts, x.textIDs)
	}
	return inRest + index(c, &x.rest, x.restIDs)
}

// index finds or appends what is kept. Only the first ones are looked for: to look for
// each would cost more than it saves.
func index[T comparable](v T, list *[]T, ids map[T]uint32) uint32 {
	if i, ok := ids[v]; ok {
		return i
	}
	i := uint32(len(*list))
	*list = append(*list, v)
	if len(ids) < maxSharedTextsCount {
		ids[v] = i
	}
	return i
}
