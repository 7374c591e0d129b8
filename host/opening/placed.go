package opening

import (
	"errors"
	"fmt"

	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/plugin"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// title is how errors name a plugin.
func title(kind sdk.Kind, ref config.PluginRef) string { return fmt.Sprintf("%s %q", kind, ref.Name) }

// placedError is a failure of a plugin, with the place in the file where the plugin is named.
type placedError struct {
	at  config.Pos
	err error
}

func (e *placedError) Error() string { return e.at.String() + ": " + e.err.Error() }

// Unwrap returns the failure.
func (e *placedError) Unwrap() error { return e.err }

// Placed adds to the failure of a plugin the place in the file where the plugin is named, once.
func Placed(ref config.PluginRef, err error) error {
	if _, already := errors.AsType[*placedError](err); already || plugin.FailureOf(err) == 0 {
		return err
	}
	return &placedError{ref.Pos, err}
}

// refused is Placed for refusals only: other failures are tried again, and placed if that does not help.
func refused(ref config.PluginRef, err error) error {
	if plugin.FailureOf(err) == plugin.Refused {
		return Placed(ref, err)
	}
	return err
}

// placedIn returns Placed for the plugin, one of several, that has failed.
func placedIn(kind sdk.Kind, refs ...config.PluginRef) func(error) error {
	return func(err error) error {
		e, _ := errors.AsType[*plugin.Error](err)
		for _, ref := range refs {
			if e != nil && e.Plugin == title(kind, ref) {
				return Placed(ref, err)
			}
		}
		return err
	}
}
