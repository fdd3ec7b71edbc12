package app

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"merchantorders/internal/maintenance"
)

// bar returns a progress bar. It is invisible if standard error is not a terminal
// or size is negative, which means unknown. bytes says whether size is in bytes.
func (p *process) bar(doing string, size int64, bytes bool) *progressbar.ProgressBar {
	f, ok := p.stderr.(*os.File)
	if !ok || size < 0 || !term.IsTerminal(int(f.Fd())) {
		return progressbar.NewOptions64(size, progressbar.OptionSetWriter(io.Discard), progressbar.OptionSetVisibility(false))
	}
	return progressbar.NewOptions64(size,
		progressbar.OptionSetWriter(f), progressbar.OptionSetDescription(doing),
		progressbar.OptionShowBytes(bytes), progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionShowCount(), progressbar.OptionClearOnFinish())
}

// stages shows the progress of a command with several stages, one bar for each,
// and prints findings.
type stages struct {
	p     *process
	into  io.Writer // for findings
	stage string
	bar   *progressbar.ProgressBar // nil: none yet
}

// reporter returns a reporter that reports to s.
func (s *stages) reporter() *maintenance.Reporter {
	return &maintenance.Reporter{OnFinding: s.found, OnProgress: s.progress}
}

func (s *stages) progress(stage string, done, total int64) {
	if stage != s.stage {
		s.clear()
		s.stage, s.bar = stage, s.p.bar(stage, total, false)
	}
	_ = s.bar.Set64(done)
}

// clear removes the bar from the terminal.
func (s *stages) clear() {
	if s.bar != nil {
		_ = s.bar.Clear()
	}
}

func (s *stages) found(finding maintenance.Finding) {
	s.clear()
	_, _ = fmt.Fprintln(s.into, oneLine(finding.String()))
}
