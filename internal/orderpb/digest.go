package orderpb

import (
	"crypto/sha256"
	"fmt"

	"merchantorders/internal/order"
)

// digestVersion begins what is hashed. Stored digests compare equal only to those
// of the same version, so a new version makes a conflict of every unchanged
// order.
const digestVersion = "order document 1\n"

// noAttributes are the extended attributes of a line that has none.
const noAttributes = "[]"

// Digest returns the digest of an order document: documents with equal content
// have equal digests. canonical returns the canonical form of a JSON array, for
// extended attributes.
//
// The digest is the SHA-256 of the encoded Document. The generated encoder writes
// the fields by ascending number and leaves absent and default values out. So a
// field that is added to order.proto does not change the digest of documents
// without it.
func Digest(o *order.Order, canonical func([]byte) []byte) [sha256.Size]byte {
	d := newDocument(o)
	for _, line := range d.Details.LineItems {
		if line.ExtendedAttributes = canonical(line.ExtendedAttributes); string(line.ExtendedAttributes) == noAttributes {
			line.ExtendedAttributes = nil
		}
	}
	return d.digest()
}

func (d *Document) digest() [sha256.Size]byte {
	hashed := make([]byte, len(digestVersion)+d.SizeVT())
	copy(hashed, digestVersion)
	if _, err := d.MarshalToSizedBufferVT(hashed[len(digestVersion):]); err != nil {
		// The generated code returns no error for these messages.
		panic(fmt.Sprintf("orderpb: encode a document: %v", err))
	}
	return sha256.Sum256(hashed)
}
