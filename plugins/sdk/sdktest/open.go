package sdktest

import (
	"testing"

	"github.com/tunehost/tunehost/plugins/sdk"
)

// Open opens the plugin with options, a JSON object. `tunehost plugins check` checks the plugin's
// description and options.
func Open(t testing.TB, p sdk.TrainablePlugin, options string) (sdk.Trainable, sdk.TrainableTraits) {
	t.Helper()
	trainable, traits, err := p.Open([]byte(options))
	if err != nil {
		t.Fatal(err)
	}
	return trainable, traits
}
