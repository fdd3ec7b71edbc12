package store

import (
	"encoding/json"
	"fmt"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"merchantorders/internal/order"
)

// encoder writes records of numbered fields. A field is given as a pointer to
// its variable; its number is its place in the list, from 1.
type encoder struct {
	bytes []byte
	room  []byte // for records within, one after the other
	err   error
}

// record writes a record as a field of the one around it.
func (e *encoder) record(number protowire.Number, fields []any) {
	inner := encoder{bytes: e.room[:0]}
	inner.fields(fields)
	e.content(number, inner.bytes)
	e.room = inner.bytes
	if inner.err != nil {
		e.err = inner.err
	}
}

// fields writes the fields of a record.
func (e *encoder) fields(fields []any) {
	for i, field := range fields {
		e.field(protowire.Number(i+1), field)
	}
}

func (e *encoder) field(number protowire.Number, field any) {
	switch value := field.(type) {
	case *string:
		if *value != "" {
			e.text(number, *value)
		}
	case **string:
		if *value != nil {
			e.text(number, **value)
		}
	case *json.RawMessage:
		e.content(number, *value)
	case *int64:
		e.number(number, *value)
	case *order.Day:
		e.number(number, int64(*value))
	case *time.Time:
		if !value.IsZero() {
			e.number(number, value.Unix())
		}
	case *bool:
		if *value {
			e.number(number, 1)
		}
	case *[]int64:
		for _, n := range *value {
			e.varint(number, protowire.EncodeZigZag(n))
		}
	case *any:
		e.either(number, *value)
	default:
		e.err = fmt.Errorf("a field of type %T cannot be stored", field)
	}
}

// either writes what came as text, as true or false, or not at all.
func (e *encoder) either(number protowire.Number, value any) {
	switch value := value.(type) {
	case nil:
	case string:
		e.text(number, value)
	case bool:
		e.varint(number, protowire.EncodeBool(value))
	default:
		e.err = fmt.Errorf("a value of type %T cannot be stored", value)
	}
}

func (e *encoder) text(number protowire.Number, value string) {
	e.bytes = protowire.AppendString(protowire.AppendTag(e.bytes, number, protowire.BytesType), value)
}

func (e *encoder) content(number protowire.Number, value []byte) {
	e.bytes = protowire.AppendBytes(protowire.AppendTag(e.bytes, number, protowire.BytesType), value)
}

func (e *encoder) number(number protowire.Number, value int64) {
	if value != 0 {
		e.varint(number, protowire.EncodeZigZag(value))
	}
}

func (e *encoder) varint(number protowire.Number, value uint64) {
	e.bytes = protowire.AppendVarint(protowire.AppendTag(e.bytes, number, protowire.VarintType), value)
}

// decoder reads what encoder writes. Numbers that it does not know are skipped:
// a newer version has written them.
type decoder struct {
	bytes []byte
	// text is the same bytes, made into a string once: every text that is read
	// is a part of it.
	text string
	// number is the value of a field that is a number.
	number   uint64
	isNumber bool
}

func newDecoder(stored []byte) decoder {
	text := string(stored)
	return decoder{bytes: stored, text: text}
}

// each calls fn for every field of a record.
func (d decoder) each(fn func(protowire.Number, decoder) error) error {
	for at := 0; at < len(d.bytes); {
		number, kind, n := protowire.ConsumeTag(d.bytes[at:])
		if n < 0 {
			return protowire.ParseError(n)
		}
		at += n
		var value decoder
		switch kind {
		case protowire.VarintType:
			value.isNumber = true
			value.number, n = protowire.ConsumeVarint(d.bytes[at:])
		case protowire.BytesType:
			if value.bytes, n = protowire.ConsumeBytes(d.bytes[at:]); n >= 0 {
				value.text = d.text[at+n-len(value.bytes) : at+n]
			}
		default:
			n = protowire.ConsumeFieldValue(number, kind, d.bytes[at:])
		}
		if n < 0 {
			return protowire.ParseError(n)
		}
		at += n
		if err := fn(number, value); err != nil {
			return err
		}
	}
	return nil
}

// fields reads the fields of a record into their variables.
func (d decoder) fields(fields []any) error {
	return d.each(func(number protowire.Number, value decoder) error {
		if int64(number) <= int64(len(fields)) {
			value.read(fields[number-1])
		}
		return nil
	})
}

// read reads a field into its variable.
func (d decoder) read(field any) {
	switch variable := field.(type) {
	case *string:
		*variable = d.text
	case **string:
		text := d.text
		*variable = &text
	case *json.RawMessage:
		*variable = json.RawMessage(d.text)
	case *int64:
		*variable = protowire.DecodeZigZag(d.number)
	case *order.Day:
		*variable = order.Day(protowire.DecodeZigZag(d.number))
	case *time.Time:
		*variable = time.Unix(protowire.DecodeZigZag(d.number), 0).UTC()
	case *bool:
		*variable = d.number != 0
	case *[]int64:
		*variable = append(*variable, protowire.DecodeZigZag(d.number))
	case *any:
		*variable = d.text
		if d.isNumber {
			*variable = protowire.DecodeBool(d.number)
		}
	}
}
