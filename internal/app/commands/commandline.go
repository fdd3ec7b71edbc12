package commands

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"merchantorders/client"
	"merchantorders/internal/app"
	"merchantorders/internal/config"
	"merchantorders/internal/order"
)

// commandLine defines the commands and flags.
type commandLine struct {
	Config   string        `placeholder:"FILE" help:"Settings file in YAML, with the flag names as keys."`
	Settings config.Config `embed:"" group:"settings"`
	As       string        `placeholder:"NAME" group:"settings" help:"Who runs the command, for the audit log. Empty: the user of the operating system."`
	Ticket   string        `placeholder:"TEXT" group:"settings" help:"Ticket that the command is run for, for the audit log."`

	Serve      serveCommand      `cmd:"" help:"Serve the merchant interface, v1 and v2, over HTTP until stopped."`
	Import     importCommand     `cmd:"" help:"Import orders, one JSON document a line."`
	Transition transitionCommand `cmd:"" help:"Change the states of orders and correct them, one JSON object a line."`
	Search     searchCommand     `cmd:"" help:"Find orders of all merchants by words, states, dates and deadlines."`
	Inspect    inspectCommand    `cmd:"" help:"Show one order of any merchant with its history, files and deliveries."`
	Merchant   merchantCommand   `cmd:"" help:"Add, list, change and suspend merchants."`
	Token      tokenCommand      `cmd:"" help:"Create, list, rotate and revoke tokens, the credentials of clients."`
	Webhook    webhookCommand    `cmd:"" help:"Manage the webhooks of merchants."`
	Links      linksCommand      `cmd:"" help:"Revoke the links to invoice files."`
	LoginLink  loginLinkCommand  `cmd:"" name:"login-link" help:"Print a link by which a person of a merchant, or an operator, signs in at the console, once, within 15 minutes."`
	Audit      auditCommand      `cmd:"" help:"Show the audit log: who changed what, when and from where."`
	Simulate   simulateCommand   `cmd:"" help:"Act as the marketplace of a merchant, for rehearsals: create orders and change their states."`
	Erase      eraseCommand      `cmd:"" help:"Erase the personal data of an order, or of all orders of a customer."`
	Export     exportCommand     `cmd:"" help:"Export whole orders, or everything that is stored about a customer."`
	Purge      purgeCommand      `cmd:"" help:"Remove the files of deleted invoices."`
	Check      checkCommand      `cmd:"" help:"Verify orders, events and invoice files, and report problems."`
	Backup     backupCommand     `cmd:"" help:"Back up an installation with SQLite and local files, also while it runs, to one file or folder."`
	Restore    restoreCommand    `cmd:"" help:"Restore a backup into an empty data folder."`
	Copy       copyCommand       `cmd:"" help:"Copy orders and invoice files to another database and storage, such as PostgreSQL and S3, and verify the copy."`
	Migrate    migrateCommand    `cmd:"" help:"Bring the schema of the database up to date for this version."`
	Distribute distributeCommand `cmd:"" help:"Distribute a PostgreSQL database over a Citus cluster, by merchant."`
	Orders     ordersCommand     `cmd:"" help:"List, export, show, accept, reject and watch orders of a service, as a merchant."`
	Invoices   invoicesCommand   `cmd:"" help:"Upload, download, link and delete invoice files of orders of a service, as a merchant."`
	MCP        mcpCommand        `cmd:"" name:"mcp" help:"Serve the orders of a merchant to an assistant, by the Model Context Protocol on standard input and output."`
	Doctor     doctorCommand     `cmd:"" help:"Show the settings and where they come from, and test what they name: database, storage, clock, disk, limits."`
	Health     healthCommand     `cmd:"" help:"Ask a running service whether it is ready, for probes."`
	Version    versionCommand    `cmd:"" help:"Print the version, the commit and its date."`

	// For packages, not for people.
	Complete completeCommand `cmd:"" hidden:"" help:"Print what may follow on a command line."`
	Manual   manualCommand   `cmd:"" hidden:"" help:"Print the manual page."`
}

// settingsGroup is the key of the group of the flags of config.Config.
const settingsGroup = "settings"

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

// command is a command without subcommands: a runner or a backendRunner.
type command interface {
	// check returns all faults of the command's flags.
	check() error
}

// runner is a command that opens what it needs itself.
type runner interface {
	run(ctx context.Context, p *process) error
}

// backendRunner is a command on an existing installation, of which the database is open
// meanwhile, and the storage too if the command is marked withFiles.
type backendRunner interface {
	runOn(ctx context.Context, p *process, b *app.Backend) error
}

// alwaysValid is the method check of commands whose flags need no check.
type alwaysValid struct{}

func (alwaysValid) check() error { return nil }

// withFiles marks commands that read or write invoice files.
type withFiles struct{}

func (withFiles) usesFiles() {}

// callsService marks commands, and groups of them, that call a service over HTTP, or nothing:
// they ignore the settings of the data folder.
type callsService struct{}

func (callsService) remote() {}

