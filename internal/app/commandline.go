package app

import (
	"context"
	"errors"
	"strings"

	"github.com/alecthomas/kong"

	"merchantorders/internal/config"
)

// commandLine defines the commands and flags.
type commandLine struct {
	Settings settingFlags `embed:"" group:"settings"`

	Serve      serveCommand      `cmd:"" help:"Serve the merchant interface, v1 and v2, over HTTP until stopped."`
	Import     importCommand     `cmd:"" help:"Import orders, one JSON document a line."`
	Merchant   merchantCommand   `cmd:"" help:"Add and list merchants."`
	Token      tokenCommand      `cmd:"" help:"Create, list and revoke tokens, the credentials of clients."`
	Purge      purgeCommand      `cmd:"" help:"Remove the files of deleted invoices."`
	Check      checkCommand      `cmd:"" help:"Verify orders, events and invoice files, and report problems."`
	Backup     backupCommand     `cmd:"" help:"Back up an installation with SQLite and local files, also while it runs, to one file or folder."`
	Restore    restoreCommand    `cmd:"" help:"Restore a backup into an empty data folder."`
	Copy       copyCommand       `cmd:"" help:"Copy orders and invoice files to another database and storage, such as PostgreSQL and S3, and verify the copy."`
	Distribute distributeCommand `cmd:"" help:"Distribute a PostgreSQL database over a Citus cluster, by merchant."`
	Orders     ordersCommand     `cmd:"" help:"List, show, accept, reject and watch orders of a service, as a merchant."`
	Invoices   invoicesCommand   `cmd:"" help:"Upload, download and delete invoice files of orders of a service, as a merchant."`
	Version    versionCommand    `cmd:"" help:"Print the version."`
}

// settingFlags, serveFlags and targetFlags are settings without the method
// Validate. Kong would call it, and stop at the first invalid struct.
type (
	settingFlags config.Config
	serveFlags   config.Serve
	targetFlags  config.Target
)

const description = `The order service for merchants: list and read orders, accept or reject them, upload invoice files.

To try it, start it with a demo merchant and use the three commands that it prints:

    merchant-orders serve --demo

For production, add a merchant, create a token, import orders and serve:

    merchant-orders merchant add --id 355 --name "Our Store"
    merchant-orders token create --merchant 355
    merchant-orders import orders.jsonl
    merchant-orders serve --listen 127.0.0.1:8080

Settings may come before or after the command, the flags of the command after it. Each can also be set by the environment variable shown with it. The flag takes precedence, and an empty variable is ignored. Every command can run while a server uses the same data folder.

Merchants call a service over HTTP, with its address and their token in the environment:

    export MERCHANT_ORDERS_ADDRESS=https://orders.example.com MERCHANT_ORDERS_TOKEN=mo_...
    merchant-orders orders list --state registered

Exit codes: 0 done; 1 the command failed, or an import refused lines; 2 invalid usage or settings, or a database or storage that cannot be opened: nothing was done. The orders and invoices commands also use: 3 no such order or invoice file; 4 refused, for example in this state of the order; 5 the token is not valid or does not allow this; 6 the service cannot be reached or asks to retry later.`

// command is a command without subcommands.
type command interface {
	// check returns all faults of the command's flags.
	check() error
	run(ctx context.Context, p *process) error
}

// isRemote reports whether a command or a group of commands calls a service over
// HTTP. These commands ignore the settings of the data folder.
func isRemote(target any) bool {
	_, remote := target.(interface{ remote() })
	return remote
}

// usageError is an error with exit code 2.
type usageError struct {
	err error
}

func (e *usageError) Error() string { return e.err.Error() }

// parse parses args and environment variables. It stores the settings in p and
// returns the command; nil if it printed help. It returns all faults of settings
// and flags in one usageError.
func parse(args []string, p *process, lookupEnv func(string) (string, bool)) (command, error) {
	var line commandLine
	var faults []error
	helped := false
	parser, err := kong.New(&line,
		kong.Name(programName), kong.Description(description), kong.Writers(p.stdout, p.stderr),
		kong.Exit(func(int) { helped = true }),
		kong.ConfigureHelp(kong.HelpOptions{WrapUpperBound: 100}), kong.ValueFormatter(flagHelp),
		kong.Help(withoutSettings),
		kong.Groups{"settings": "Settings of every command:"},
		kong.Resolvers(environment(lookupEnv, &faults)),
	)
	if err != nil {
		return nil, err
	}
	parsed, err := parser.Parse(args)
	if helped {
		return nil, nil
	}
	if err != nil {
		return nil, &usageError{err: withHint(err)}
	}
	chosen := parsed.Selected().Target.Addr().Interface().(command)
	p.settings = config.Config(line.Settings)
	if !isRemote(chosen) {
		faults = append(faults, p.settings.Validate())
	}
	if err := errors.Join(append(faults, chosen.check())...); err != nil {
		return nil, &usageError{err: err}
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

// withHint adds the command that prints help to a usage error.
func withHint(err error) error {
	path := programName
	var parseErr *kong.ParseError
	if errors.As(err, &parseErr) && parseErr.Context != nil && parseErr.Context.Selected() != nil {
		path = parseErr.Context.Selected().FullPath()
	}
	return errors.Join(err, errors.New(`see "`+path+` --help"`))
}

// environment reads flags that are not in args from their variables. It appends
// faults of boolean flags to faults; other faults are found later.
func environment(lookupEnv func(string) (string, bool), faults *[]error) kong.Resolver {
	return kong.ResolverFunc(func(_ *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
		value, _ := lookupEnv(config.Variable(flag.Name))
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
