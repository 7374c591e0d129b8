package main

import (
	"fmt"
	"io"
)

// output remembers the first error of a writer, so that a command fails if its output is lost.
type output struct {
	to  io.Writer
	err error
}

// Write implements io.Writer.
func (o *output) Write(b []byte) (int, error) {
	n, err := o.to.Write(b)
	if o.err == nil {
		o.err = err
	}
	return n, err
}

// lost returns the error for output that could not be written; nil if all of it was written.
func (o *output) lost() error {
	if o.err == nil {
		return nil
	}
	return fmt.Errorf("the output cannot be written: %w", o.err)
}
