//go:build !linux

package quick

import "net"

// Conn returns c: only Linux has system calls that can be used without the runtime.
func Conn(c net.Conn) net.Conn { return c }

// Own returns c.
func Own(c net.Conn) net.Conn { return c }
