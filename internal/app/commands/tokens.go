package commands

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"merchantorders/internal/api/operator"
	"merchantorders/internal/app"
	"merchantorders/internal/config"
	"merchantorders/internal/ingest"
	"merchantorders/internal/order"
	"merchantorders/internal/strict"
	"merchantorders/internal/token"
)

type tokenCommand struct {
	Create tokenCreate `cmd:"" help:"Create a token and print only it. It cannot be shown again."`
	List   tokenList   `cmd:"" help:"List all tokens, without the secret."`
	Rotate tokenRotate `cmd:"" help:"Replace a token: print a new one, and let the old one expire."`
	Revoke tokenRevoke `cmd:"" help:"Revoke a token at once and permanently."`
}

type tokenCreate struct {
	jsonFlag
	File     string `arg:"" optional:"" name:"file" help:"File of tokens, one JSON object a line, as POST /operator/tokens takes it, with a label. - is standard input. Without it, the flags describe one token."`
	Merchant string `placeholder:"N" help:"Id of the merchant that the token acts for. This or --operator is required."`
	Operator bool   `help:"Create a token for the operator interface only."`
	Scopes   string `placeholder:"LIST" help:"Scopes, separated by commas. Of a merchant's token: orders:read, orders:write (accept, reject), invoices:write (upload, delete), tokens, webhooks; empty: the first three. Of an operator's token: orders:read, orders:ingest, orders:transition, merchants, tokens, webhooks, audit, customers; empty: all."`
	Expires  string `placeholder:"TIME" help:"Lifetime of the token, such as 90d or 2160h, or the day (UTC) at whose beginning it expires, such as 2027-01-31. Empty: --max-token-lifetime, or until it is revoked."`
	Label    string `placeholder:"TEXT" help:"What the token is for, on one line of up to 100 characters."`

	request token.Request
}

func (c *tokenCreate) check() error {
	var f flagValues
	if c.File != "" {
		given := map[string]bool{
			"merchant": c.Merchant != "", "operator": c.Operator, "scopes": c.Scopes != "", "expires": c.Expires != "", "label": c.Label != "",
		}
		for _, flag := range slices.Sorted(maps.Keys(given)) {
			if given[flag] {
				f.refuse(flag, "must not be given together with a file")
			}
		}
		return f.err()
	}
	c.request = token.Request{Operator: c.Operator, Label: c.Label}
	c.request.MerchantID, c.request.Scopes = f.holder(c.Merchant, c.Operator, c.Scopes)
	c.request.Expiry = f.expiry("expires", c.Expires)
	f.refuse("label", token.LabelProblem(c.Label))
	return f.err()
}

func (c *tokenCreate) run(ctx context.Context, p *process) error {
	if c.File != "" {
		return c.createAll(ctx, p)
	}
	return p.withDatabase(ctx, existing, func(b *app.Backend) error {
		created, err := b.Tokens.Add(ctx, p.caller, c.request, order.Options[token.Created]{})
		if err != nil {
			return noMerchant(c.request.MerchantID, "merchant add --help", lifetimeError(err))
		}
		token.LogCreated(p.log(p.Settings.Level()), created.Token, p.byCommand())
		return p.printToken(c.jsonFlag, created)
	})
}

// printToken prints a new token, alone or with what the list shows of it.
func (p *process) printToken(flag jsonFlag, created token.Created) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("there is a token %d that nobody has seen: revoke it: %w", created.Token.ID, err)
		}
	}()
	if flag.JSON {
		view := struct {
			Text     string     `json:"text"`
			Token    tokenJSON  `json:"token"`
			Replaced *tokenJSON `json:"replaced,omitempty"`
		}{created.Text, newTokenJSON(created.Token), nil}
		if created.Replaced.ID != 0 {
			view.Replaced = new(newTokenJSON(created.Replaced))
		}
		return p.printJSON(view)
	}
	return p.print("%s", created.Text)
}

