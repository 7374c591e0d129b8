package objective

import "github.com/tunehost/tunehost/plugins/sdk/option"

// Option declares the option of schedulers that compare trials; [Choose] reads it.
func Option(into *string) option.Option {
	return option.String("objective", into, "",
		"The metric that is compared; needed when there are several objectives.")
}
