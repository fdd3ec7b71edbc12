package order

// Incoming is an order to be imported, read from a valid order document.
type Incoming struct {
	Order Order // LegacyID 0: assign the next free one
	// Digest covers the content of the document with its defaults filled in, but
	// not LegacyID. Documents with equal digests have equal content.
	Digest [32]byte
}

// ImportStatus says what the import did with an order (decision 7).
type ImportStatus uint8

// The import statuses.
const (
	Created   ImportStatus = iota + 1
	Unchanged              // the reference exists, with the same content
	Conflict               // the reference or the legacy id exists, with other content
	Invalid                // the merchant does not exist
)

// String returns the word that the counts of an import use.
func (s ImportStatus) String() string {
	switch s {
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

// ImportResult is the result for one order of an import.
type ImportResult struct {
	Status   ImportStatus
	LegacyID int64  // of an order created or unchanged
	Reason   string // of a conflicting or invalid order: the field and what is wrong with it
}
