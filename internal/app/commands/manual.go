package commands

import (
	"context"
	"fmt"
	"strings"

	"github.com/alecthomas/kong"

	"merchantorders/internal/app"
)

// manualCommand prints the manual page, from the same texts as --help. A release
// contains it.
type manualCommand struct {
	alwaysValid
	callsService
}

func (*manualCommand) run(_ context.Context, p *process) error {
	b := app.ThisBuild()
	day, _, _ := strings.Cut(b.Date, "T")
	var page manual
	// Names of variables are not hyphenated.
	page.line(".nh\n.ad l")
	page.line(`.TH %s 1 "%s" "%s"`, strings.ToUpper(programName), day, b.Version)
	page.line(".SH NAME")
	page.line(`%s \- order service for merchants`, roff(programName))
	page.line(".SH SYNOPSIS")
	page.line(".B %s", roff(programName))
	page.line(`[\fIsettings\fR] \fIcommand\fR [\fIflags\fR]`)
	page.line(".SH DESCRIPTION")
	page.text(helpText(programName))
	page.line(".SH SETTINGS")
	for _, flag := range p.model.Flags {
		page.flag(flag)
	}
	page.line(".SH COMMANDS")
	for _, leaf := range p.model.Leaves(true) {
		page.command(leaf)
	}
	_, err := p.stdout.Write([]byte(page.String()))
	return err
}

// manual is a page in the language of man(7).
type manual struct{ strings.Builder }

// line writes a line, whose arguments are escaped already.
func (m *manual) line(format string, args ...any) { fmt.Fprintf(m, format+"\n", args...) }

// text writes paragraphs, which are separated by empty lines. An indented
// paragraph is an example and keeps its lines.
func (m *manual) text(text string) {
	for paragraph := range strings.SplitSeq(text, "\n\n") {
		example, indented := strings.CutPrefix(paragraph, "    ")
		if !indented {
			m.line(".PP\n%s", roff(paragraph))
			continue
		}
		m.line(".PP\n.RS 4\n.nf\n%s\n.fi\n.RE", roff(strings.ReplaceAll(example, "\n    ", "\n")))
	}
}

// flag writes one flag with its meaning.
func (m *manual) flag(flag *kong.Flag) {
	m.line(".TP\n\\fB%s\\fR\n%s", roff(flag.String()), roff(flagHelp(flag.Value)))
}

// command writes a command with its flags.
func (m *manual) command(leaf *kong.Node) {
	m.line(".SS %s", roff(leaf.Summary()))
	m.line("%s", roff(leaf.Help))
	if leaf.Detail != "" {
		m.text(leaf.Detail)
	}
	for _, flag := range visibleFlags(leaf) {
		if !isSetting(flag) && flag.Name != "help" {
			m.flag(flag)
		}
	}
}

// roff escapes a text. A line that begins with a dot or an apostrophe would be a
// macro.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`, "\n.", "\n\\&.", "\n'", "\n\\&'").Replace(text)
	if strings.HasPrefix(text, ".") || strings.HasPrefix(text, "'") {
		text = `\&` + text
	}
	return text
}
