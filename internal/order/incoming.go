package order

// Incoming is an order on its way in, read and found valid by itself.
type Incoming struct {
	Order Order // Number 0: take the next free one
	// Digest is over the whole document after its defaults are filled in, but
	// not over the number. Two documents with one digest have the same content.
	Digest [32]byte
}

// Verdict is what became of an incoming order.
type Verdict uint8

// The verdicts on an incoming order (decision 7).
const (
	Created     Verdict = iota + 1
	Unchanged           // the same reference with the same content was there
	Conflicting         // reference or number is taken by other content
	Invalid             // refused: it names a merchant that does not exist
)

// String returns the word that the import's counts use.
func (v Verdict) String() string {
	switch v {
	case Created:
		return "created"
	case Unchanged:
		return "unchanged"
	case Conflicting:
		return "conflicting"
	case Invalid:
		return "invalid"
	}
	return "unknown"
}

// Outcome is the verdict on one incoming order.
type Outcome struct {
	Verdict Verdict
	Number  int64  // of an order created or unchanged
	Reason  string // why it is conflicting or invalid; names the field
}
