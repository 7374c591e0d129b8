//go:build race

package link

// raced: the race detector takes ten times as long.
const raced = true
