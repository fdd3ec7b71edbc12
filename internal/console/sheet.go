package console

import (
	"archive/zip"
	"bufio"
	"encoding/xml"
	"io"
	"regexp"
	"strconv"
	"strings"
	"time"

	"merchantorders/internal/order"
)

// The types and parts of a workbook (ECMA-376). The sheets come first, because how many
// there are is known at the end.
const (
	xmlHead       = `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>` + "\n"
	mainNamespace = `"http://schemas.openxmlformats.org/spreadsheetml/2006/main"`
	relNamespace  = `"http://schemas.openxmlformats.org/officeDocument/2006/relationships"`
	officeTypes   = `application/vnd.openxmlformats-officedocument.spreadsheetml.`
	packageRels   = `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">`
	relType       = `Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/`

	sheetBegin = xmlHead + `<worksheet xmlns=` + mainNamespace + `><sheetViews><sheetView workbookViewId="0">` +
		`<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews><cols><col min="1" max="26" width="18" customWidth="1"/></cols><sheetData>`
	sheetEnd = `</sheetData></worksheet>`

	// styles are the formats of cells, in the order of the constants below. quotePrefix and
	// the number format 49 keep a text a text, also after somebody has edited it.
	styles = xmlHead + `<styleSheet xmlns=` + mainNamespace + `><numFmts count="1"><numFmt numFmtId="164" formatCode="#,##0.000"/></numFmts>` +
		`<fonts count="2"><font/><font><b/></font></fonts><fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills>` +
		`<borders count="1"><border/></borders><cellStyleXfs count="1"><xf/></cellStyleXfs><cellXfs count="7"><xf/>` +
		`<xf numFmtId="49" applyNumberFormat="1" quotePrefix="1"/><xf numFmtId="49" applyNumberFormat="1" quotePrefix="1" fontId="1" applyFont="1"/>` +
		`<xf numFmtId="22" applyNumberFormat="1"/><xf numFmtId="3" applyNumberFormat="1"/><xf numFmtId="4" applyNumberFormat="1"/><xf numFmtId="164" applyNumberFormat="1"/></cellXfs>` +
		`<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>`
)

// The formats of cells.
const (
	styleText, styleHeading, styleTime = "1", "2", "3"
	// amounts without decimals, with two, and with three
	styleWhole, styleCents, styleMils = "4", "5", "6"
)

const (
	// sheetType is the media type of a workbook.
	sheetType = officeTypes + "sheet"
	// maxRows is how many rows a sheet has at most. Another one follows.
	maxRows = 1 << 20
	// maxCellText is how many characters a cell has at most.
	maxCellText = 32767
)

// sheetWriter writes a workbook for Excel and other spreadsheets, row by row: it keeps
// nothing but the row. The first error of a write is returned by flush and close.
type sheetWriter struct {
	file    *zip.Writer
	part    *bufio.Writer // the part that is written
	heading []string      // of each sheet
	maxRows int           // of a sheet
	sheets  int
	rows    int // of the last sheet
	column  int // of the next cell
	err     error
}

// newSheetWriter returns a workbook whose sheets begin with a row of headings.
func newSheetWriter(w io.Writer, heading []string) *sheetWriter {
	s := &sheetWriter{file: zip.NewWriter(w), heading: heading, maxRows: maxRows}
	s.beginSheet()
	return s
}

func (s *sheetWriter) beginSheet() {
	s.sheets, s.rows = s.sheets+1, 0
	s.begin("xl/worksheets/sheet" + strconv.Itoa(s.sheets) + ".xml")
	s.write(sheetBegin)
	s.beginRow()
	for _, text := range s.heading {
		s.textAs(styleHeading, text)
	}
	s.endRow()
}

// begin begins a part of the file. The one before is whole.
func (s *sheetWriter) begin(name string) {
	s.endPart()
	part, err := s.file.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate})
	s.fail(err)
	if err == nil {
		s.part = bufio.NewWriter(part)
	}
}

func (s *sheetWriter) endPart() {
	if s.part != nil {
		s.fail(s.part.Flush())
	}
}

// add adds a whole part.
func (s *sheetWriter) add(name, content string) {
	s.begin(name)
	s.write(xmlHead + content)
}

func (s *sheetWriter) fail(err error) {
	if s.err == nil {
		s.err = err
	}
}

func (s *sheetWriter) write(texts ...string) {
	for _, text := range texts {
		if s.err == nil {
			_, s.err = s.part.WriteString(text)
		}
	}
}

