package config

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tunehost/tunehost/internal/lazily"
)

// call is an expression of a programming language that was pasted as a value, such as tune.uniform(0,
// 1).
type call struct {
	prefix, name string
	args         []string
	named        map[string]string
}

var (
	callForm  = lazily.Regexp(`^\s*((?:[A-Za-z_]\w*\.)*)([A-Za-z_]\w*)\s*\((.*)$`)
	callInner = lazily.Regexp(`(?:[A-Za-z_]\w*\.)*[A-Za-z_]\w*\(`)
	namedArg  = lazily.Regexp(`^([A-Za-z_]\w*)\s*=\s*(.*)$`)
	logOf     = lazily.Regexp(`^(?:np|numpy|math)\.log\((.*)\)$`)
	power     = lazily.Regexp(`^(-?[0-9.]+)\s*\*\*\s*(-?[0-9]+)$`)
)

// tuners are modules and objects whose functions all make parameters.
var tuners = []string{"tune", "hp", "trial", "optuna", "hyperopt"}

// parseCall reads a text as a call that makes a parameter; nil where it is none.
func parseCall(text string) *call {
	m := callForm().FindStringSubmatch(text)
	if m == nil {
		if strings.HasPrefix(strings.TrimSpace(text), "lambda ") ||
			strings.HasPrefix(strings.TrimSpace(text), "lambda:") {
			return &call{name: "sample_from"}
		}
		return nil
	}
	c := &call{prefix: strings.TrimSuffix(m[1], "."), name: m[2], named: map[string]string{}}
	first, _, _ := strings.Cut(c.prefix, ".")
	if spelling(c.name) == "" && !slices.Contains(tuners, first) {
		return nil
	}
	for _, a := range arguments(m[3]) {
		if k := namedArg().FindStringSubmatch(a); k != nil {
			c.named[k[1]] = k[2]
		} else {
			c.args = append(c.args, a)
		}
	}
	if len(c.args) > 0 && isLabel(c.args[0]) && (strings.HasPrefix(c.name, "suggest_") ||
		strings.HasSuffix(c.prefix, "hp")) {
		c.args = c.args[1:]
	}
	return c
}

func isLabel(arg string) bool { return arg[0] == '"' || arg[0] == '\'' }

// arguments splits at the commas outside of brackets and quotes.
func arguments(text string) (args []string) {
	depth, start, quoted := 0, 0, byte(0)
	add := func(end int) {
		if a := strings.TrimSpace(text[start:end]); a != "" {
			args = append(args, a)
		}
		start = end + 1
	}
	for i := range len(text) {
		switch c := text[i]; {
		case quoted != 0:
			if c == quoted {
				quoted = 0
			}
		case c == '"' || c == '\'':
			quoted = c
		case strings.IndexByte("([{", c) >= 0:
			depth++
		case depth > 0 && strings.IndexByte(")]}", c) >= 0:
			depth--
		case c == ')':
			add(i)
			return args
		case c == ',' && depth == 0:
			add(i)
		}
	}
	add(len(text))
	return args
}

// spellings maps each form to its names in other tuners and libraries.
var spellings = map[string]string{
	"uniform": "uniform suggest_float suggest_uniform floatdistribution uniformdistribution uniformfloat " +
		"uniformfloathyperparameter " +
		"float double real range uniform_float quniform q_uniform suggest_discrete_uniform " +
		"discreteuniformdistribution float_range",
	"loguniform": "loguniform suggest_loguniform loguniformdistribution log_uniform log_uniform_values qloguniform " +
		"q_log_uniform " +
		"q_log_uniform_values reciprocal log double_log",
	"int": "int integer randint lograndint qrandint qlograndint suggest_int intdistribution intuniformdistribution " +
		"int_uniform " +
		"uniform_int uniformint uniforminteger uniformintegerhyperparameter integerdistribution int_range randrange",
	"normal": "normal randn qrandn qnormal gauss normalvariate q_normal norm normal_float normalfloat",
	"choice": "choice choices pchoice suggest_categorical categoricaldistribution categorical " +
		"categoricalhyperparameter discrete " +
		"sample_choice random_choice fixed_choice",
	"ordinal": "ordinal ordinalhyperparameter",
	"grid":    "grid_search gridsearch grid linspace logspace geomspace arange",
	"sample":  "sample_from",
	"value":   "const constant fixed single_value",
}

