package sdktest

import (
	"testing"

	"github.com/tunehost/tunehost/plugins/sdk"
)

// Open opens the plugin with options, a JSON object. Whether what it says of itself and of
// its options is what a plugin must say is checked by `tunehost plugins check`.
func Open(t testing.TB, p sdk.TrainablePlugin, options string) (sdk.Trainable, sdk.TrainableTraits) {
	t.Helper()
	trainable, traits, err := p.Open([]byte(options))
	if err != nil {
		t.Fatal(err)
	}
	return trainable, traits
}
