package app

import (
	"context"
	"embed"
	"errors"
	"regexp"
	"strings"

	"github.com/alecthomas/kong"

	"merchantorders/internal/config"
)

// commandLine defines the commands and flags.
type commandLine struct {
	Settings config.Config `embed:"" group:"settings"`

	Serve      serveCommand      `cmd:"" help:"Serve the merchant interface, v1 and v2, over HTTP until stopped."`
	Import     importCommand     `cmd:"" help:"Import orders, one JSON document a line."`
	Merchant   merchantCommand   `cmd:"" help:"Add and list merchants."`
	Token      tokenCommand      `cmd:"" help:"Create, list and revoke tokens, the credentials of clients."`
	Purge      purgeCommand      `cmd:"" help:"Remove the files of deleted invoices."`
	Check      checkCommand      `cmd:"" help:"Verify orders, events and invoice files, and report problems."`
	Backup     backupCommand     `cmd:"" help:"Back up an installation with SQLite and local files, also while it runs, to one file or folder."`
	Restore    restoreCommand    `cmd:"" help:"Restore a backup into an empty data folder."`
	Copy       copyCommand       `cmd:"" help:"Copy orders and invoice files to another database and storage, such as PostgreSQL and S3, and verify the copy."`
	Migrate    migrateCommand    `cmd:"" help:"Bring the schema of the database up to date for this version."`
	Distribute distributeCommand `cmd:"" help:"Distribute a PostgreSQL database over a Citus cluster, by merchant."`
	Orders     ordersCommand     `cmd:"" help:"List, show, accept, reject and watch orders of a service, as a merchant."`
	Invoices   invoicesCommand   `cmd:"" help:"Upload, download and delete invoice files of orders of a service, as a merchant."`
	Health     healthCommand     `cmd:"" help:"Ask a running service whether it is ready, for probes."`
	Version    versionCommand    `cmd:"" help:"Print the version."`
}

// helpTexts are the long help of the program and of its commands.
//
//go:embed help/*.txt
var helpTexts embed.FS

// helpText returns the long help of a command, such as "token create", or of the
// program; empty if it has none.
func helpText(command string) string {
	text, _ := helpTexts.ReadFile("help/" + strings.ReplaceAll(command, " ", "-") + ".txt")
	return strings.TrimSpace(string(text))
}

// command is a command without subcommands.
type command interface {
	// check returns all faults of the command's flags.
	check() error
	run(ctx context.Context, p *process) error
}

// alwaysValid is the method check of commands whose flags need no check.
type alwaysValid struct{}

func (alwaysValid) check() error { return nil }

// withFiles marks commands that read or write invoice files.
type withFiles struct{}

func (withFiles) usesFiles() {}

// isRemote reports whether a command or a group of commands calls a service over
// HTTP. These commands ignore the settings of the data folder.
func isRemote(target any) bool {
	_, remote := target.(interface{ remote() })
	return remote
}

// usageError is an error with exit code 2.
type usageError struct{ error }

// parse parses args and environment variables. It stores the settings in p and
// returns the command; nil if it printed help. It returns all faults of settings
// and flags in one usageError.
func parse(args []string, p *process, environ []string) (command, error) {
	var line commandLine
	var faults []error
	variables := settingsIn(environ)
	helped := false
	parser, err := kong.New(&line,
		kong.Name(programName), kong.Description(helpText(programName)), kong.Writers(p.stdout, p.stderr),
		kong.Exit(func(int) { helped = true }),
		kong.ConfigureHelp(kong.HelpOptions{WrapUpperBound: 100}), kong.ValueFormatter(flagHelp),
		kong.Help(withoutSettings),
		kong.Groups{"settings": "Settings of every command:"},
		kong.Resolvers(environment(variables, &faults)),
	)
	if err != nil {
		return nil, err
	}
	for _, leaf := range parser.Model.Leaves(false) {
		leaf.Detail = helpText(leaf.Path())
	}
	parsed, err := parser.Parse(args)
	if helped {
		return nil, nil
	}
	if err != nil {
		return nil, usageError{withHint(err)}
	}
	faults = append(faults, unknownVariables(variables, parser.Model))
	chosen := parsed.Selected().Target.Addr().Interface().(command)
	p.settings = line.Settings
	if !isRemote(chosen) {
		faults = append(faults, p.settings.Check())
	}
	if _, files := chosen.(interface{ usesFiles() }); files {
		faults = append(faults, p.settings.CheckStorage())
	}
	if err := errors.Join(append(faults, chosen.check())...); err != nil {
		return nil, usageError{err}
	}
	return chosen, nil
}

// withoutSettings prints the help of a command. It omits the settings if the
// command ignores them.
func withoutSettings(options kong.HelpOptions, parsed *kong.Context) error {
	for _, step := range parsed.Path {
		if step.Command == nil || !isRemote(step.Command.Target.Addr().Interface()) {
			continue
		}
		for _, flag := range parsed.Model.Flags {
			flag.Hidden = flag.Hidden || flag.Group != nil && flag.Group.Key == "settings"
		}
	}
	return kong.DefaultHelpPrinter(options, parsed)
}

// credentials match what a URL has before its host.
var credentials = regexp.MustCompile(`://\S*@`)

// withHint adds the command that prints help to a usage error. It leaves out the
// credentials of URLs, which may be in a misplaced argument.
func withHint(err error) error {
	path := programName
	var parseErr *kong.ParseError
	if errors.As(err, &parseErr) && parseErr.Context != nil && parseErr.Context.Selected() != nil {
		path = parseErr.Context.Selected().FullPath()
	}
	text := credentials.ReplaceAllString(err.Error(), "://...@")
	return errors.Join(errors.New(text), errors.New(`see "`+path+` --help"`))
}

// environment reads flags that are not in args from their variables. It appends
// faults of boolean flags to faults; other faults are found later.
func environment(variables map[string]string, faults *[]error) kong.Resolver {
	return kong.ResolverFunc(func(_ *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
		value := variables[config.Variable(flag.Name)]
		switch {
		case value == "" || flag.Name == "help":
			return nil, nil
		case !flag.IsBool():
			return value, nil
		case strings.EqualFold(value, "true") || value == "1":
			return "true", nil
		case strings.EqualFold(value, "false") || value == "0":
			return "false", nil
		}
		*faults = append(*faults, config.Invalid(flag.Name, "must be true or false"))
		return nil, nil
	})
}

// flagHelp returns the help of a flag: its meaning, default and variable.
func flagHelp(value *kong.Value) string {
	if value.Flag == nil || value.Name == "help" {
		return value.Help
	}
	help := value.Help
	if value.HasDefault {
		help += " Default: " + value.Default + "."
	}
	return help + " [" + config.Variable(value.Name) + "]"
}
