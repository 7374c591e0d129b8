package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/tunehost/tunehost/host/scaffold"
)

func (a *app) pluginsDocsCommand() *cobra.Command {
	to := ""
	cmd := &cobra.Command{
		Use:   "docs [NAME]",
		Short: "Print the documents for authors of plugins",
		Long: `Print a document for authors of plugins: how to write one, the SDK of a language, or the
protocol with its .proto files. Without NAME the command lists them. With --to it writes
them into a folder, at the places that their links name.`,
		Example:           "  tunehost plugins docs writing\n  tunehost plugins docs --to docs",
		Args:              wants(0, 1),
		ValidArgsFunction: cobra.FixedCompletions(documentNames(), cobra.ShellCompDirectiveNoFileComp),
		RunE: func(_ *cobra.Command, args []string) error {
			list := scaffold.Documents()
			if len(args) == 1 {
				d, err := scaffold.DocumentOf(args[0])
				if err != nil {
					return asUsage(err)
				}
				list = []scaffold.Document{d}
			}
			switch {
			case to != "":
				return a.writeDocuments(to, list)
			case len(args) == 0:
				a.listDocuments(list)
				return nil
			}
			return list[0].Each(a.printDocument)
		},
	}
	cmd.Flags().StringVar(&to, "to", "", "write into the folder `DIR`")
	return cmd
}

// documentNames are the names with what they are, for a shell.
func documentNames() (names []string) {
	for _, d := range scaffold.Documents() {
		names = append(names, d.Name+"\t"+d.What)
	}
	return names
}

func (a *app) listDocuments(list []scaffold.Document) {
	for _, d := range list {
		a.say("%-15s %s", d.Name, d.What)
	}
}

// printDocument prints a file of a document; of several files, each begins with its name.
func (a *app) printDocument(file string, content []byte) error {
	if proto, ok := strings.CutPrefix(file, "plugins/sdk/proto/"); ok {
		a.say("// %s", proto)
	}
	_, err := a.out.Write(content)
	return err
}

func (a *app) writeDocuments(to string, list []scaffold.Document) error {
	for _, d := range list {
		if err := d.WriteTo(to); err != nil {
			return asUsage(err)
		}
		a.say("%s/%s", to, d.Path)
	}
	return nil
}
