// Package option declares the options of a plugin, once. The JSON Schema for the host, the
// defaults, the check of what users write and the tables of the documentation all come
// from the declaration. It is for authors of plugins in Go.
//
// The values are fields of a struct. The declaration binds each field to a name, a default,
// the values that are allowed and a sentence for users:
//
//	type options struct {
//		Startup int
//		Step    float64
//		Mode    string
//		Ignored []string
//	}
//
//	var declared = option.Declare(func(o *options) []option.Option {
//		return []option.Option{
//			option.Int("startup", &o.Startup, 10, option.From(1),
//				"How many points are random before the first step."),
//			option.Float("step", &o.Step, 0.1, option.Above(0).To(1),
//				"The standard deviation of a step, as a share of a parameter's range."),
//			option.Enum("mode", &o.Mode, "fast", "How the model is made: fast or exact.", "fast", "exact"),
//			option.Of("ignored", &o.Ignored, nil, option.List(option.Text()),
//				"Names of parameters that the model leaves out."),
//		}
//	})
//
// The plugin's Info has the schema, and Open reads the options:
//
//	Info: sdk.Info{Name: "mine", …, Options: declared.Schema()},
//
//	o, err := declared.Read(text)
//
// What users write is checked twice: by the host against the schema, with the place in the
// experiment file, and by Read, for hosts that do not. A rule that involves several options
// is the plugin's own code after Read; [Wrong] makes its error.
//
// [Of] takes any [Type]: lists, maps, objects with options of their own, and combinations.
package option