// beginRow begins a row, in another sheet if this one is full.
func (s *sheetWriter) beginRow() {
	if s.rows == s.maxRows {
		s.write(sheetEnd)
		s.beginSheet()
	}
	s.rows, s.column = s.rows+1, 0
	s.write(`<row r="`, strconv.Itoa(s.rows), `">`)
}

func (s *sheetWriter) endRow() { s.write(`</row>`) }

// cell begins a cell. There are fewer than 27.
func (s *sheetWriter) cell(style, kind string) {
	s.write(`<c r="`, string(rune('A'+s.column)), strconv.Itoa(s.rows), `" s="`, style, `"`, kind, `>`)
	s.column++
}

// escape matches what spreadsheets read as an escaped character.
var escape = regexp.MustCompile(`_(x[0-9A-Fa-f]{4}_)`)

func (s *sheetWriter) text(text string) { s.textAs(styleText, text) }

// textAs writes a text. A spreadsheet takes it for nothing else, such as a formula.
func (s *sheetWriter) textAs(style, text string) {
	if text == "" {
		s.column++
		return
	}
	if len(text) > maxCellText {
		text = strings.ToValidUTF8(text[:maxCellText], "") // without a part of a character
	}
	s.cell(style, ` t="inlineStr"`)
	s.write(`<is><t xml:space="preserve">`)
	if s.err == nil {
		s.err = xml.EscapeText(s.part, []byte(escape.ReplaceAllString(text, "_x005F_$1")))
	}
	s.write(`</t></is></c>`)
}

func (s *sheetWriter) number(n int64) { s.decimal(strconv.FormatInt(n, 10)) }

// decimal writes a number that is given as text; the empty text is no number.
func (s *sheetWriter) decimal(number string) {
	if number == "" {
		s.column++
		return
	}
	s.cell("0", "")
	s.write(`<v>`, number, `</v></c>`)
}

// amount writes an amount in minor units.
func (s *sheetWriter) amount(amount int64, currency string) {
	text := order.Decimal(amount, currency)
	_, fraction, _ := strings.Cut(text, ".")
	style := styleCents
	switch len(fraction) {
	case 0:
		style = styleWhole
	case 3, 4:
		style = styleMils
	}
	s.cell(style, "")
	s.write(`<v>`, text, `</v></c>`)
}

// moment writes a time as the clocks of a time zone show it; the zero time is empty.
func (s *sheetWriter) moment(t time.Time, zone *time.Location) {
	if t.IsZero() {
		s.column++
		return
	}
	local := t.In(zone)
	_, offset := local.Zone()
	const epoch = 25569 // the day 1970-01-01 of spreadsheets
	serial := epoch + float64(local.Unix()+int64(offset))/(24*60*60)
	if serial < 61 { // before March 1900 spreadsheets disagree, and before 1900 they have no days
		s.text(local.Format(time.DateTime))
		return
	}
	s.cell(styleTime, "")
	s.write(`<v>`, strconv.FormatFloat(serial, 'f', -1, 64), `</v></c>`)
}

// flush sends what is written to the writer of the workbook.
func (s *sheetWriter) flush() error {
	s.fail(s.part.Flush())
	s.fail(s.file.Flush())
	return s.err
}

// close ends the workbook.
func (s *sheetWriter) close() error {
	s.write(sheetEnd)
	var types, sheets, rels string
	for i := range s.sheets {
		n := strconv.Itoa(i + 1)
		types += `<Override PartName="/xl/worksheets/sheet` + n + `.xml" ContentType="` + officeTypes + `worksheet+xml"/>`
		sheets += `<sheet name="` + n + `" sheetId="` + n + `" r:id="rId` + n + `"/>`
		rels += `<Relationship Id="rId` + n + `" ` + relType + `worksheet" Target="worksheets/sheet` + n + `.xml"/>`
	}
	s.begin("xl/styles.xml")
	s.write(styles)
	s.add("xl/workbook.xml", `<workbook xmlns=`+mainNamespace+` xmlns:r=`+relNamespace+`><sheets>`+sheets+`</sheets></workbook>`)
	s.add("xl/_rels/workbook.xml.rels", packageRels+rels+`<Relationship Id="styles" `+relType+`styles" Target="styles.xml"/></Relationships>`)
	s.add("_rels/.rels", packageRels+`<Relationship Id="rId1" `+relType+`officeDocument" Target="xl/workbook.xml"/></Relationships>`)
	s.add("[Content_Types].xml", `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>`+
		`<Override PartName="/xl/workbook.xml" ContentType="`+officeTypes+`sheet.main+xml"/><Override PartName="/xl/styles.xml" ContentType="`+officeTypes+`styles+xml"/>`+types+`</Types>`)
	s.endPart()
	s.fail(s.file.Close())
	return s.err
}