// createAll creates the tokens of the file.
func (c *tokenCreate) createAll(ctx context.Context, p *process) error {
	input, size, err := p.input(c.File)
	if err != nil {
		return err
	}
	defer func() { _ = input.Close() }()
	return p.withDatabase(ctx, existing, func(b *app.Backend) error {
		statuses := []order.LineStatus{order.Created, order.Unchanged, order.Conflict, order.Invalid}
		lines := ingest.Items(statuses, parseTokenLine, func(ctx context.Context, request token.Request) (ingest.Result, error) {
			return p.createLabeled(ctx, b.Tokens, request)
		})
		return p.runLines(ctx, lines, input, size, nil, manyWords)
	})
}

// manyWords are the words of commands that create what the lines of a file describe.
var manyWords = lineWords{
	doing: "creating", rest: "create the rest", oneRefused: "line was refused", manyRefused: "lines were refused", results: true,
}

// parseTokenLine parses a line of the file. Its label makes the command repeatable.
func parseTokenLine(text []byte) (token.Request, error) {
	body := strict.ParseBody(text, operator.TokenFields...)
	request := operator.ParseTokenRequest(body)
	if request.Label == "" {
		body.Refuse("label", "is required: the command creates no second token with the label")
	}
	return request, lineError(body)
}

// lineError returns what is wrong with a line.
func lineError(body *strict.Body) error {
	err := body.Err()
	if errors.Is(err, strict.ErrInvalidPayload) {
		return errors.New("the line is not a JSON object")
	}
	return err
}

// createLabeled creates a token, unless there is a valid one with its label.
func (p *process) createLabeled(ctx context.Context, tokens *token.Registry, request token.Request) (ingest.Result, error) {
	result := ingest.Result{MerchantID: request.MerchantID, Status: order.Unchanged}
	same, err := tokens.List(ctx, token.Filter{Operator: request.Operator, MerchantID: request.MerchantID, Validity: token.Active, Label: request.Label})
	if err != nil {
		return ingest.Result{}, err
	}
	for _, t := range same {
		if t.Label != request.Label {
			continue // it only begins so
		}
		if result.TokenID = t.ID; t.Scopes != request.Scopes {
			result.Status, result.Problem = order.Conflict, "there is a token with this label and other scopes"
		}
		return result, nil
	}
	created, err := tokens.Add(ctx, p.caller, request, order.Options[token.Created]{})
	usage := noMerchant(request.MerchantID, "merchant add --help", lifetimeError(err))
	switch {
	case errors.Is(err, order.ErrMerchantNotFound), errors.As(usage, new(app.UsageError)):
		result.Status, result.Problem = order.Invalid, usage.Error()
		return result, nil
	case err != nil:
		return ingest.Result{}, err
	}
	token.LogCreated(p.log(p.Settings.Level()), created.Token, p.byCommand())
	result.Status, result.TokenID, result.Token = order.Created, created.Token.ID, created.Text
	return result, nil
}

// lifetimeError returns the error of the flag for an expiry that is too late or in the past,
// and every other error unchanged.
func lifetimeError(err error) error {
	if errors.Is(err, token.ErrLifetime) {
		return app.UsageError{Err: config.Invalid("expires", "must be later than now")}
	}
	if lifetime, ok := errors.AsType[*token.LifetimeError](err); ok {
		return app.UsageError{Err: config.Invalid("expires", "must be at most "+lifetime.Max.String()+", which is --max-token-lifetime")}
	}
	return err
}

type tokenList struct {
	Merchant string `placeholder:"N" help:"Only the tokens of this merchant."`
	Operator bool   `help:"Only the tokens of operators."`
	State    string `placeholder:"WORD" help:"Only tokens in this state: active, expired or revoked."`
	Label    string `placeholder:"TEXT" help:"Only tokens whose label begins with this text."`
	Scope    string `placeholder:"WORD" help:"Only tokens that have this scope."`
	jsonFlag

	filter token.Filter
}

