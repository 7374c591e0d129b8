package main

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tunehost/tunehost/host/nearest"
	"github.com/tunehost/tunehost/host/plot"
	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/host/view"
)

func (a *app) plotCommand() *cobra.Command {
	var o plot.Options
	var file string
	var here bool
	cmd := &cobra.Command{
		Use:   "plot DIR... KIND",
		Short: "Draw an experiment as SVG, PNG, PDF or in the terminal",
		Long: `Draw an experiment. With -o the plot is written to a file, whose ending says whether it
is SVG, PNG or PDF. Only you can read a new file (mode 0600). A plain file of yours is replaced and
keeps its mode; a link, or a file of another user, is refused. Otherwise it is drawn in the terminal. The kinds:

` + kindLines() + `
history and edf compare several experiments. The values are those of the (first) objective.
Failed trials are left out, and the plot says how many; history marks them, because their
values count for the best.`,
		Example: `  tunehost plot results/digits history
  tunehost plot results/digits slice -o slice.svg --params lr,model/layers
  tunehost plot results/digits results/other history -o both.png`,
		Args: wants(2, -1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("top") && o.Top == 0 {
				return usage("plot: --top is 0; it must be 1 or more")
			}
			return a.plot(args[:len(args)-1], args[len(args)-1], o, file, here)
		},
	}
	flags := cmd.Flags()
	flags.StringVarP(&file, "output", "o", "", "write to `FILE`, which ends in .svg, .png or .pdf")
	flags.StringVar(&o.Metric, "metric", "", "use `METRIC` instead of the (first) objective")
	flags.StringVar(&o.Mode, "mode", "", "`MODE`: min or max; a metric that is not an objective needs it")
	flags.StringSliceVar(&o.Params, "params", nil, "the parameters, `NAME,NAME,…`, of parallel, slice and contour")
	flags.IntVar(&o.Top, "top", 0, "only the best `N` trials in curves, parallel, slice and contour")
	flags.BoolVar(&here, "terminal", false, "draw with characters, even if the output is not a terminal")
	return cmd
}

func kindLines() (text string) {
	for _, k := range plot.Kinds {
		text += fmt.Sprintf("  %-11s %s\n", k.Name, k.About)
	}
	return text
}

func (a *app) plot(dirs []string, kind string, o plot.Options, file string, here bool) error {
	k, err := plot.Find(kind, len(dirs), o)
	if err != nil {
		return err
	}
	if file != "" && here {
		return usage("plot: -o and --terminal: choose one of them")
	}
	format, out, err := plotFile(file)
	if err != nil {
		return err
	}
	return a.withAll(dirs, nil, func(list []*view.Recorded) error {
		a.noteMode(list[0], o.Metric, o.Mode)
		p, err := k.Draw(list, o)
		switch {
		case err != nil:
			return err
		case out != nil:
			return a.writePlot(p, format, out)
		case !here && !a.terminal(): // last, because the user may have mistaken more than this
			return usage("plot: the output is not a terminal: use -o FILE, as in -o %s.svg, or --terminal", k.Name)
		}
		return a.drawn(p)
	})
}

// plotFile returns the file that -o names, with its format; nil without one.
func plotFile(file string) (format string, out *storage.Output, err error) {
	if format, err = formatOf(file); err != nil || file == "" {
		return "", nil, err
	}
	out, err = storage.FindOutput(file)
	return format, out, err
}

func (a *app) writePlot(p *plot.Plot, format string, out *storage.Output) error {
	b, err := p.File(format)
	if err != nil {
		return err
	}
	if err = out.Write(b); err == nil {
		a.say("wrote %s", out.Name())
	}
	return err
}

// withAll is with for several experiments.
func (a *app) withAll(dirs []string, opened []*view.Recorded, f func([]*view.Recorded) error) error {
	if len(dirs) == 0 {
		return f(opened)
	}
	return a.with(dirs[0], func(e *view.Recorded) error { return a.withAll(dirs[1:], append(opened, e), f) })
}

// formatOf returns the format of a file by its ending; "" without a file.
func formatOf(file string) (string, error) {
	if file == "" {
		return "", nil
	}
	format := strings.ToLower(strings.TrimPrefix(filepath.Ext(file), "."))
	if !slices.Contains(plot.Formats, format) {
		return "", usage("plot: -o %s: the ending must be .%s%s", file, strings.Join(plot.Formats, ", ."),
			nearest.Hint(format, plot.Formats))
	}
	return format, nil
}

// drawn writes a plot for the terminal. Package plot has escaped the names in it; the output is not escaped again,
// because of the colours.
func (a *app) drawn(p *plot.Plot) error {
	width := a.width()
	colours := width > 0 && a.env["NO_COLOR"] == "" && a.env["TERM"] != "dumb"
	if width == 0 {
		width = 80
	}
	_, err := io.WriteString(a.kept, p.Terminal(width, colours))
	return err
}