// isRemote reports whether a command or a group of commands is marked callsService.
func isRemote(target any) bool {
	_, remote := target.(interface{ remote() })
	return remote
}

// newParser returns the parser of the command line. exit is called after it has
// printed help.
func newParser(line *commandLine, p *process, exit func(int), resolver kong.Resolver) (*kong.Kong, error) {
	parser, err := kong.New(line,
		kong.Name(programName), kong.Description(helpText(programName)), kong.Writers(p.stdout, p.stderr), kong.Exit(exit),
		kong.ConfigureHelp(kong.HelpOptions{WrapUpperBound: 100}), kong.ValueFormatter(flagHelp), kong.Help(withoutSettings),
		kong.Groups{settingsGroup: "Settings of every command:"},
		kong.Vars{"max_invoice": fmt.Sprintf("%d MB", client.MaxInvoiceSize/1_000_000)},
		kong.Resolvers(resolver),
	)
	if err != nil {
		return nil, err
	}
	for _, leaf := range parser.Model.Leaves(false) {
		leaf.Detail = helpText(leaf.Path())
	}
	return parser, nil
}

// parse parses args and environment variables. It stores the settings in p and
// returns the command; nil if it printed help. It returns all faults of settings
// and flags in one app.UsageError.
func parse(args []string, p *process, environ []string) (command, error) {
	var line commandLine
	settings := new(resolver)
	helped := false
	parser, err := newParser(&line, p, func(int) { helped = true }, settings)
	if err != nil {
		return nil, err
	}
	p.Sources = config.NewSources(environ, flagsOf(parser.Model))
	settings.sources = p.Sources
	parsed, err := parser.Parse(args)
	if helped {
		return nil, nil
	}
	if err != nil {
		return nil, app.UsageError{Err: withHint(err)}
	}
	var faults []error
	chosen := parsed.Selected().Target.Addr().Interface().(command)
	p.Settings, p.model = line.Settings, parser.Model.Node
	p.caller = callerOf(line.As, line.Ticket)
	faults = append(faults, config.Invalid("as", order.AuditWordProblem(line.As)), config.Invalid("ticket", order.AuditWordProblem(line.Ticket)))
	if !isRemote(chosen) {
		faults = append(faults, p.Settings.Check())
	}
	if _, files := chosen.(interface{ usesFiles() }); files {
		faults = append(faults, p.Settings.CheckStorage())
	}
	if serve, ok := chosen.(*serveCommand); ok {
		faults = append(faults, serve.Settings.CheckLinks(p.Settings.BaseURL))
	}
	faults = append(faults, chosen.check(), repeated(parsed, chosen))
	err = errors.Join(errors.Join(settings.faults...), p.Sources.UnknownVariables(), settings.others(errors.Join(faults...)))
	if err != nil {
		return nil, app.UsageError{Err: err}
	}
	p.warnings = shownSecrets(parsed)
	if d, ok := chosen.(*doctorCommand); ok {
		d.describe(parsed, p.Sources)
	}
	return chosen, nil
}

// repeated returns an error for each flag of a command that is given twice: the last value would
// count alone, and the command would do less than was asked for. A setting, also one of serve, may
// override that of a script.
func repeated(parsed *kong.Context, chosen command) error {
	switch chosen.(type) {
	case *serveCommand, *doctorCommand:
		return nil
	}
	var faults []error
	seen := make(map[*kong.Flag]bool)
	for _, step := range parsed.Path {
		flag := step.Flag
		if flag == nil || step.Resolved || flag.IsCumulative() || flag.IsBool() || slices.Contains(parsed.Model.Flags, flag) {
			continue
		}
		if seen[flag] {
			faults = append(faults, config.Invalid(flag.Name, "is given twice"))
		}
		seen[flag] = true
	}
	return errors.Join(faults...)
}

// withoutSettings prints the help of a command. It omits the settings if the
// command ignores them.
func withoutSettings(options kong.HelpOptions, parsed *kong.Context) error {
	for _, step := range parsed.Path {
		if step.Command == nil || !isRemote(step.Command.Target.Addr().Interface()) {
			continue
		}
		for _, flag := range parsed.Model.Flags {
			flag.Hidden = flag.Hidden || isSetting(flag)
		}
	}
	return kong.DefaultHelpPrinter(options, parsed)
}

// credentials match what a URL has before its host, and tokens.
var credentials = regexp.MustCompile(`://\S*@|\bmop?_\w+`)

// withHint adds the command that prints help to a usage error. It leaves out the
// credentials of URLs and tokens, which may be in a misplaced argument.
func withHint(err error) error {
	path := programName
	var parseErr *kong.ParseError
	if errors.As(err, &parseErr) && parseErr.Context != nil && parseErr.Context.Selected() != nil {
		path = parseErr.Context.Selected().FullPath()
	}
	text := credentials.ReplaceAllStringFunc(err.Error(), func(found string) string {
		if strings.HasPrefix(found, "mo") {
			return "mo_..."
		}
		return "://...@"
	})
	return errors.Join(errors.New(text), errors.New(`see "`+path+` --help"`))
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
