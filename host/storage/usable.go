package storage

import (
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/tunehost/tunehost/host/usererror"
)

// Usable refuses a directory in which another user could change what runs, unless trustOthers
// is set.
func (d Dir) Usable(trustOthers bool) error {
	if err := d.Look(); err != nil {
		return Unusable(err)
	}
	return trusted(d.CheckOwnership(), trustOthers)
}

// StoreUsable is Usable for the copy of an experiment in a shared directory, which says what runs where it is resumed.
// doubts are warnings about one that the user trusts.
func (d Dir) StoreUsable(trustOthers bool) (doubts []string, err error) {
	if err := d.Look(); err != nil {
		return nil, Unusable(err)
	}
	if lacksModes(d.path) {
		return nil, nil
	}
	if err = d.sharedStore(); err != nil {
		doubts = []string{err.Error()}
	}
	return doubts, trusted(err, trustOthers)
}

// trusted returns an error of CheckOwnership as a mistake of the user, or nil if the user trusts others.
func trusted(err error, trustOthers bool) error {
	var place *PlaceError
	if errors.As(err, &place) {
		return Unusable(err)
	}
	if err != nil && !trustOthers {
		return usererror.Errorf("%w; where that is meant to be, add --trust-dir", err)
	}
	return nil
}

// CheckText returns a [*PlaceError] for a path that is not UTF-8: programs, plugins and run.json could not be told it.
func CheckText(path string) error {
	if utf8.ValidString(path) {
		return nil
	}
	return &PlaceError{Text: fmt.Sprintf("%q: this path is not UTF-8, in which programs are told paths", path),
		Do: "give its folders other names, or work in another folder"}
}

// Unusable turns an error about the directory of an experiment into a mistake of the user, with advice.
// It returns nil for nil.
func Unusable(err error) error {
	var place *PlaceError
	if errors.As(err, &place) && place.Do == "" {
		err = fmt.Errorf("%w; choose another with --storage", err)
	}
	return usererror.Wrap(err)
}
