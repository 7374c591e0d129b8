//go:build !race

package sandboxtest

const racing = false
