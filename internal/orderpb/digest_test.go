package orderpb

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"reflect"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"

	"merchantorders/internal/order"
	"merchantorders/internal/order/ordertest"
	"merchantorders/internal/testenv"
)

// asIs is the canonical form of attributes that have no other spelling.
func asIs(attributes []byte) []byte { return attributes }

// TestDigestIsStable pins the bytes that are hashed. Digests are stored: with
// another digest every re-imported order would be a conflict.
func TestDigestIsStable(t *testing.T) {
	t.Parallel()
	notes := ""
	small := order.Order{
		MerchantID: 355, Reference: "R", State: order.Registered, CreatedAt: time.Unix(0, 0), Notes: &notes,
		LineItems: []order.LineItem{{ID: 1, GiftWrap: true, ExtendedAttributes: []byte("[]"), PickupDate: order.NoDay, DeliveryDate: 2}},
	}
	const want = "08e302120152180130004a0052172a003a0042004a005a0d0801980101a201025b5db00104"
	encoded := testenv.Of(proto.Marshal(newDocument(&small))).Must(t)
	testenv.Equal(t, "bytes", want, hex.EncodeToString(encoded))
	// A document without the fields that 1.0.0 does not know has its digest.
	large := ordertest.Rich()
	large.ShippingAmount, large.ShippingVATRate, large.LineItems[0].VATRate = nil, "", ""
	digest := Digest(&large, asIs)
	const wantDigest = "f83b7f8b9261e4e39b8b95ea9effdf82ee97ae91dbbd035d47578078e42e54a2"
	testenv.Equal(t, "digest", wantDigest, hex.EncodeToString(digest[:]))
}

// TestDigestCoversEveryField changes the fields of an order document one by one.
func TestDigestCoversEveryField(t *testing.T) {
	t.Parallel()
	o := ordertest.Rich()
	first := proto.CloneOf(newDocument(&o)) // two fields share a pointer
	seen := map[[32]byte]string{first.digest(): "the first"}
	changeFields(first.ProtoReflect(), "", func(path string) {
		d := first.digest()
		if other, found := seen[d]; found {
			t.Errorf("%s changed: the digest is that of %s", path, other)
		}
		seen[d] = path
	})
	if len(seen) < 60 {
		t.Errorf("%d digests, want one for each field", len(seen))
	}
}

// changeFields changes each scalar field of a message in turn, calls changed and
// restores the field.
func changeFields(m protoreflect.Message, path string, changed func(path string)) {
	for _, field := range fieldsOf(m.Descriptor()) {
		name := path + "/" + string(field.Name())
		switch {
		case field.IsList() && field.Message() == nil:
			list := m.Mutable(field).List()
			list.Append(list.NewElement())
			changed(name)
			list.Truncate(list.Len() - 1)
		case field.IsList():
			for i := range m.Get(field).List().Len() {
				changeFields(m.Get(field).List().Get(i).Message(), name, changed)
			}
		case field.Message() != nil:
			if m.Has(field) {
				changeFields(m.Get(field).Message(), name, changed)
			}
		default:
			had, before := m.Has(field), m.Get(field)
			m.Set(field, other(field, before))
			changed(name)
			if m.Set(field, before); !had {
				m.Clear(field)
			}
		}
	}
}

func fieldsOf(message protoreflect.MessageDescriptor) []protoreflect.FieldDescriptor {
	fields := make([]protoreflect.FieldDescriptor, message.Fields().Len())
	for i := range fields {
		fields[i] = message.Fields().Get(i)
	}
	return fields
}

// other returns another value of a field.
func other(field protoreflect.FieldDescriptor, value protoreflect.Value) protoreflect.Value {
	switch field.Kind() {
	case protoreflect.StringKind:
		return protoreflect.ValueOfString(value.String() + "x")
	case protoreflect.BytesKind:
		return protoreflect.ValueOfBytes(append([]byte("x"), value.Bytes()...))
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(!value.Bool())
	case protoreflect.Sint32Kind:
		return protoreflect.ValueOfInt32(int32(value.Int()) + 1)
	default:
		return protoreflect.ValueOfInt64(value.Int() + 1)
	}
}

// TestDigestOfNewerSchema computes the digest with a schema that has more fields
// than the one of this version, in every message: it is the same as long as the
// document does not use them.
func TestDigestOfNewerSchema(t *testing.T) {
	t.Parallel()
	o := ordertest.Rich()
	document := newDocument(&o)
	stored := testenv.Of(proto.Marshal(document)).Must(t)
	newer := dynamicpb.NewMessage(newerSchema(t).Messages().ByName("Document"))
	testenv.NoError(t, proto.Unmarshal(stored, newer))
	testenv.Equal(t, "what is hashed with the newer schema", stored, encodeNewer(t, newer))
	details := newer.Mutable(newer.Descriptor().Fields().ByName("details")).Message()
	details.Set(details.Descriptor().Fields().ByName("new_field"), protoreflect.ValueOfString("x"))
	if bytes.Equal(encodeNewer(t, newer), stored) {
		t.Error("what is hashed does not depend on the new field")
	}
}

// encodeNewer encodes a message of the newer schema as the generated code would,
// by ascending field number.
func encodeNewer(t *testing.T, m proto.Message) []byte {
	t.Helper()
	encoded := testenv.Of(proto.MarshalOptions{Deterministic: true}.Marshal(m)).Must(t)
	return encoded
}

// newerSchema returns order.proto with one more field in every message.
func newerSchema(t *testing.T) protoreflect.FileDescriptor {
	t.Helper()
	file := protodesc.ToFileDescriptorProto(File_internal_orderpb_order_proto)
	for _, message := range file.MessageType {
		message.Field = append(message.Field, &descriptorpb.FieldDescriptorProto{
			Name: proto.String("new_field"), Number: proto.Int32(1000),
			Label: descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL.Enum(), Type: descriptorpb.FieldDescriptorProto_TYPE_STRING.Enum(),
		})
	}
	newer := testenv.Of(protodesc.NewFile(file, protoregistry.GlobalFiles)).Must(t)
	return newer
}

// TestDocumentIsComplete checks that every field of an order that a document has
// reaches the digest: a field added to package order must be added here too.
func TestDocumentIsComplete(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		of      any
		message proto.Message
	}{
		{order.Customer{}, (*Customer)(nil)},
		{order.Address{}, (*Address)(nil)},
		{order.Carrier{}, (*Carrier)(nil)},
		{order.InvoiceDetails{}, (*InvoiceDetails)(nil)},
		{order.LineItem{}, (*LineItem)(nil)},
	} {
		testenv.Equal(t, fmt.Sprintf("fields of %T", test.of), reflect.TypeOf(test.of).NumField(), fieldCount(test.message))
	}
	// Without Document.details, and MerchantName, Unreadable, LegacyID, MerchantData, Invoices, InvoiceNumbers and Revision.
	got, want := fieldCount((*Document)(nil))-1+fieldCount((*Details)(nil)), reflect.TypeFor[order.Order]().NumField()-7
	testenv.Equal(t, "fields of order.Order in a document", want, got)
}

func fieldCount(m proto.Message) int { return m.ProtoReflect().Descriptor().Fields().Len() }