// spelling returns the form that a foreign name stands for, or "".
func spelling(name string) string {
	name = strings.ToLower(name)
	for form, names := range spellings {
		if slices.Contains(strings.Fields(names), name) {
			return form
		}
	}
	return ""
}

// instead returns how an experiment file says what c says, in a valid spelling.
func (c *call) instead() string { return validForm(c.meant()) }

func (c *call) meant() string {
	form := spelling(c.name)
	switch form {
	case "":
		return "{uniform: [a, b]}, {int: [a, b]}, {choice: [...]} or another form"
	case "sample":
		return "{sample: EXPR}"
	case "choice", "ordinal", "grid":
		return c.list(form)
	}
	if form == "uniform" && strings.EqualFold(c.named["log"], "true") {
		form = "loguniform"
	}
	return c.interval(form)
}

func (c *call) list(form string) string {
	if len(c.args) > 0 && strings.HasPrefix(c.args[0], "[") && strings.HasSuffix(c.args[0], "]") &&
		!callInner().MatchString(c.args[0]) {
		return "{" + form + ": " + c.args[0] + "}"
	}
	return "{" + form + ": [...]}"
}

// interval writes a form of two numbers with the numbers of the call, where these are known.
func (c *call) interval(form string) string {
	bounds := c.bounds(form)
	text := "{" + form + ": " + bounds
	if strings.HasPrefix(c.name, "log") && form == "int" || form == "int" && strings.EqualFold(c.named["log"], "true") {
		text += ", log: true"
	}
	step := c.named["step"] + c.named["q"]
	if strings.HasPrefix(strings.ToLower(c.name), "q") && len(c.args) > 2 {
		step = c.args[2]
	}
	if _, ok := literal(step); ok {
		text += ", step: " + step
	}
	return text + "}"
}

func (c *call) bounds(form string) string {
	general := "[a, b]"
	if form == "normal" {
		general = "[mean, sd]"
	}
	args := c.args
	if low, high := c.named["low"], c.named["high"]; low != "" && high != "" {
		args = []string{low, high}
	}
	if len(args) < 2 {
		return general
	}
	var out []string
	for i, a := range args[:2] {
		text, ok := c.bound(form, a, i == 1)
		if !ok {
			return general
		}
		out = append(out, text)
	}
	return "[" + strings.Join(out, ", ") + "]"
}

// bound converts an argument to a bound: hyperopt's logarithmic bounds are logarithms, and the upper
// bound of randint is exclusive.
func (c *call) bound(form, arg string, upper bool) (string, bool) {
	if m := logOf().FindStringSubmatch(arg); m != nil && form == "loguniform" {
		_, ok := literal(m[1])
		return m[1], ok
	}
	x, ok := literal(arg)
	switch {
	case ok && form == "loguniform" && strings.HasSuffix(c.prefix, "hp"):
		return strconv.FormatFloat(math.Exp(x), 'g', 4, 64), true
	case ok && upper && (c.name == "randint" || c.name == "randrange") && c.prefix != "random" || ok && upper &&
		c.name == "lograndint":
		return strconv.FormatFloat(x-1, 'g', -1, 64), true
	case ok && power().MatchString(arg):
		return strconv.FormatFloat(x, 'g', -1, 64), true
	}
	return arg, ok
}

// literal reads a number as programs write it.
func literal(text string) (float64, bool) {
	if m := power().FindStringSubmatch(text); m != nil {
		base, err1 := strconv.ParseFloat(m[1], 64)
		exponent, err2 := strconv.ParseFloat(m[2], 64)
		return math.Pow(base, exponent), err1 == nil && err2 == nil
	}
	x, err := strconv.ParseFloat(text, 64)
	return x, err == nil && numberPattern().MatchString(text)
}

// Keys by which other tuners describe a parameter.
var (
	kindKeys  = strings.Fields("distribution type _type parameterType parameter_type class_name name")
	nestKeys  = strings.Fields("feasibleSpace feasible_space attributes config")
	lowKeys   = strings.Fields("min low lower minval min_value MinValue lower_bound")
	highKeys  = strings.Fields("max high upper maxval max_value MaxValue upper_bound")
	valueKeys = strings.Fields("values _value choices vals list categories bounds range sequence")
	otherKeys = strings.Fields("q step log log_scale scale sampling mu sigma mean sd std probabilities ordered base " +
		"default value val when " +
		"value_type is_ordered sort_values")
)

