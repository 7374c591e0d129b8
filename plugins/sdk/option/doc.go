// Package option declares the options of a plugin once. The declaration yields the JSON Schema for
// the host, the defaults, the validation of user input and the tables of the documentation. It is
// for authors of plugins in Go.
//
// The values are fields of a struct. The declaration binds each field to a name, a default, the
// allowed values and a description:
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
// The plugin's Info contains the schema, and Open reads the options:
//
//	Info: sdk.Info{Name: "mine", …, Options: declared.Schema()},
//
//	o, err := declared.Read(text)
//
// User input is checked twice: by the host against the schema, with the position in the experiment
// file, and by Read, for hosts that do not check. The plugin checks rules that involve several
// options after Read; [Wrong] creates the error.
//
// [Of] accepts any [Type]: lists, maps, objects with their own options, and combinations.
package option
