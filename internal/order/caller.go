package order

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
