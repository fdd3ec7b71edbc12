package commands

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"merchantorders/internal/app"
	"merchantorders/internal/config"
)

// doctorCommand shows the settings as the service understands them, and tests what
// they name. It has the flags of serve, so that it can be called with the same
// command line.
type doctorCommand struct {
	withFiles
	Settings config.Serve `embed:""`
	jsonFlag

	shown []shownSetting // set by describeSettings
}

func (c *doctorCommand) check() error { return c.Settings.Check() }

// hidden is shown in place of a secret.
const hidden = "(secret)"

// shownSetting is a setting for people.
type shownSetting struct {
	Name  string `json:"name"`
	Value string `json:"value"` // without secrets
	From  string `json:"from"`  // flag, the name of a variable, FILE:LINE, or default
}

// describe stores the settings of a parsed command line.
func (c *doctorCommand) describe(parsed *kong.Context, sources *config.Sources) {
	onLine := make(map[string]bool)
	for _, step := range parsed.Path {
		if step.Flag != nil && !step.Resolved {
			onLine[step.Flag.Name] = true
		}
	}
	for _, flag := range parsed.Flags() {
		if flag.Name == "help" || flag.Name == "json" {
			continue
		}
		setting := shownSetting{Name: flag.Name, Value: fmt.Sprint(parsed.FlagValue(flag)), From: "default"}
		if from := sources.From(flag.Name); onLine[flag.Name] {
			setting.From = "flag"
		} else if from != "" {
			setting.From = from
		}
		if flag.Tag.Has("secret") && setting.Value != "" {
			setting.Value = withoutSecret(flag.Name, setting.Value)
		}
		c.shown = append(c.shown, setting)
	}
}

// withoutSecret returns what people see of a secret: of a database its place.
func withoutSecret(flag, value string) string {
	if flag == "database" {
		return config.Config{Database: value}.DatabaseName()
	}
	return hidden
}

// The statuses of a diagnosis.
const (
	statusOK      = "ok"
	statusWarning = "warning"
	statusProblem = "problem"
)

// diagnosis is the result of one check.
type diagnosis struct {
	Status string `json:"status"`
	Check  string `json:"check"`
	Detail string `json:"detail"`           // what was found
	Advice string `json:"advice,omitempty"` // what to do; empty if there is nothing to do
}

// doctorReport is the JSON output of doctor.
type doctorReport struct {
	Settings []shownSetting `json:"settings"`
	Checks   []diagnosis    `json:"checks"`
}

func (c *doctorCommand) run(ctx context.Context, p *process) error {
	if _, bucket := p.Settings.Bucket(); bucket {
		places := p.Sources.S3Places()
		for _, name := range slices.Sorted(maps.Keys(places)) {
			c.shown = append(c.shown, shownSetting{Name: name, Value: hidden, From: places[name]})
		}
	}
	d := &doctor{process: p, flags: c.Settings}
	for _, warning := range p.warnings {
		d.add(statusWarning, "secrets", warning, "")
	}
	d.checkFolder()
	d.checkDatabase(ctx)
	d.checkBackups(ctx)
	d.checkRetention(ctx)
	d.checkStorage(ctx)
	d.checkDisks()
	d.checkLimits()
	d.checkListen()
	d.checkReceivers(ctx)
	d.checkMail(ctx)
	d.checkIdentity(ctx)
	d.checkTracing(ctx)
	if ctx.Err() != nil {
		return errors.New("stopped before the end of the checks")
	}
	problems := 0
	for _, found := range d.found {
		if found.Status == statusProblem {
			problems++
		}
	}
	if err := c.print(p, d.found); err != nil {
		return err
	}
	if problems > 0 {
		return errors.New(count(int64(problems), "problem", "problems"))
	}
	return nil
}

func (c *doctorCommand) print(p *process, found []diagnosis) error {
	if c.JSON {
		return p.printJSON(doctorReport{Settings: c.shown, Checks: found})
	}
	return p.printSections(newSection([]string{"SETTING", "VALUE", "FROM"}, c.shown, func(s shownSetting) []string {
		return []string{s.Name, textOr(s.Value), app.OneLine(s.From)}
	}), newSection([]string{"STATUS", "CHECK", "RESULT"}, found, func(d diagnosis) []string {
		text := app.OneLine(d.Detail)
		if d.Advice != "" {
			text += ": " + app.OneLine(d.Advice)
		}
		return []string{d.Status, d.Check, text}
	}))
}

// doctor runs the checks.
type doctor struct {
	*process
	flags config.Serve
	found []diagnosis
}

func (d *doctor) add(status, check, detail, advice string) {
	d.found = append(d.found, diagnosis{Status: status, Check: check, Detail: detail, Advice: advice})
}

// graded adds what was found as a problem, a warning or neither. The advice is for the former two.
func (d *doctor) graded(check, detail, advice string, problem, warning bool) {
	switch {
	case problem:
		d.add(statusProblem, check, detail, advice)
	case warning:
		d.add(statusWarning, check, detail, advice)
	default:
		d.add(statusOK, check, detail, "")
	}
}

// reached adds that a server of others can be used, as detail says, or the problem with the
// advice. try has outsideTimeout.
func (d *doctor) reached(ctx context.Context, check, detail, advice string, try func(context.Context) error) {
	ctx, cancel := context.WithTimeout(ctx, outsideTimeout)
	defer cancel()
	if err := try(ctx); err != nil {
		d.add(statusProblem, check, err.Error(), advice)
		return
	}
	d.add(statusOK, check, detail, "")
}

// problem adds a problem that an error describes, which may be one of a setting.
func (d *doctor) problem(check string, err error) {
	d.add(statusProblem, check, strings.ReplaceAll(d.annotated(err).Error(), "\n", "; "), "")
}
