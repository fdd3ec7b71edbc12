package order

// Incoming is an order on its way in, read and found valid by itself.
type Incoming struct {
	Order Order // LegacyID 0: take the next free one
	// Digest is over the whole document after its defaults are filled in, but
	// not over the number. Two documents with one digest have the same content.
	Digest [32]byte
}

// ImportStatus is what became of an incoming order.
type ImportStatus uint8

// The verdicts on an incoming order (decision 7).
const (
	Created   ImportStatus = iota + 1
	Unchanged              // the same reference with the same content was there
	Conflict               // reference or number is taken by other content
	Invalid                // refused: it names a merchant that does not exist
)

// String returns the word that the import's counts use.
func (v ImportStatus) String() string {
	switch v {
	case Created:
		return "created"
	case Unchanged:
		return "unchanged"
	case Conflict:
		return "conflicting"
	case Invalid:
		return "invalid"
	}
	return "unknown"
}

// ImportResult is the verdict on one incoming order.
type ImportResult struct {
	Status   ImportStatus
	LegacyID int64  // of an order created or unchanged
	Reason   string // why it is conflicting or invalid; names the field
}
