package commands

import (
	"context"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"merchantorders/internal/app"
)

// completeCommand prints what may follow on a command line. The completion
// scripts of the shells in packaging/completions call it, so they never differ
// from the program.
type completeCommand struct {
	alwaysValid
	callsService          // a wrong setting is no reason to print nothing
	Words        []string `arg:"" optional:"" help:"The words after the program's name, the last one as far as it is typed."`
}

// run prints each candidate with its meaning, separated by a tab.
func (c *completeCommand) run(_ context.Context, p *process) error {
	for _, candidate := range candidates(p.model, c.Words) {
		if _, err := p.stdout.Write([]byte(candidate + "\n")); err != nil {
			return err
		}
	}
	return nil
}

// candidates returns the commands and flags that can take the place of the last
// word. It returns none where a value or an argument is expected.
func candidates(node *kong.Node, words []string) []string {
	if len(words) == 0 {
		return nil
	}
	last := len(words) - 1
	valueFollows := false
	for _, word := range words[:last] {
		switch {
		case valueFollows:
			valueFollows = false
		case strings.HasPrefix(word, "-"):
			valueFollows = slices.ContainsFunc(visibleFlags(node), func(f *kong.Flag) bool { return "--"+f.Name == word && !f.IsBool() })
		default:
			if at := slices.IndexFunc(node.Children, func(child *kong.Node) bool { return child.Name == word }); at >= 0 {
				node = node.Children[at]
			}
		}
	}
	var found []string
	add := func(word, help string) {
		if !valueFollows && strings.HasPrefix(word, words[last]) {
			found = append(found, word+"\t"+app.OneLine(help))
		}
	}
	if strings.HasPrefix(words[last], "-") {
		for _, flag := range visibleFlags(node) {
			add("--"+flag.Name, flag.Help)
		}
		return found
	}
	for _, child := range node.Children {
		if !child.Hidden {
			add(child.Name, child.Help)
		}
	}
	return found
}

// visibleFlags returns the visible flags of a command. Commands that call a service
// ignore the settings.
func visibleFlags(node *kong.Node) []*kong.Flag {
	ignored := false
	for n := node; n != nil; n = n.Parent {
		ignored = ignored || isRemote(n.Target.Addr().Interface())
	}
	return slices.DeleteFunc(slices.Concat(node.AllFlags(true)...), func(f *kong.Flag) bool { return ignored && isSetting(f) })
}

// isSetting reports whether a flag is a setting of every command.
func isSetting(flag *kong.Flag) bool { return flag.Group != nil && flag.Group.Key == settingsGroup }
