package config

import "strings"

// noNUL refuses a value that no program can get: arguments and variables end at a NUL character.
func (b *builder) noNUL(n *node) {
	command := b.root.get("trainable").get("command")
	if b.strict && command != nil && n.kind == textKind && strings.Contains(n.text, "\x00") {
		b.fail(n.pos, "found %s, which has a NUL character: no program can get it as an argument or a variable",
			n.describe())
	}
}

// programTexts checks what the command and its variables hold themselves.
func (b *builder) programTexts(trainable *node) {
	if command := trainable.get("command"); command != nil {
		for _, n := range command.items {
			b.noNUL(n)
		}
	}
	if env := trainable.get("env"); env != nil {
		for _, e := range env.keys {
			b.noNUL(e.value)
		}
	}
}
