package order

import (
	"fmt"
	"strings"
)

// Caller is who makes a change: a request with its token and, if a person sent it, the
// person, a command of the command line, or the service itself. Every write takes one.
// It decides what the change may do, and it is what events, the audit log and the log
// say about who made the change. The zero Caller may do nothing.
//
// Events store the actor, the token and the request id of their caller; entries of the
// audit log also store the address, and name and ticket of a command.
type Caller struct {
	Actor Actor
	// MerchantID is the merchant that the caller acts for; 0 unless Actor is
	// ActorMerchant.
	MerchantID int64
	TokenID    int64 // 0: a command, or the service itself
	Scopes     Scope
	Name       string // of the person, or of who runs a command; empty: a program, or a person without a name
	Ticket     string // that a command is run for; empty: none
	RequestID  string // of at most 64 characters, as the request log shows it; empty: no request
	Address    string // IP address of the client; empty if it is not known
}

// Operator reports whether the caller acts for the marketplace.
func (c Caller) Operator() bool { return c.Actor == ActorOperator }

// Can reports whether the caller has all of the scopes.
func (c Caller) Can(scopes Scope) bool { return c.Scopes.Has(scopes) }

// Command is the caller of a command of the command line.
func Command() Caller { return Caller{Actor: ActorOperator, Scopes: OperatorScopes} }

// CommandFor is the caller of a command that acts for a merchant.
func CommandFor(merchantID int64) Caller {
	return Caller{Actor: ActorMerchant, MerchantID: merchantID, Scopes: MerchantScopes}
}

// System is the caller of changes that the service makes itself.
func System() Caller { return Caller{Actor: ActorSystem} }

// Scope is a set of rights. The numbers are stored: append, never reorder.
type Scope uint16

// The rights that a token may have. Some exist on both sides: an operator's token has
// them for all merchants.
const (
	ScopeOrdersRead       Scope = 1 << iota // list and read orders and events, download invoice files
	ScopeOrdersWrite                        // accept and reject
	ScopeInvoicesWrite                      // upload and delete invoice files
	ScopeTokens                             // list, create, rotate and revoke tokens
	ScopeWebhooks                           // manage webhooks and read their deliveries
	ScopeOrdersIngest                       // import orders
	ScopeOrdersTransition                   // change the state of orders and correct them
	ScopeMerchants                          // list, add, rename, suspend and resume merchants
	ScopeAudit                              // read the audit log
	ScopeCustomerData                       // export and erase the personal data of customers
)

// Sets of scopes.
const (
	// DefaultScopes are those of a merchant's token if none are requested.
	DefaultScopes = ScopeOrdersRead | ScopeOrdersWrite | ScopeInvoicesWrite
	// MerchantScopes are those that a merchant's token may have.
	MerchantScopes = DefaultScopes | ScopeTokens | ScopeWebhooks
	// OperatorScopes are those that an operator's token may have. It has all of them
	// if none are requested.
	OperatorScopes = ScopeOrdersRead | ScopeTokens | ScopeWebhooks | ScopeOrdersIngest | ScopeOrdersTransition | ScopeMerchants | ScopeAudit | ScopeCustomerData
)

var scopeNames = []struct {
	scope Scope
	name  string
}{
	{ScopeOrdersRead, "orders:read"},
	{ScopeOrdersWrite, "orders:write"},
	{ScopeInvoicesWrite, "invoices:write"},
	{ScopeTokens, "tokens"},
	{ScopeWebhooks, "webhooks"},
	{ScopeOrdersIngest, "orders:ingest"},
	{ScopeOrdersTransition, "orders:transition"},
	{ScopeMerchants, "merchants"},
	{ScopeAudit, "audit"},
	{ScopeCustomerData, "customers"},
}

// Names returns the names of the scopes; an empty slice for none.
func (s Scope) Names() []string {
	names := make([]string, 0, len(scopeNames))
	for _, row := range scopeNames {
		if s&row.scope != 0 {
			names = append(names, row.name)
		}
	}
	return names
}

// String returns the names of the scopes, separated by commas.
func (s Scope) String() string { return strings.Join(s.Names(), ",") }

// Has reports whether s includes all scopes of wanted.
func (s Scope) Has(wanted Scope) bool { return s&wanted == wanted }

// ParseScopes parses names of scopes, each one of allowed. At least one is required.
func ParseScopes(names []string, allowed Scope) (Scope, error) {
	if len(names) == 0 {
		return 0, fmt.Errorf("must name at least one of %s", strings.Join(allowed.Names(), ", "))
	}
	var all Scope
next:
	for _, name := range names {
		for _, row := range scopeNames {
			if name == row.name && allowed.Has(row.scope) {
				all |= row.scope
				continue next
			}
		}
		return 0, fmt.Errorf("%q is not a scope; must be one of %s", name, strings.Join(allowed.Names(), ", "))
	}
	return all, nil
}

// ScopesOf returns the scopes that a token of a merchant, or of the operator, may
// have.
func ScopesOf(operator bool) Scope {
	if operator {
		return OperatorScopes
	}
	return MerchantScopes
}
