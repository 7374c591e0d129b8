//go:build race

package sandboxtest

const racing = true
