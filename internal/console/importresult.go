package console

import (
	"encoding/base64"
	"html/template"
	"regexp"
	"strings"

	"merchantorders/internal/ingest"
	"merchantorders/internal/order"
)

const (
	// maxRefusedShown is how many refused lines the page of a result shows.
	maxRefusedShown = 100
	// maxRefusedKept is how many bytes of refused lines the page offers as a file.
	maxRefusedKept = 1 << 20
)

// importResult is what became of the lines of a file. Its size does not depend on that
// of the file.
type importResult struct {
	ingest.Tally
	Problem string        // key of a message: why the lines after Last have none; empty: they have
	Lines   []refusedLine // the first maxRefusedShown
	Kept    int64         // refused lines in the file that the page offers

	kept    []byte // the lines as they came
	leftOut bool   // a refused line did not fit: those after it are left out too
}

// refusedLine is a line that did not do what it should.
type refusedLine struct {
	Number    int64
	Status    order.LineStatus
	Reference string // of the order; empty: unknown
	Field     string // that is wrong; empty: the whole line
	Problem   string // a sentence, in English as in the interface
}

// add adds the results of a batch.
func (v *importResult) add(batch []ingest.Line, _ int64) error {
	for i := range batch {
		if batch[i].Problem != "" {
			v.addRefused(&batch[i])
		}
	}
	return nil
}

func (v *importResult) addRefused(line *ingest.Line) {
	v.leftOut = v.leftOut || line.Text == nil || len(v.kept)+len(line.Text) >= maxRefusedKept
	if !v.leftOut {
		v.kept = append(append(v.kept, line.Text...), '\n')
		v.Kept++
	}
	if len(v.Lines) == maxRefusedShown {
		return
	}
	refused := refusedLine{Number: int64(line.Number), Status: line.Status, Reference: line.Reference}
	if refused.Reference == "" {
		refused.Reference = referenceIn(line.Text)
	}
	refused.Field, refused.Problem = fieldOf(line.Problem)
	v.Lines = append(v.Lines, refused)
}

// Hidden returns how many refused lines the page does not show.
func (v *importResult) Hidden() int64 { return v.Refused - int64(len(v.Lines)) }

// File returns the address of a file with the first refused lines as they came, which is
// part of the page: the service does not store them.
func (v *importResult) File() template.URL {
	return template.URL("data:application/x-ndjson;base64," + base64.StdEncoding.EncodeToString(v.kept))
}

// fieldOf splits the problem of a line, as in "total: is required", into the field and
// what is wrong with it. A problem of the whole line has no field.
func fieldOf(problem string) (field, rest string) {
	field, rest, found := strings.Cut(problem, ": ")
	if !found || strings.Contains(field, " ") {
		return "", problem
	}
	return field, rest
}

var referenceMember = regexp.MustCompile(`"reference"[ \t]*:[ \t]*"([^"\\]{1,100})"`)

// referenceIn returns the reference in a line that is not valid, so that people find it
// in their file; empty if there is none.
func referenceIn(line []byte) string {
	found := referenceMember.FindSubmatch(line)
	if found == nil || !order.ValidReference(string(found[1])) {
		return ""
	}
	return string(found[1])
}
