package robust

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"merchantorders/internal/app/apptest"
	"merchantorders/internal/ingest/ingesttest"
	"merchantorders/internal/testenv"
)

// markEvery is how many documents there are between two marks.
const markEvery = 10

// mark is a line that is refused. An import tells of it once all before it is
// kept, since it tells of lines in their order and after their batch: that is
// how a test learns what has come in, of an import that does not live to tell
// its counts.
const mark = `{"not":"an order"}` + "\n"

// importing is an import as a process of its own that reads from a pipe.
type importing struct {
	command    *exec.Cmd
	input      io.WriteCloser
	stdout     bytes.Buffer
	stderr     bytes.Buffer
	stderrDone chan struct{} // closed when its standard error has ended
}

// startImport starts an import into a data folder. heard is called with the
// number of each line that it refuses.
func startImport(t *testing.T, data string, heard func(line int)) *importing {
	t.Helper()
	p := &importing{command: apptest.Command(t, "--data", data, "import", "-"), stderrDone: make(chan struct{})}
	p.command.Stdout = &p.stdout
	errors, err := p.command.StderrPipe()
	if err == nil {
		p.input, err = p.command.StdinPipe()
	}
	if err == nil {
		err = p.command.Start()
	}
	testenv.NoError(t, err)
	t.Cleanup(func() { _ = p.command.Process.Kill() })
	go func() {
		defer close(p.stderrDone)
		lines := bufio.NewScanner(io.TeeReader(errors, &p.stderr))
		for lines.Scan() {
			number, _, _ := strings.Cut(strings.TrimPrefix(lines.Text(), "line "), ":")
			if line, err := strconv.Atoi(number); err == nil {
				heard(line)
			}
		}
	}()
	return p
}

// end waits for the end of the import and returns its exit code, -1 where it
// was killed.
func (p *importing) end() int {
	<-p.stderrDone
	_ = p.command.Wait() // it says no more than the exit code
	return p.command.ProcessState.ExitCode()
}

// counts are those of an import's last line.
type counts struct{ created, unchanged, conflicting, invalid int }

var countsLine = regexp.MustCompile(`^created (\d+), unchanged (\d+), conflicting (\d+), invalid (\d+)\n$`)

// parseCounts reads the standard output of an import.
func parseCounts(t *testing.T, stdout string) counts {
	t.Helper()
	found := countsLine.FindStringSubmatch(stdout)
	if found == nil {
		t.Errorf("these are no counts: %q", stdout)
		return counts{}
	}
	var n [4]int
	for i := range n {
		n[i], _ = strconv.Atoi(found[i+1])
	}
	return counts{n[0], n[1], n[2], n[3]}
}

// marked are documents with a mark after every few.
type marked struct {
	first sample
	count int
}

// text returns the lines.
func (m marked) text() []byte {
	var text []byte
	for i := range m.count {
		text = append(append(text, ingesttest.Document(int(m.first)+i)...), '\n')
		if (i+1)%markEvery == 0 {
			text = append(text, mark...)
		}
	}
	return text
}

// before returns the orders whose lines stand between two marks, the second of
// them on a line with a number.
func (m marked) before(line int) []sample {
	orders := make([]sample, markEvery)
	for i := range orders {
		orders[i] = m.first + sample(line/(markEvery+1)-1)*markEvery + sample(i)
	}
	return orders
}

// clean reports whether the marks are all that an import refused.
func (m marked) clean(c counts) error {
	if want := m.count / markEvery; c.invalid != want || c.conflicting != 0 || c.created+c.unchanged != m.count {
		return fmt.Errorf("counts %+v, want %d orders and %d invalid lines", c, m.count, want)
	}
	return nil
}
