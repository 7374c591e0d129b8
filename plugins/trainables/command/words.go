package command

import "github.com/tunehost/tunehost/plugins/trainables/command/argv"

// Words returns the program and its arguments as a trial with these parameters, a JSON object, runs them. names
// are those of all parameters. Names of files in the command are relative to base; paramsPath is the path of
// the trial's params.json.
func Words(line []string, base string, names []string, object []byte, paramsPath string) ([]string, error) {
	values, err := parseParams(object)
	if err != nil {
		return nil, err
	}
	p := &program{o: &options{BaseDir: base, Parameters: &names}}
	if p.command, err = argv.Command(line, base, p.o.known()); err != nil {
		return nil, err
	}
	return p.arguments(values, paramsPath)
}

// Variables returns the variables that a trial with these parameters, a JSON object, gets for each of them, as
// NAME=VALUE.
func Variables(object []byte) ([]string, error) {
	values, err := parseParams(object)
	if err != nil {
		return nil, err
	}
	env, _ := values.environ()
	return env, nil
}
