package app

import (
	"context"
	"errors"
	"strings"

	"github.com/alecthomas/kong"

	"merchantorders/internal/config"
)

// commandLine is everything that can be typed.
type commandLine struct {
	Settings settingFlags `embed:"" group:"settings"`

	Serve      serveCommand      `cmd:"" help:"Serve the merchant interface, v1 and v2, over HTTP until stopped."`
	Import     importCommand     `cmd:"" help:"Take in orders, one JSON document a line."`
	Merchant   merchantCommand   `cmd:"" help:"Add and list merchants."`
	Token      tokenCommand      `cmd:"" help:"Create, list and revoke tokens, the credentials of clients."`
	Purge      purgeCommand      `cmd:"" help:"Remove the files of invoices that were deleted long enough ago."`
	Check      checkCommand      `cmd:"" help:"Look whether orders, events and invoice files are whole, and say what is wrong."`
	Backup     backupCommand     `cmd:"" help:"Copy a running embedded installation to one file or folder."`
	Restore    restoreCommand    `cmd:"" help:"Put a backup in place in an empty data folder."`
	Copy       copyCommand       `cmd:"" help:"Copy orders and invoice files to another database and storage, verified; such as to PostgreSQL and S3."`
	Distribute distributeCommand `cmd:"" help:"Spread a PostgreSQL database over a Citus cluster, by merchant."`
	Orders     ordersCommand     `cmd:"" help:"List, show, accept and reject orders of a service, as a merchant; follow what happens to them."`
	Invoices   invoicesCommand   `cmd:"" help:"Upload, download and delete invoice files of orders of a service, as a merchant."`
	Version    versionCommand    `cmd:"" help:"Print the version."`
}

// settingFlags, serveFlags and targetFlags are settings without their Validate, which the
// parser would call by itself, and then stop at the first that has faults.
type (
	settingFlags config.Config
	serveFlags   config.Serve
	targetFlags  config.Target
)

const description = `The order service for merchants: list and read orders, accept or reject them, upload invoice files.

To look around, start it with a demo merchant and use the three commands that it prints:

    merchant-orders serve --demo

For real work add a merchant, make its token, take in orders and serve:

    merchant-orders merchant add --id 355 --name "Our Store"
    merchant-orders token create --merchant 355
    merchant-orders import orders.jsonl
    merchant-orders serve --listen 127.0.0.1:8080

Settings stand before or after the command, its own flags after it. Each can also be set by the environment variable shown with it; the flag wins, and an empty variable is as if not set. Every command works beside a running server on the same data folder.

Merchants work with orders through a service anywhere, with its address and their token in the environment:

    export MERCHANT_ORDERS_ADDRESS=https://orders.example.com MERCHANT_ORDERS_TOKEN=mo_...
    merchant-orders orders list --state registered

Exit codes: 0 done; 1 the command failed, as an import with refused lines; 2 wrong usage, or settings that are wrong or name what cannot be opened, and nothing was done. The orders and invoices commands tell more: 3 no such order or invoice file; 4 refused by a rule, as by the order's state; 5 the token is not valid or not for this; 6 the service is out of reach or asks to come back later.`

// command is one that can be run.
type command interface {
	// check returns all faults of the command's own flags.
	check() error
	run(ctx context.Context, p *process) error
}

// isRemote reports whether a command, or a group of commands, calls a service.
// The settings of a data folder do not count for it.
func isRemote(target any) bool {
	_, remote := target.(interface{ remote() })
	return remote
}

// usageError is what ends with exit code 2.
type usageError struct {
	err error
}

func (e *usageError) Error() string { return e.err.Error() }

// parse reads what was typed and set, the settings into p, and returns the
// command to run; none when help was asked for and given. All faults of
// settings and flags come back in one usageError.
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

// withoutSettings prints the help of a command, without the settings where they
// do not count.
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

// withHint adds to an error of usage where to read more.
func withHint(err error) error {
	path := programName
	var parseErr *kong.ParseError
	if errors.As(err, &parseErr) && parseErr.Context != nil && parseErr.Context.Selected() != nil {
		path = parseErr.Context.Selected().FullPath()
	}
	return errors.Join(err, errors.New(`see "`+path+` --help"`))
}

// environment reads flags that were not typed from their variables. Faults of
// flags that are either set or not are gathered, all others are found later.
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
		*faults = append(*faults, config.About(flag.Name, "must be true or false"))
		return nil, nil
	})
}

// flagHelp is what --help says of a flag: its meaning, default and variable.
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