func (c *tokenList) check() error {
	var f flagValues
	c.filter = token.Filter{Operator: c.Operator, Label: c.Label}
	if c.Operator && c.Merchant != "" {
		f.refuse("merchant", "must not be given together with --operator")
	} else {
		c.filter.MerchantID = f.optionalID("merchant", c.Merchant)
	}
	var ok bool
	if c.filter.Validity, ok = token.ParseValidity(c.State); !ok {
		f.refuse("state", "must be one of "+strings.Join(token.ValidityNames, ", "))
	}
	if c.Scope != "" {
		c.filter.Scopes = f.scopeNames("scope", []string{c.Scope}, order.MerchantScopes|order.OperatorScopes)
	}
	f.refuse("label", token.LabelProblem(c.Label))
	return f.err()
}

// tokenJSON is the JSON output of a token.
type tokenJSON struct {
	ID         int64     `json:"id"`
	MerchantID int64     `json:"merchantId,omitempty"` // 0: of the operator
	Operator   bool      `json:"operator"`
	Scopes     []string  `json:"scopes"`
	Hint       string    `json:"hint"` // the beginning of the token; empty: of a session
	Label      string    `json:"label,omitempty"`
	CreatedAt  time.Time `json:"createdAt"`
	CreatedBy  int64     `json:"createdBy,omitempty"` // id of a token; 0: a command
	ExpiresAt  time.Time `json:"expiresAt,omitzero"`
	LastUsedAt time.Time `json:"lastUsedAt,omitzero"`
	RevokedAt  time.Time `json:"revokedAt,omitzero"`

	LastUsedFrom string `json:"lastUsedFrom,omitempty"`
}

func newTokenJSON(t token.Token) tokenJSON {
	return tokenJSON{
		ID: t.ID, MerchantID: t.MerchantID, Operator: t.Operator(), Hint: t.Hint,
		Scopes: t.Scopes.Names(), Label: t.Label, CreatedBy: t.CreatedBy, LastUsedFrom: t.LastUsedFrom,
		CreatedAt: utc(t.CreatedAt), ExpiresAt: utc(t.ExpiresAt), LastUsedAt: utc(t.LastUsedAt), RevokedAt: utc(t.RevokedAt),
	}
}

func (c *tokenList) runOn(ctx context.Context, p *process, b *app.Backend) error {
	tokens, err := b.Tokens.List(ctx, c.filter)
	if err != nil {
		return err
	}
	heading := []string{"ID", "MERCHANT", "SCOPES", "TOKEN", "CREATED", "EXPIRES", "LAST USED", "FROM", "REVOKED", "LABEL"}
	return printList(p, c.jsonFlag, heading, tokens, func(t token.Token) []string {
		merchant, scopes, hint := strconv.FormatInt(t.MerchantID, 10), t.Scopes.String(), "-"
		if t.Hint != "" {
			hint = app.OneLine(t.Hint) + "..."
		}
		if t.Operator() {
			merchant = "operator"
		}
		return []string{
			strconv.FormatInt(t.ID, 10), merchant, scopes, hint,
			timestamp(t.CreatedAt), timestamp(t.ExpiresAt), timestamp(t.LastUsedAt), textOr(t.LastUsedFrom), timestamp(t.RevokedAt),
			textOr(t.Label),
		}
	}, newTokenJSON)
}

type tokenRotate struct {
	jsonFlag
	Token   string `arg:"" name:"id|token" help:"The token's id, from token list, or the token itself."`
	Overlap string `default:"24h" placeholder:"TIME" help:"Time after which the old token expires, such as 24h. 0s: at once."`
	Expires string `placeholder:"TIME" help:"Lifetime of the new token, such as 90d or 2160h, or the day (UTC) at whose beginning it expires, such as 2027-01-31. Empty: as long as that of the old one."`

	overlap time.Duration
	expiry  token.Expiry
}

func (c *tokenRotate) check() error {
	var f flagValues
	c.overlap = f.duration("overlap", c.Overlap)
	c.expiry = f.expiry("expires", c.Expires)
	return f.err()
}

