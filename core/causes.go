package core

// causes keeps why trials ended, were paused or wait, so that a trial's row holds two numbers for it.
// Causes that many trials share are kept once. A cause with only a text costs no more than the text: a
// scheduler's reasons contain numbers, and each is different.
type causes struct {
	texts   slab[string]
	textIDs map[string]uint32
	rest    slab[Cause] // with other fields
	restIDs map[Cause]uint32
}

// inRest marks an index into causes.rest.
const inRest = 1 << 31

func newCauses() causes {
	x := causes{textIDs: map[string]uint32{}, restIDs: map[Cause]uint32{}}
	x.texts.add("")
	return x
}

// setCause sets the cause of a trial's state.
func (m *Machine) setCause(t *trial, why Cause) {
	t.why, t.reason = why.Kind, m.causes.keep(why)
}

func (m *Machine) causeOf(t *trial) Cause {
	if t.reason >= inRest {
		return *m.causes.rest.at(t.reason - inRest)
	}
	return Cause{Kind: t.why, Text: *m.causes.texts.at(t.reason)}
}

func (x *causes) keep(c Cause) uint32 {
	if c == (Cause{Kind: c.Kind}) {
		return 0
	}
	if c == (Cause{Kind: c.Kind, Text: c.Text}) {
		return index(c.Text, &x.texts, x.textIDs)
	}
	return inRest + index(c, &x.rest, x.restIDs)
}

// index finds or appends a value. It looks only for the first ones: to look for each would cost more
// than it saves.
func index[T comparable](v T, list *slab[T], ids map[T]uint32) uint32 {
	if i, ok := ids[v]; ok {
		return i
	}
	i := uint32(list.len)
	list.add(v)
	if len(ids) < maxSharedTextsCount {
		ids[v] = i
	}
	return i
}