// described returns the form that a map such as {type: loguniform, min: 1e-4, max: 1} means; "" where
// the map is not from another tuner.
func described(n *node) string {
	kind := ""
	for _, e := range n.keys {
		switch {
		case slices.Contains(nestKeys, e.name) && e.value.kind == mapKind:
		case e.value.kind == mapKind:
			return ""
		case slices.Contains(kindKeys, e.name) && e.value.kind == textKind && (e.name != "name" || kind == ""):
			kind = spelling(e.value.text)
		case !slices.Contains(slices.Concat(lowKeys, highKeys, valueKeys, otherKeys), e.name):
			return ""
		}
	}
	if kind == "" || len(n.keys) < 2 {
		return ""
	}
	return describedAs(kind, n)
}

func describedAs(form string, n *node) string { return validForm(meantAs(form, n)) }

func meantAs(form string, n *node) string {
	find := func(names []string) *node { return findIn(n, names) }
	low, high, values := find(lowKeys), find(highKeys), find(valueKeys)
	log := find(strings.Fields("log log_scale"))
	if form == "uniform" && log != nil && log.text == "true" {
		form = "loguniform"
	}
	switch {
	case form == "value":
		return "{value: X}"
	case form == "sample":
		return "{sample: EXPR}"
	case values != nil && values.kind == listKind:
		return "{" + form + ": " + flowList(values) + "}"
	case form == "choice" || form == "ordinal" || form == "grid":
		return "{" + form + ": [...]}"
	case low != nil && high != nil && low.kind == numberKind && high.kind == numberKind:
		return "{" + form + ": [" + low.text + ", " + high.text + "]}"
	case form == "normal":
		return "{normal: [mean, sd]}"
	}
	return "{" + form + ": [a, b]}"
}

// generalForms are the suggestions used when the written values are not valid in the form.
var generalForms = map[string]string{
	"uniform": "{uniform: [a, b]} with a below b", "loguniform": "{loguniform: [a, b]} with a above 0 and below b",
	"int": "{int: [a, b]} with whole numbers, a below b", "normal": "{normal: [mean, sd]} with sd above 0",
	"choice": "{choice: [...]}", "ordinal": "{ordinal: [...]}", "grid": "{grid: [...]}", "value": "{value: X}",
}

var (
	suggestedForm = lazily.Regexp(`^\{([a-z]+): `)
	placeholders  = lazily.Regexp(`\[a, b\]|\[mean, sd\]|\[\.\.\.\]|EXPR|\bX\b`)
)

// validForm returns a suggested parameter, or the general example of its form where a file with it
// would be refused.
func validForm(text string) string {
	m := suggestedForm().FindStringSubmatch(text)
	if m == nil || placeholders().MatchString(text) {
		return text
	}
	file := "version: 1\nobjective: {metric: m, mode: max}\nspace: {x: " + text + "}\n"
	if _, err := Parse("", []byte(file), WithoutTrainable()); err != nil {
		return generalForms[m[1]]
	}
	return text
}

// findIn returns the value of the first of the names that is a key of n or of a map in it.
func findIn(n *node, names []string) *node {
	for _, e := range n.keys {
		if slices.Contains(names, e.name) {
			return e.value
		}
		if e.value.kind == mapKind {
			if found := findIn(e.value, names); found != nil {
				return found
			}
		}
	}
	return nil
}

// flowList writes a list for messages.
func flowList(n *node) string {
	const room = 60
	var parts []string
	length := 0
	for _, item := range n.items {
		text := item.text
		if item.kind >= listKind || item.kind == textKind && !plainText().MatchString(text) {
			text = string(item.json())
		}
		if length += len(text) + 2; length > room {
			return "[...]"
		}
		parts = append(parts, text)
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

var plainText = lazily.Regexp(`^[A-Za-z_][A-Za-z0-9_ -]*$`)

// lossWords are parts of the names of metrics where less is better.
var lossWords = strings.Fields("loss losses err error errors rmse mse mae mape nll perplexity ppl cost regret " +
	"wer cer " +
	"fid divergence " +
	"latency seconds duration misclassification")

// isLoss reports whether the name of a metric says that less is better.
func isLoss(metric string) bool {
	words := strings.FieldsFunc(strings.ToLower(metric),
		func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') })
	return slices.ContainsFunc(words, func(w string) bool { return slices.Contains(lossWords, w) })
}
