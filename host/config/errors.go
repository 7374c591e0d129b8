package config

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tunehost/tunehost/host/config/expr"
	"github.com/tunehost/tunehost/internal/lazily"
)

// Pos is a place in an experiment file, or in an argument of the command line.
type Pos struct {
	// File is the name of the file, or an argument such as "--set trials=x".
	File string
	// Line and Column count from 1; columns count characters. Line 0 means the whole file.
	Line, Column int
}

func (p Pos) String() string {
	if p.Line == 0 {
		return p.File
	}
	return p.File + ":" + strconv.Itoa(p.Line) + ":" + strconv.Itoa(p.Column)
}

// written reports whether a user wrote it, in a file or as an argument; defaults have other places.
func (p Pos) written() bool { return p.Line > 0 || !p.InFile() }

// InFile reports whether the place is in a file, not in an argument.
func (p Pos) InFile() bool { return !flagPlace().MatchString(p.File) }

// flagPlace matches the place of a value that a command-line flag gives.
var flagPlace = lazily.Regexp(`^--(set|name|storage) `)

// setPrefix begins the place of a value given with --set.
const setPrefix = "--set "

// Error is one mistake.
type Error struct {
	Pos Pos
	// Msg is one line: what was found and what was expected.
	Msg string
}

func (e *Error) Error() string { return e.Pos.String() + ": " + e.Msg }

// At gives an error a place in a file, unless it has one.
func At(pos Pos, err error) error {
	if err == nil || hasPlace(err) {
		return err
	}
	return &Error{Pos: pos, Msg: err.Error()}
}

// placed is an error with a place, and with the cause that others ask for.
type placed struct {
	pos Pos
	err error
}

func (e *placed) Error() string { return e.pos.String() + ": " + e.err.Error() }

func (e *placed) Unwrap() error { return e.err }

// hasPlace reports whether an error says where it is.
func hasPlace(err error) bool {
	var many Errors
	_, one := errors.AsType[*Error](err)
	_, at := errors.AsType[*placed](err)
	return one || at || errors.As(err, &many)
}

// Fault is the error of a point: one with a place of its own, such as that of a computed parameter, says which point it
// is about.
func (p *Point) Fault(err error) error {
	switch {
	case err == nil:
		return nil
	case hasPlace(err):
		return fmt.Errorf("%w (the point is at %s)", err, p.Pos)
	}
	return &placed{p.Pos, err}
}

// Errors holds all mistakes of a file, sorted by place.
type Errors []*Error

func (e Errors) Error() string {
	lines := make([]string, len(e))
	for i, one := range e {
		lines[i] = one.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap gives errors.As and errors.Is access to each mistake.
func (e Errors) Unwrap() []error {
	list := make([]error, len(e))
	for i, one := range e {
		list[i] = one
	}
	return list
}

// maxErrors limits the reported mistakes of one file.
const maxErrors = 100

// problems collects mistakes and warnings.
type problems struct {
	errs     Errors
	warnings Errors
	settled  map[Pos]bool // places whose mistake says it all
	// mapsInLists: `a:b` in a list within braces is a map, as it was before colonReading.
	mapsInLists bool
	// unbounded: whole numbers are of any size, and names of metrics any text, as they were before boundReading.
	unbounded bool
}

// settle reports a mistake in a value; what else the value is not is no further mistake.
func (p *problems) settle(at Pos, format string, args ...any) {
	p.fail(at, format, args...)
	if p.settled == nil {
		p.settled = map[Pos]bool{}
	}
	p.settled[at] = true
}

func (p *problems) fail(at Pos, format string, args ...any) {
	if p.settled[at] {
		return
	}
	p.errs = append(p.errs, &Error{at, oneLine(fmt.Sprintf(format, args...))})
}

func (p *problems) warn(at Pos, format string, args ...any) {
	p.warnings = append(p.warnings, &Error{at, oneLine(fmt.Sprintf(format, args...))})
}

// err returns the mistakes, sorted and without repetitions; nil if there are none.
func (p *problems) err() error {
	list := p.errs.tidy()
	if len(list) == 0 {
		return nil
	}
	if extra := len(list) - maxErrors; extra > 0 {
		last := &Error{Pos{File: list[0].Pos.File}, fmt.Sprintf("and %d more mistakes", extra)}
		list = append(list[:maxErrors:maxErrors], last)
	}
	return list
}

func (e Errors) tidy() Errors {
	slices.SortStableFunc(e, compareErrors)
	return slices.CompactFunc(e, func(a, b *Error) bool { return *a == *b })
}

func compareErrors(a, b *Error) int {
	return cmp.Or(cmp.Compare(a.Pos.File, b.Pos.File), cmp.Compare(a.Pos.Line, b.Pos.Line),
		cmp.Compare(a.Pos.Column, b.Pos.Column), cmp.Compare(a.Msg, b.Msg))
}

func oneLine(s string) string { return strings.ReplaceAll(strings.TrimSpace(s), "\n", " ") }

// quote shows text that a user wrote, shortened if it is long.
func quote(text string) string { return expr.Quote(text) }
