package testenv

import (
	"archive/zip"
	"bytes"
	"encoding/xml"
	"testing"
)

// Sheet returns the values of the rows of a sheet of a workbook (XLSX), the first one if n
// is 1. A cell that is absent is empty. It ends the test if a cell is a formula.
func Sheet(t testing.TB, workbook []byte, n string) [][]string {
	t.Helper()
	file, err := zip.NewReader(bytes.NewReader(workbook), int64(len(workbook)))
	if err != nil {
		t.Fatalf("%v: %.200q", err, workbook)
	}
	for _, part := range file.File {
		var whole struct{}
		content, err := part.Open()
		NoError(t, err)
		NoError(t, xml.NewDecoder(content).Decode(&whole))
	}
	content, err := file.Open("xl/worksheets/sheet" + n + ".xml")
	NoError(t, err)
	var sheet struct {
		Rows []struct {
			Cells []struct {
				Ref     string    `xml:"r,attr"`
				Kind    string    `xml:"t,attr"`
				Value   string    `xml:"v"`
				Text    string    `xml:"is>t"`
				Formula *struct{} `xml:"f"`
			} `xml:"c"`
		} `xml:"sheetData>row"`
	}
	NoError(t, xml.NewDecoder(content).Decode(&sheet))
	var rows [][]string
	for _, row := range sheet.Rows {
		var values []string
		for _, cell := range row.Cells {
			if cell.Formula != nil || cell.Kind != "" && cell.Kind != "inlineStr" {
				t.Fatalf("%s has a formula or the type %q", cell.Ref, cell.Kind)
			}
			for len(values) < int(cell.Ref[0]-'A') {
				values = append(values, "")
			}
			values = append(values, cell.Value+cell.Text)
		}
		rows = append(rows, values)
	}
	return rows
}
