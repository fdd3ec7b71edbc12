package orderpb

import (
	"crypto/sha256"
	"fmt"

	"google.golang.org/protobuf/proto"

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
// The digest is the SHA-256 of the encoded Document. The encoder writes the fields by
// ascending number and leaves absent and default values out. So a field that is added to
// order.proto does not change the digest of documents without it. The module promises no
// stable order of bytes, so TestDigestIsStable pins it.
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
	hashed, err := proto.MarshalOptions{Deterministic: true}.MarshalAppend([]byte(digestVersion), d)
	if err != nil { // only for text that is not UTF-8, which no JSON document has
		panic(fmt.Sprintf("orderpb: encode a document: %v", err))
	}
	return sha256.Sum256(hashed)
}
