package order

import (
	"fmt"
	"strings"
)

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
