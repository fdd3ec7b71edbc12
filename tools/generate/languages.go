package main

import (
	"cmp"
	"go/format"
	"slices"
	"strings"
	"unicode"
)

const commentWidth = 110

func always(*schema) bool { return true }

// objectsAndEnums are the types for which a language needs a name.
func objectsAndEnums(s *schema) bool {
	return s.isObject() || len(s.OneOf) > 0 || len(s.values()) > 0
}

// typeScript writes interfaces, and types for everything else.
func typeScript(m *model) string {
	x := syntax{
		scalars: map[string]string{"string": "string", "integer": "number", "boolean": "boolean", "null": "null"}, any: "unknown", orElse: " | ",
		list: func(of string) string {
			if strings.Contains(of, " | ") {
				return "(" + of + ")[]"
			}
			return of + "[]"
		},
		table: func(of string) string { return "Record<string, " + of + ">" },
		quote: `"`, literal: func(values string) string { return values }, open: "(string & {})", named: always,
	}
	return write(func(line func(string, ...any)) {
		line("/*! %s */", generatedNote) // this form stays in what is compiled from it
		describe := func(indent, text string) {
			switch lines := comment(text, commentWidth); len(lines) {
			case 0:
			case 1:
				line("%s/** %s */", indent, lines[0])
			default:
				line("%s/**\n%[1]s * %s\n%[1]s */", indent, strings.Join(lines, "\n"+indent+" * "))
			}
		}
		object := func(name string, s *schema, without ...string) {
			line("export interface %s {", name)
			for _, f := range s.Properties {
				if slices.Contains(without, f.name) {
					continue
				}
				describe("  ", f.Description)
				if s.needs(f.name) {
					line("  %s: %s;", f.name, x.of(m, f.schema))
				} else { // undefined also where exactOptionalPropertyTypes tells it from an absent one
					line("  %s?: %s | undefined;", f.name, x.of(m, f.schema))
				}
			}
			line("}")
		}
		for _, t := range m.types {
			line("")
			describe("", t.Description)
			variants := t.variants()
			switch {
			case len(variants) > 0:
				object(t.name+"Base", t.schema, "type", "data")
				var all []string
				for _, v := range variants {
					line("export interface %s extends %sBase { type: %s; data: %s }", v.name, t.name, quoted(v.types, `"`, " | "), v.data)
					all = append(all, v.name)
				}
				line("/** Types may be added: ignore those that you do not know. */\nexport type %s = %s;", t.name, strings.Join(all, " | "))
			case t.isObject():
				object(t.name, t.schema)
			default:
				plain := *t.schema
				plain.Title = ""
				line("export type %s = %s;", t.name, x.of(m, &plain))
			}
		}
	})
}

// python writes TypedDicts for Python 3.9, and aliases for everything else.
func python(m *model) string {
	union := func(text string) string {
		if strings.Contains(outsideBrackets(text), ", ") {
			return "Union[" + text + "]"
		}
		return text
	}
	x := syntax{
		scalars: map[string]string{"string": "str", "integer": "int", "boolean": "bool", "null": "None"}, any: "Any", orElse: ", ",
		list: func(of string) string { return "List[" + union(of) + "]" }, table: func(of string) string { return "Dict[str, " + union(of) + "]" },
		quote: `"`, literal: func(values string) string { return "Literal[" + values + "]" }, open: "str", named: always,
	}
	p := pythonClasses{of: func(s *schema) string { return union(x.of(m, s)) }}
	var unions []string // they name other types, so they stand last
	classes := write(func(line func(string, ...any)) {
		p.line = line
		for _, t := range m.types {
			if t.isObject() {
				p.object(t)
				continue
			}
			plain := *t.schema
			plain.Title = ""
			p.exported = append(p.exported, t.name)
			to := &p.aliases
			if len(t.OneOf) > 0 {
				to = &unions
			}
			*to = append(*to, t.name+" = "+p.of(&plain))
		}
	})
	slices.Sort(p.exported)
	return "# " + generatedNote + `
"""The types of the interface."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, List, Literal, TypedDict, Union

if TYPE_CHECKING:
    from typing_extensions import NotRequired

__all__ = [
    ` + quoted(p.exported, `"`, ",\n    ") + `,
]
` + classes + "\n\n" + strings.Join(append(p.aliases, unions...), "\n") + "\n"
}

