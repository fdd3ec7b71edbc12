package console

import (
	"encoding/base64"
	"errors"
	"html/template"
	"regexp"
	"slices"
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
	Counts  []lineCount
	Last    int           // number of the last line with a result; 0: there is none
	Problem string        // key of a message: why the lines after Last have none; empty: they have
	Lines   []refusedLine // the first maxRefusedShown
	Refused int64         // lines that were refused
	Kept    int64         // of these, lines in the file that the page offers

	kept []byte // the lines as they came
}

// lineCount is how many lines have a status.
type lineCount struct {
	Status string
	Lines  int64
}

// refusedLine is a line that did not do what it should.
type refusedLine struct {
	Number    int64
	Status    string
	Reference string // of the order; empty: unknown
	Field     string // that is wrong; empty: the whole line
	Problem   string // a sentence, in English as in the interface
}

func newImportResult(statuses ...string) *importResult {
	result := &importResult{}
	for _, status := range statuses {
		result.Counts = append(result.Counts, lineCount{Status: status})
	}
	return result
}

// add adds the result of a line. problem is empty unless it was refused; text is the
// line, nil if it is too long.
func (v *importResult) add(number int, status, reference, problem string, text []byte) {
	v.Last = number
	if i := slices.IndexFunc(v.Counts, func(c lineCount) bool { return c.Status == status }); i >= 0 {
		v.Counts[i].Lines++
	}
	if problem == "" {
		return
	}
	v.Refused++
	if v.Refused == v.Kept+1 && text != nil && len(v.kept)+len(text) < maxRefusedKept {
		v.kept = append(append(v.kept, text...), '\n')
		v.Kept++
	}
	if len(v.Lines) == maxRefusedShown {
		return
	}
	if reference == "" {
		reference = referenceIn(text)
	}
	field, problem := fieldOf(problem)
	v.Lines = append(v.Lines, refusedLine{Number: int64(number), Status: status, Reference: reference, Field: field, Problem: problem})
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

// The statuses of a line of a bulk change.
const (
	changeDone      = "changed"
	changeUnchanged = "unchanged"
	changeRefused   = "refused"
	changeNotFound  = "notfound"
	changeInvalid   = "invalid"
)

var changeStatuses = []string{changeDone, changeUnchanged, changeRefused, changeNotFound, changeInvalid}

// changeResult returns the status of a line of a bulk change and why it was refused;
// empty if it was not.
func changeResult(line *ingest.Line[order.BatchChange, order.BatchResult]) (status, problem string) {
	switch err := line.Result.Err; {
	case line.Item == nil:
		return changeInvalid, line.Problem
	case err == nil && line.Result.Changed:
		return changeDone, ""
	case err == nil:
		return changeUnchanged, ""
	case errors.Is(err, order.ErrInvalidTransition):
		return changeRefused, err.Error()
	case errors.Is(err, order.ErrNotFound):
		return changeNotFound, "the merchant has no such order"
	default:
		return changeInvalid, "reason: " + err.Error()
	}
}
