package commands

import (
	"errors"
	"net/url"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"merchantorders/internal/config"
)

// flagsOf returns the flags of all commands.
func flagsOf(program *kong.Application) []config.Flag {
	var flags []config.Flag
	seen := make(map[string]bool)
	for _, leaf := range program.Leaves(false) {
		for _, group := range leaf.AllFlags(false) {
			for _, flag := range group {
				if flag.Name != "help" && !seen[flag.Name] {
					seen[flag.Name] = true
					flags = append(flags, describe(flag))
				}
			}
		}
	}
	return flags
}

func describe(flag *kong.Flag) config.Flag {
	return config.Flag{Name: flag.Name, Secret: flag.Tag.Has("secret"), Bool: flag.IsBool()}
}

// resolver gives flags that are not on the command line the values of other
// sources. It collects the faults of these sources, so that all are reported.
type resolver struct {
	sources *config.Sources
	faults  []error
	failed  []string // flags that have a fault
	opened  bool     // the settings file is read, if there is one
}

// Validate implements kong.Resolver.
func (*resolver) Validate(*kong.Application) error { return nil }

// Resolve implements kong.Resolver.
func (r *resolver) Resolve(parsed *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
	r.openFile(parsed)
	if flag.Name == "help" || ignores(parsed, flag) {
		return nil, nil
	}
	value, found, err := r.sources.Lookup(describe(flag))
	if err != nil {
		r.faults, r.failed = append(r.faults, err), append(r.failed, flag.Name)
	}
	if !found {
		return nil, nil
	}
	return value, nil
}

// others returns the faults in err without those of flags whose value could not be
// read: that a required value is missing adds nothing.
func (r *resolver) others(err error) error {
	switch e := any(err).(type) {
	case *config.Error:
		if slices.Contains(r.failed, e.Flag) {
			return nil
		}
	case interface{ Unwrap() []error }:
		var kept []error
		for _, inner := range e.Unwrap() {
			kept = append(kept, r.others(inner))
		}
		return errors.Join(kept...)
	}
	return err
}

// openFile reads the settings file before the first flag needs it.
func (r *resolver) openFile(parsed *kong.Context) {
	if r.opened {
		return
	}
	r.opened = true
	path := r.sources.Variable(config.Variable("config"))
	for _, flag := range parsed.Flags() {
		if flag.Name != "config" {
			continue
		}
		if given, ok := parsed.FlagValue(flag).(string); ok && given != "" {
			path = given
		}
	}
	if path != "" {
		r.faults = append(r.faults, r.sources.ReadFile(path))
	}
}

// ignores reports whether the command has no use for a setting: those that call a
// service ignore the settings of the data folder.
func ignores(parsed *kong.Context, flag *kong.Flag) bool {
	selected := parsed.Selected()
	return selected != nil && isRemote(selected.Target.Addr().Interface()) && isSetting(flag)
}

// shownSecrets returns a warning for each secret among the flags of the command
// line, which every user of the machine can see in the process list.
func shownSecrets(parsed *kong.Context) []string {
	var warnings []string
	for _, step := range parsed.Path {
		if step.Flag == nil || step.Resolved || !step.Flag.Tag.Has("secret") {
			continue
		}
		value, ok := parsed.FlagValue(step.Flag).(string)
		if text, optional := parsed.FlagValue(step.Flag).(*string); optional && text != nil {
			value, ok = *text, true
		}
		if ok && isSecret(value) {
			name := step.Flag.Name
			warnings = append(warnings, "every user of the machine can see --"+name+" in the process list, and it contains a secret; use "+
				config.Variable(name)+" or "+config.Variable(name)+"_FILE instead")
		}
	}
	return warnings
}

// isSecret reports whether the value of a secret flag has something to hide: a URL
// without a password has not.
func isSecret(value string) bool {
	_, rest, isURL := strings.Cut(value, "://")
	if !isURL {
		return value != ""
	}
	rest, options, _ := strings.Cut(rest, "?")
	if query, err := url.ParseQuery(options); err != nil || query.Has("password") {
		return true
	}
	account, _, hasAccount := strings.Cut(rest, "@")
	return hasAccount && strings.Contains(account, ":")
}

// annotated returns the error of a command with the places of values that come from
// the settings file.
func (p *process) annotated(err error) error {
	if p.Sources != nil && err != nil {
		p.Sources.Annotate(err)
	}
	return err
}