// pythonClasses writes the classes of objects. It collects names to export, and aliases.
type pythonClasses struct {
	line              func(string, ...any)
	of                func(*schema) string
	exported, aliases []string
}

func (p *pythonClasses) describe(indent, text string) {
	if lines := comment(text, commentWidth); len(lines) > 0 {
		p.line(`%s"""%s"""`, indent, strings.ReplaceAll(strings.Join(lines, "\n"+indent), `\`, `\\`))
	}
}

func (p *pythonClasses) class(name, base, description string) {
	p.exported = append(p.exported, name)
	p.line("\n\nclass %s(%s):", name, base)
	p.describe("    ", description)
}

// object writes the class of an object, and those of its variants.
func (p *pythonClasses) object(t field) {
	if t.Properties.get("from") != nil { // a keyword, which is no name in a class
		p.exported = append(p.exported, t.name)
		p.line("\n\n%s = TypedDict(\n    %[1]q,\n    {", t.name)
		for _, f := range t.Properties {
			p.line("        %q: %q,", f.name, p.of(f.schema))
		}
		p.line("    },\n)")
		p.describe("", t.Description)
		return
	}
	variants, name := t.variants(), t.name
	if len(variants) > 0 {
		name += "Base"
	}
	p.class(name, "TypedDict", t.Description)
	for _, f := range t.Properties {
		if len(variants) > 0 && (f.name == "type" || f.name == "data") {
			continue
		}
		kind := p.of(f.schema)
		if !t.needs(f.name) {
			kind = "NotRequired[" + kind + "]"
		}
		p.line("    %s: %s", f.name, kind)
		p.describe("    ", f.Description)
	}
	var all []string
	for _, v := range variants {
		p.class(v.name, name, "")
		p.line("    type: Literal[%s]\n    data: %s", quoted(v.types, `"`, ", "), v.data)
		all = append(all, v.name)
	}
	if len(variants) > 0 {
		p.exported = append(p.exported, t.name)
		p.aliases = append(p.aliases, t.name+" = Union["+strings.Join(all, ", ")+"]")
	}
}

// outsideBrackets returns a text without what stands in brackets.
func outsideBrackets(text string) string {
	depth := 0
	return strings.Map(func(r rune) rune {
		switch r {
		case '[':
			depth++
		case ']':
			depth--
		}
		if depth > 0 {
			return -1
		}
		return r
	}, text)
}

// php writes shapes for PHPStan and Psalm, and constants for enumerations, for PHP 7.4.
func php(m *model) string {
	x := syntax{
		scalars: map[string]string{"string": "string", "integer": "int", "boolean": "bool", "null": "null"}, any: "mixed", orElse: "|",
		list: func(of string) string { return "list<" + of + ">" }, table: func(string) string { return `\stdClass` },
		quote: "'", literal: func(values string) string { return values }, open: "string", named: objectsAndEnums,
	}
	return write(func(line func(string, ...any)) {
		line("<?php\n\n// %s\n\ndeclare(strict_types=1);\n\nnamespace MerchantOrders;\n\n/**\n * The shapes of the interface, for PHPStan and Psalm: `@phpstan-import-type Order from Types`.", generatedNote)
		for _, t := range m.types {
			plain := *t.schema
			plain.Title = ""
			line(" *")
			if lines := comment(strings.ReplaceAll(t.Description, "*/", "* /"), commentWidth); len(lines) > 0 {
				line(" * %s", strings.Join(lines, "\n * "))
			}
			if !t.isObject() {
				line(" * @phpstan-type %s %s", t.name, x.of(m, &plain))
				continue
			}
			line(" * @phpstan-type %s object{", t.name)
			for _, f := range t.Properties {
				optional := "?"
				if t.needs(f.name) {
					optional = ""
				}
				line(" *   %s%s: %s,", f.name, optional, x.of(m, f.schema))
			}
			line(" * }")
		}
		line(" */\nfinal class Types\n{\n}")
		for _, t := range m.types {
			if len(t.values()) == 0 {
				continue
			}
			line("\n/** The values of %s. */\nfinal class %[1]s\n{", t.name)
			for _, value := range t.values() {
				line("    public const %s = '%s';", constant(value), value)
			}
			line("}")
		}
	})
}

// goTypes are the types of the Go client, of the schemas that it decodes as they are; the
// others have other forms there. The second is the name if it is another.
var goTypes = [][2]string{
	{"State"}, {"Reason"}, {"OrderSummary", "Summary"}, {"UnansweredOrder"}, {"Customer"}, {"Order"}, {"Address"}, {"Carrier"}, {"Payment"},
	{"InvoiceDetails"}, {"LineItem"}, {"Invoice"}, {"OrderStateChangedData", "StateChange"}, {"InvoiceData", "InvoiceChange"},
	{"WebhookFailedData", "WebhookFailure"}, {"Token"}, {"Webhook"}, {"Delivery"},
}

// goForms are the types and tags of fields that were published with others than those of
// the document's form.
var goForms = map[string]string{
	"OrderStateChangedData.reason": "Reason", "Webhook.types": "[]EventType", "Webhook.include": "Include", "Webhook.batch": "int",
	"Webhook.failures": "int", "Delivery.type": "EventType", "Delivery.status": "int,omitzero", "Delivery.event": "int64,omitzero",
	"Delivery.events": "int,omitzero",
	"Delivery.error":  "string,omitempty", "Token.expiresAt": "time.Time", "Token.revokedAt": "time.Time", "Token.lastUsedAt": "time.Time",
	"Token.label": "string", "Token.createdBy": "int64", "Token.lastUsedFrom": "string", "Webhook.username": "string", "Webhook.reason": "string",
}

// goNames are the names of fields that are not those of the document.
var goNames = map[string]string{
	"Order.id": "Reference", "OrderSummary.id": "Reference", "Order.addressDetails": "Address",
	"Carrier.deliveryToCourierEstimationDate": "DeliveryToCourierEstimation", "Carrier.deliveryToCustomerEstimationDate": "DeliveryToCustomerEstimation",
	"InvoiceDetails.doy": "TaxOfficeCode", "InvoiceDetails.doyName": "TaxOfficeName", "LineItem.sfArticle39Valid": "Article39Valid",
}

// goOwn are fields that the client adds, and goNote what it says of a type.
var (
	goOwn = map[string]string{"Order": `
	// Problem is why an Export has nothing of the order but its Reference; empty: it has all.
	Problem string ` + "`json:\"problem,omitempty\"`" + `

	// Tag is the entity tag of the order, for IfMatch. It may be empty.
	Tag string ` + "`json:\"tag,omitempty\"`" + `

	// Document is the JSON from which the order was decoded: from a call, the order exactly
	// as the service shows it.
	Document json.RawMessage ` + "`json:\"-\"`"}
	goNote = map[string]string{
		"Order": " Its JSON encoding has the field names of version 2 and times in RFC 3339; zero times are omitted.",
	}
)

// goModel writes Go. It has the names of the types.
type goModel struct {
	*model
	names map[string]string
}

// of returns the type of a value.
func (m goModel) of(s *schema) string {
	target, name := s, s.target()
	for name != "" && m.names[name] == "" && target.Ref != "" {
		target = fields(m.types).get(name)
		name = target.target()
	}
	null := ""
	if target.nullable() {
		null = "*"
	}
	switch {
	case m.names[name] != "":
		return m.names[name]
	case len(target.OneOf) == 2 && target.OneOf[0].Ref != "":
		return "*" + m.of(&target.OneOf[0])
	case target.has("string") && slices.Contains([]string{"Moment", "MomentOrNull", "Time", "TimeOrNull"}, s.target()):
		return "time.Time"
	case target.has("string"):
		return null + "string"
	case target.has("integer"):
		return null + "int64"
	case target.has("boolean"):
		return "bool"
	case target.Items != nil && len(target.Items.Type) == 0 && target.Items.Ref == "":
		return "[]json.RawMessage"
	case target.Items != nil:
		return "[]" + m.of(target.Items)
	}
	return "any"
}

// field returns the type and the tag of a field of an object.
func (m goModel) field(name string, object *schema, f field) (kind, tag string) {
	kind, tag = m.of(f.schema), f.name
	form, option, published := strings.Cut(goForms[name+"."+f.name], ",")
	switch {
	case published:
		return form, tag + "," + option
	case form != "":
		return form, tag
	case kind == "time.Time" && f.target() != "Moment" && f.target() != "Time":
		return kind, tag + ",omitzero"
	case object.needs(f.name):
		return kind, tag
	case strings.HasPrefix(f.name, "merchant"): // as it was published
		return "*" + kind, tag
	case kind == "int64" || kind == "bool":
		return "*" + kind, tag + ",omitempty"
	}
	return kind, tag + ",omitempty"
}

// golang writes structs.
func golang(all *model) string {
	m := goModel{all, make(map[string]string)}
	for _, t := range goTypes {
		m.names[t[0]] = cmp.Or(t[1], t[0])
	}
	text := write(func(line func(string, ...any)) {
		line("// %s\n// Null is nil, the zero time, or with a type that is no pointer its zero value; an absent text is empty.\n\npackage client\n\nimport (\n\t\"encoding/json\"\n\t\"time\"\n)", generatedNote)
		describe := func(indent, text string) {
			for _, text := range comment(text, commentWidth) {
				line("%s// %s", indent, text)
			}
		}
		for _, named := range goTypes {
			schema, name := fields(m.types).get(named[0]), m.names[named[0]]
			line("")
			text := schema.Description + goNote[name]
			if !strings.HasPrefix(text, name) {
				text = name + " is " + strings.ToLower(text[:1]) + text[1:]
			}
			describe("", text)
			if values := schema.values(); len(values) > 0 {
				line("type %s string\n\n// The values of %[1]s.\nconst (", name)
				for _, value := range values {
					line("\t%s %s = %q", goName(value), name, value)
				}
				line(")")
				continue
			}
			line("type %s struct {", name)
			listed := fields(m.types).get("OrderSummary")
			if named[0] == "UnansweredOrder" {
				line("\tSummary")
			} else {
				listed = &schemaWithout
			}
			for _, f := range schema.Properties {
				if listed.Properties.get(f.name) != nil {
					continue
				}
				kind, tag := m.field(named[0], schema, f)
				describe("\t", f.Description)
				line("\t%s %s `json:%q`", cmp.Or(goNames[named[0]+"."+f.name], goName(f.name)), kind, tag)
			}
			line("%s}", strings.TrimPrefix(goOwn[named[0]]+"\n", "\n\n"))
		}
	})
	formatted, err := format.Source([]byte(text))
	if err != nil {
		panic(err) // a fault of this function
	}
	return string(formatted)
}

// schemaWithout has no properties.
var schemaWithout schema

// goName returns the name of a field or value: userId is UserID.
func goName(name string) string {
	var words []string
	word := ""
	for _, r := range name + "_" {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) || unicode.IsUpper(r) {
			words, word = append(words, word), ""
		}
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			word += string(unicode.ToLower(r))
		}
	}
	text := ""
	for _, word := range words {
		if initialism := strings.ToUpper(word); slices.Contains([]string{"EAN", "ID", "OTP", "SKU", "URL", "VAT"}, initialism) {
			text += initialism
		} else if word != "" {
			text += strings.ToUpper(word[:1]) + word[1:]
		}
	}
	return text
}
