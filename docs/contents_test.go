package docs_test

import (
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"merchantorders/docs/docstest"
	"merchantorders/internal/ingest"
	"merchantorders/internal/order"
	"merchantorders/internal/store/migrations"
	"merchantorders/internal/testenv"
)

// blockOf returns the first code block of a document in a language.
func blockOf(t *testing.T, file, language string) string {
	t.Helper()
	text := testenv.Of(os.ReadFile(file)).Must(t)
	_, rest, _ := strings.Cut(string(text), "```"+language+"\n")
	block, _, found := strings.Cut(rest, "```")
	if !found {
		t.Fatalf("%s has no code block in %s", file, language)
	}
	return block
}

// TestExampleOrders parses each line of the example import file.
func TestExampleOrders(t *testing.T) {
	t.Parallel()
	for line := range strings.Lines(blockOf(t, "orders-in.md", "jsonl")) {
		if _, err := ingest.Parse([]byte(line)); err != nil {
			t.Errorf("%.60s...: %v", line, err)
		}
	}
}

// arrowForm is a line of the state diagram: a state, an arrow, and the next
// states. A thick arrow has a label and is for merchant and operator; a thin
// one is for the operator only.
var arrowForm = regexp.MustCompile(`(?m)^ *(\S+) (-->|== merchant or operator ==>) (.*)$`)

// TestStateDiagram compares the state diagram with the allowed transitions.
func TestStateDiagram(t *testing.T) {
	t.Parallel()
	var drawn, allowed []string
	for _, arrow := range arrowForm.FindAllStringSubmatch(blockOf(t, "operator.md", "mermaid"), -1) {
		for to := range strings.SplitSeq(arrow[3], " & ") {
			drawn = append(drawn, "operator: "+arrow[1]+" to "+to)
			if arrow[2] != "-->" {
				drawn = append(drawn, "merchant: "+arrow[1]+" to "+to)
			}
		}
	}
	for _, from := range order.States() {
		for _, to := range order.States() {
			for _, actor := range []order.Actor{order.ActorMerchant, order.ActorOperator} {
				if actor.CanTransition(from, to) {
					allowed = append(allowed, actor.String()+": "+from.String()+" to "+to.String())
				}
			}
		}
	}
	slices.Sort(drawn)
	slices.Sort(allowed)
	testenv.Equal(t, "transitions", allowed, drawn)
}

// TestUpgradeNotes checks that the newest version of the upgrade notes has the newest
// schema.
func TestUpgradeNotes(t *testing.T) {
	t.Parallel()
	steps := testenv.Of(migrations.SQLite.Steps()).Must(t)
	rows := docstest.Rows(t, "upgrading.md", "Versions")
	testenv.Equal(t, "the first row of the upgrade notes has schema", strconv.FormatInt(steps[len(steps)-1].Version, 10), rows[0][1])
}
