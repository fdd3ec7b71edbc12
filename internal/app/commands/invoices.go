package commands

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"merchantorders/client"
	"merchantorders/internal/app"
	"merchantorders/internal/config"
)

type invoicesCommand struct {
	callsService
	Upload   invoicesUpload   `cmd:"" help:"Upload an invoice file for an order."`
	Download invoicesDownload `cmd:"" help:"Download an invoice file of an order."`
	Link     invoicesLink     `cmd:"" help:"Make an address of an invoice file that everybody can open for 15 minutes."`
	Delete   invoicesDelete   `cmd:"" help:"Delete an invoice file of an order."`
}

type invoicesUpload struct {
	orderTarget
	File string `arg:"" help:"The file: pdf, png, jpeg or jpg, at most ${max_invoice}; - is standard input, with --name."`
	writeFlags
	Name   string `placeholder:"NAME" help:"File name for the service. Empty: the name of the file."`
	Kind   string `placeholder:"KIND" help:"What the document is: invoice, credit-note or receipt. Empty: not said."`
	Number string `placeholder:"TEXT" help:"Number of the document. Empty: none."`
	Mark   string `placeholder:"DIGITS" help:"Mark of the document, of myDATA. Empty: none."`
	Link   string `placeholder:"URL" help:"Address where the document is too, with https. Empty: none."`
}

func (c *invoicesUpload) check() error {
	name := ""
	if c.File == "-" && c.Name == "" {
		name = "is required with standard input"
	}
	return errors.Join(c.connection.check(), config.Invalid("name", name))
}

func (c *invoicesUpload) run(ctx context.Context, p *process) error {
	content, _, err := p.input(c.File)
	if err != nil {
		return err
	}
	defer func() { _ = content.Close() }()
	var receipt client.Receipt
	options := append(c.options(&receipt), client.OfDocument(client.InvoiceDocument{Kind: c.Kind, Number: c.Number, Mark: c.Mark, Link: c.Link}))
	invoice, err := c.service.UploadInvoice(ctx, c.Reference, cmp.Or(c.Name, filepath.Base(c.File)), content, options...)
	if err != nil {
		return err
	}
	return p.printResult(c.JSON, invoice, "invoice %d: %s", invoice.ID, invoice.URL)
}

// invoiceTarget has the arguments and flags of every command for one invoice file.
type invoiceTarget struct {
	orderTarget
	ID string `arg:"" name:"id" help:"Id of the invoice file, from orders show."`

	id int64
}

func (t *invoiceTarget) check() error { return t.checkWith() }

// checkWith checks the flags and makes the client of the service with options.
func (t *invoiceTarget) checkWith(options ...client.Option) error {
	var problem string
	if t.id, problem = positive(t.ID); problem != "" {
		return errors.Join(t.open(options...), errors.New("the id "+problem))
	}
	return t.open(options...)
}

type invoicesDownload struct {
	invoiceTarget
	Output string `placeholder:"FILE" help:"File to write, which must not exist; - is standard output. Empty: the name of the invoice file, in the current folder."`
	Trust  string `placeholder:"URL" help:"Another URL that may receive the token, for a service whose file URLs do not begin with --address. Empty: none."`
}

func (c *invoicesDownload) check() error {
	var options []client.Option
	trust, output := "", ""
	if c.Trust != "" {
		options = append(options, client.WithStorage(c.Trust))
		if _, err := client.New(c.Trust, "mo_"); err != nil {
			options, trust = nil, "must be a URL such as https://files.example.com"
		}
	}
	if c.Output == "-" && c.JSON {
		output = "must not be standard output if --json is given"
	}
	return errors.Join(config.Invalid("output", output), config.Invalid("trust", trust), c.checkWith(options...))
}

func (c *invoicesDownload) run(ctx context.Context, p *process) error {
	file, err := c.fetch(ctx)
	if err != nil {
		return err
	}
	if c.Output == "-" {
		_, err := p.stdout.Write(file.Content)
		return err
	}
	path, err := c.path(file)
	if err != nil {
		return err
	}
	if err := writeNew(path, file.Content); err != nil {
		return err
	}
	return p.printResult(c.JSON, downloaded{File: path, MediaType: file.MediaType, Bytes: len(file.Content)}, "%s: %d bytes", path, len(file.Content))
}

// downloaded is the JSON output of a download.
type downloaded struct {
	File      string `json:"file"`
	MediaType string `json:"mediaType"`
	Bytes     int    `json:"bytes"`
}

// fetch finds the file in its order and downloads it.
func (c *invoicesDownload) fetch(ctx context.Context) (client.File, error) {
	order, err := c.service.Order(ctx, c.Reference)
	if err != nil {
		return client.File{}, err
	}
	for _, invoice := range order.Invoices {
		if invoice.ID == c.id {
			return c.service.DownloadInvoice(ctx, invoice)
		}
	}
	return client.File{}, fmt.Errorf("order %s, invoice %d: %w", c.Reference, c.id, client.ErrInvoiceNotFound)
}

// path returns the path to write a file to. The file's name is untrusted.
func (c *invoicesDownload) path(file client.File) (string, error) {
	if c.Output != "" {
		return c.Output, nil
	}
	name := app.OneLine(file.Name)
	if name == "" || name == "." || name == ".." || strings.ContainsAny(name, `/\`) {
		return "", errors.New("the name of the invoice file is not a valid file name; set --output")
	}
	return name, nil
}

// writeNew writes a new file, readable by its owner only.
func writeNew(path string, content []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
}

type invoicesLink struct {
	invoiceTarget
	writeFlags
}

func (c *invoicesLink) run(ctx context.Context, p *process) error {
	var receipt client.Receipt
	link, err := c.service.InvoiceLink(ctx, c.Reference, c.id, c.options(&receipt)...)
	if err != nil {
		return err
	}
	return p.printResult(c.JSON, link, "%s", link.URL)
}

type invoicesDelete struct {
	invoiceTarget
	writeFlags
}

func (c *invoicesDelete) run(ctx context.Context, p *process) error {
	var receipt client.Receipt
	left, err := c.service.DeleteInvoice(ctx, c.Reference, c.id, c.options(&receipt)...)
	if err != nil {
		return err
	}
	if c.JSON {
		return p.printJSON(map[string][]client.Invoice{"invoices": left})
	}
	return printTable(p, invoiceHeading, left, invoiceRow)
}
