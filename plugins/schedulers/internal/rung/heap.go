package rung

// The two heaps are implemented here because container/heap would box each entry.

// worstFirst has its worst entry at index 0.
type worstFirst []entry

func (h *worstFirst) push(e entry) {
	s := append(*h, e)
	i := len(s) - 1
	for i > 0 && s[(i-1)/2].before(e) {
		s[i] = s[(i-1)/2]
		i = (i - 1) / 2
	}
	s[i] = e
	*h = s
}

// replace replaces the first entry by e and returns the old one.
func (h worstFirst) replace(e entry) entry {
	first, i := h[0], 0
	for c := 1; c < len(h); c = 2*i + 1 {
		if c+1 < len(h) && h[c].before(h[c+1]) {
			c++
		}
		if !e.before(h[c]) {
			break
		}
		h[i], i = h[c], c
	}
	h[i] = e
	return first
}

// bestFirst has its best entry at index 0.
type bestFirst []entry

func (h *bestFirst) push(e entry) {
	s := append(*h, e)
	i := len(s) - 1
	for i > 0 && e.before(s[(i-1)/2]) {
		s[i] = s[(i-1)/2]
		i = (i - 1) / 2
	}
	s[i] = e
	*h = s
}

// replace replaces the first entry by e and returns the old one.
func (h bestFirst) replace(e entry) entry {
	first, i := h[0], 0
	for c := 1; c < len(h); c = 2*i + 1 {
		if c+1 < len(h) && h[c+1].before(h[c]) {
			c++
		}
		if !h[c].before(e) {
			break
		}
		h[i], i = h[c], c
	}
	h[i] = e
	return first
}
