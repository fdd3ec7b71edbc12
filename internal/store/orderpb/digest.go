package orderpb

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"sync"

	"google.golang.org/protobuf/reflect/protoreflect"

	"merchantorders/internal/order"
)

// digestVersion begins what is hashed. Stored digests compare equal only to those
// of the same version, so a new version makes a conflict of every unchanged
// order.
const digestVersion = "order document 2\n"

// noAttributes are the extended attributes of a line that has none.
const noAttributes = "[]"

// Digest returns the digest of an order document: documents with equal content
// have equal digests. canonical returns the canonical form of a JSON array, for
// extended attributes.
//
// The digest is the SHA-256 of the values of Document that are present and not
// the default, each with its field number. So a field that is added to
// order.proto does not change the digest of documents without it. Marshaled
// bytes are not hashed: their form may change with the version of the library.
func Digest(o *order.Order, canonical func([]byte) []byte) [sha256.Size]byte {
	d := newDocument(o)
	for _, line := range d.Details.LineItems {
		if line.ExtendedAttributes = canonical(line.ExtendedAttributes); string(line.ExtendedAttributes) == noAttributes {
			line.ExtendedAttributes = nil
		}
	}
	return digest(d.ProtoReflect())
}

func digest(document protoreflect.Message) [sha256.Size]byte {
	return sha256.Sum256(appendMessage(append(make([]byte, 0, 4096), digestVersion...), document))
}

// appendMessage appends the fields of a message, by ascending number: for each
// its number and its value, then 0.
func appendMessage(b []byte, m protoreflect.Message) []byte {
	for _, field := range sortedFields(m.Descriptor()) {
		if !m.Has(field) {
			continue
		}
		b = binary.AppendUvarint(b, uint64(field.Number()))
		value := m.Get(field)
		if !field.IsList() {
			b = appendValue(b, field, value)
			continue
		}
		list := value.List()
		b = binary.AppendUvarint(b, uint64(list.Len()))
		for i := range list.Len() {
			b = appendValue(b, field, list.Get(i))
		}
	}
	return append(b, 0)
}

// appendValue appends one value of a field: an integer as a signed varint, a
// boolean as 0 or 1, a text with its length before it.
func appendValue(b []byte, field protoreflect.FieldDescriptor, value protoreflect.Value) []byte {
	switch kind := field.Kind(); kind {
	case protoreflect.MessageKind:
		return appendMessage(b, value.Message())
	case protoreflect.StringKind:
		text := value.String()
		return append(binary.AppendUvarint(b, uint64(len(text))), text...)
	case protoreflect.BytesKind:
		text := value.Bytes()
		return append(binary.AppendUvarint(b, uint64(len(text))), text...)
	case protoreflect.Int64Kind, protoreflect.Sint32Kind:
		return binary.AppendVarint(b, value.Int())
	case protoreflect.BoolKind:
		if value.Bool() {
			return append(b, 1)
		}
		return append(b, 0)
	default:
		// order.proto has none; TestDigestKinds holds that.
		panic(fmt.Sprintf("orderpb: the digest does not know the kind of field %s, %v", field.FullName(), kind))
	}
}

// fieldsByMessage caches sortedFields.
var fieldsByMessage sync.Map // protoreflect.MessageDescriptor -> []protoreflect.FieldDescriptor

// sortedFields returns the fields of a message by ascending number.
func sortedFields(message protoreflect.MessageDescriptor) []protoreflect.FieldDescriptor {
	if fields, ok := fieldsByMessage.Load(message); ok {
		return fields.([]protoreflect.FieldDescriptor)
	}
	fields := make([]protoreflect.FieldDescriptor, message.Fields().Len())
	for i := range fields {
		fields[i] = message.Fields().Get(i)
	}
	slices.SortFunc(fields, func(a, b protoreflect.FieldDescriptor) int { return int(a.Number()) - int(b.Number()) })
	fieldsByMessage.Store(message, fields)
	return fields
}