func (c *tokenRotate) runOn(ctx context.Context, p *process, b *app.Backend) error {
	id, err := b.Tokens.ID(ctx, c.Token)
	var created token.Created
	if err == nil {
		created, err = b.Tokens.Rotate(ctx, p.caller, token.Rotation{ID: id, Overlap: c.overlap, Expiry: c.expiry}, order.Options[token.Created]{})
	}
	if err != nil {
		return lifetimeError(noToken(c.Token, err))
	}
	token.LogCreated(p.log(p.Settings.Level()), created.Token,
		p.byCommand(), slog.Int64("replaces", created.Replaced.ID), slog.Time("old_expires", created.Replaced.ExpiresAt))
	return p.printToken(c.jsonFlag, created)
}

// noToken returns the error for a token that cannot be used, and every other error unchanged. The
// argument of the command may be a mistyped token, so the error repeats only an id.
func noToken(argument string, err error) error {
	if !errors.Is(err, token.ErrUnknown) {
		return err
	}
	if invalid, ok := errors.AsType[*token.InvalidError](err); ok {
		return fmt.Errorf("token %d has expired or is revoked: create another one with %s token create", invalid.ID, programName)
	}
	if strings.Trim(argument, "0123456789") != "" {
		argument = "with the given text"
	}
	return fmt.Errorf("there is no token %s: see %q", argument, programName+" token list")
}

type tokenRevoke struct {
	jsonFlag
	Token    string `arg:"" optional:"" name:"id|token" help:"The token's id, from token list, or the token itself."`
	Children bool   `help:"Also revoke the tokens that were made with it, and with those."`
	Merchant string `placeholder:"N" help:"Instead of one token, revoke all of this merchant."`

	merchantID int64
}

func (c *tokenRevoke) check() error {
	var f flagValues
	switch {
	case c.Token == "" && c.Merchant == "":
		f.refuse("merchant", "or a token is required")
	case c.Token != "" && c.Merchant != "":
		f.refuse("merchant", "must not be given together with a token")
	case c.Children && c.Merchant != "":
		f.refuse("children", "must not be given together with --merchant")
	default:
		c.merchantID = f.optionalID("merchant", c.Merchant)
	}
	return f.err()
}

func (c *tokenRevoke) runOn(ctx context.Context, p *process, b *app.Backend) error {
	revoked, text, err := c.revoke(ctx, p.caller, b.Tokens)
	if err != nil {
		return err
	}
	for _, id := range revoked {
		token.LogRevoked(p.log(p.Settings.Level()), id, p.byCommand())
	}
	return p.printResult(c.JSON, struct {
		Revoked []int64 `json:"revokedTokenIds"`
	}{append([]int64{}, revoked...)}, "%s", text)
}

// revoke revokes what the arguments name. It returns the ids of the tokens, and the result for
// people.
func (c *tokenRevoke) revoke(ctx context.Context, caller order.Caller, tokens *token.Registry) (revoked []int64, text string, err error) {
	if c.Token == "" {
		revoked, err = tokens.RevokeAll(ctx, caller, c.merchantID, order.Options[[]int64]{})
		if errors.Is(err, order.ErrMerchantNotFound) {
			err = fmt.Errorf("there is no merchant %d", c.merchantID)
		}
		return revoked, fmt.Sprintf("merchant %d: tokens revoked: %d", c.merchantID, len(revoked)), err
	}
	id, err := tokens.ID(ctx, c.Token)
	switch {
	case err != nil:
	case c.Children:
		revoked, err = tokens.RevokeFamily(ctx, caller, id, order.Options[[]int64]{})
		text = fmt.Sprintf("token %d and those that were made with it: tokens revoked: %d", id, len(revoked))
	default:
		_, err = tokens.RevokeID(ctx, caller, id, order.Options[int64]{})
		revoked, text = []int64{id}, fmt.Sprintf("token %d is revoked", id)
	}
	return revoked, text, noToken(c.Token, err)
}
